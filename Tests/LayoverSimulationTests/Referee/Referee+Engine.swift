@testable import LayoverCore
@testable import LayoverEngine

/// After each fact that the engine takes.
extension Referee {
    /// - Parameter isReloaded: True if entries may have found another parent proxy.
    func checkEngine(isReloaded: Bool = false) {
        guard simulation.breaches.isEmpty else { return }
        let pending = simulation.engine.assumeIsolated { $0.pending }
        pending.entries.forEach { entry in
            if entry.state == .attempting, !entry.isNeverSent, seen[entry.id] == nil { unbidden.insert(entry.id) }
        }
        if isReloaded {
            reloadedAt = simulation.time.now()
            pending.entries.forEach { newWaysAreTried($0) }
        }
        countsMatchTheEntries(pending)
        unattendedEntriesAreLimited(pending)
        everyEntryEndsOnce(pending)
        let started = startedEntries(pending)
        for entry in started {
            noEntryStartsByAnOldTable(entry, pending)
            windowsAreKept(entry, pending)
            if !isReloaded { parentProxyWindowsAreKept(entry, pending) }
            restingEntriesDoNotChange(entry)
            noExposedEntryIsSentToAPortal(entry, pending)
            nothingStartsWhileStopped(entry, pending)
            statusRetriesWaitUntilTheyAreDue(entry)
            lanesKeepOrder(entry, pending)
            noTicketStartsWhileStartRecordsFail(entry)
        }
        if !isReloaded { windowsStartAtOne(pending) }
        shortHoldsHaveFrequentCanaries(pending)
        incidentsMatchTheirEntries(pending)
        checkPauses(started, pending, isReloaded: isReloaded)
        exchangesMatchTheirEntries(pending)
        look(pending, started: started, isReloaded: isReloaded)
    }

    /// The entries of which the last fact started an attempt.
    private func startedEntries(_ pending: PendingSet) -> [Entry] {
        pending.entries.those { entry in
            entry.state == .attempting
                && seen[entry.id].map { $0.state != .attempting || $0.placement != entry.placement } ?? true
        }
    }

    private func look(_ pending: PendingSet, started: [Entry], isReloaded: Bool) {
        for entry in started {
            simulation.count("replays")
            restored.remove(entry.id)
            if !isReloaded { leftParentProxy.remove(entry.id) }
            simulation.truth(of: entry)?.retryTold = nil
            if asked.remove(entry.id) != nil {
                goingAsAsked.insert(entry.id)
            } else if seen[entry.id]?.state != .attempting {
                goingAsAsked.remove(entry.id)
            }
            forced.remove(entry.id)
        }
        // Cut off and not made anew yet, because it is not its turn.
        for id in goingAsAsked where pending.entries[id]?.eligibleBy == .admin { asked.insert(id) }
        // An acknowledgement is used up by its attempt: the next attempt needs another one.
        pending.entries.forEach { entry in
            if entry.why == .maybeApplied { simulation.truth(of: entry)?.takeForcesBack() }
        }
        for id in seen.keys where pending.entries[id] == nil {
            gone.insert(id)
            if let entry = pending.history[id] {
                allAttemptsAreMade(entry)
                putSupersedesOnlyOnceItsBodyIsComplete(entry, pending)
            }
        }
        pending.entries.forEach { if $0.why == .exhausted { allAttemptsAreMade($0) } }
        var looked: [EntryID: Seen] = [:]
        looked.reserveCapacity(pending.count)
        pending.entries.forEach {
            looked[$0.id] = Seen(
                state: $0.state, why: $0.why, placement: $0.placement, dueAt: $0.dueAt, waitsForStatus: $0.waitEnd == .status,
                attemptCount: $0.attemptCount, triedParentProxyGate: triedParentProxyGate(of: $0))
            guard seen[$0.id] == nil, let truth = simulation.truth(of: $0), truth.firstParkedAt == nil else { return }
            truth.firstParkedAt = $0.parkedAt
        }
        seen = looked
        gates = pending.origins.states.mapValues { SeenGate(isShut: $0.gate.isShut, window: $0.gate.window) }
        shutAt = shutAt.filter { gates[$0.key]?.isShut == true }
        for (origin, gate) in gates where gate.isShut && shutAt[origin] == nil { shutAt[origin] = simulation.time.now() }
    }

    private func triedParentProxyGate(of entry: Entry) -> Origin? {
        guard let before = seen[entry.id], before.attemptCount == entry.attemptCount, entry.state != .attempting
        else { return entry.parentProxyGate }
        return before.triedParentProxyGate
    }

    /// An entry that waited for a parent proxy does not wait longer once a reload has named another way.
    private func newWaysAreTried(_ entry: Entry) {
        guard entry.state == .attempting || entry.lastFailure?.kind == .parentProxyUnreachable else { return }
        leftParentProxy.insert(entry.id)
        guard let before = seen[entry.id], before.state == .waiting, entry.state == .waiting,
            before.triedParentProxyGate != entry.parentProxyGate
        else { return }
        simulation.count("ways without their parent proxy")
        if entry.eligibleBy == nil, entry.isWokenByOrigin, !entry.isBlocked { breach("newWaysAreTried", name(entry)) }
    }

    /// Who is given up for having been tried so often was: what never came past our own store was no attempt.
    private func allAttemptsAreMade(_ entry: Entry) {
        guard let truth = simulation.truth(of: entry), !truth.hasSeenDeath, !truth.hasTwins, let limit = truth.automaticMin else { return }
        let isExhausted =
            switch entry.attempts.records.last?.verdict {
            case .fail(.exhausted), .deliver(.exhausted), .standIn: true
            case .park(let parking): parking.asks == .exhausted
            case .fail, .deliver, .againOnNewConnection, nil: false
            }
        if isExhausted, truth.madeCount < limit {
            breach("allAttemptsAreMade", "\(name(entry)) had \(truth.madeCount) of \(limit)")
        }
    }

    private func putSupersedesOnlyOnceItsBodyIsComplete(_ entry: Entry, _ pending: PendingSet) {
        if entry.adoptionObstacle != nil { simulation.count("not adopted") }
        guard let newer = entry.supersededBy.flatMap({ pending.entry($0, now: simulation.time.now()) }) else { return }
        simulation.count("superseded")
        if simulation.truth(of: newer)?.isWhole != true {
            breach("putSupersedesOnlyOnceItsBodyIsComplete", "\(name(newer)) takes that of \(name(entry))")
        }
    }

    private func countsMatchTheEntries(_ pending: PendingSet) {
        var (live, underWay): ([Origin: Int], [Origin: Int]) = ([:], [:])
        // Unattended entries take no place in the window of their origin.
        pending.entries.forEach { entry in
            if entry.isUnattended { return }
            for gate in [entry.origin, entry.parentProxyGate].compactMap({ $0 }) {
                live[gate, default: 0] += 1
                if entry.state == .attempting { underWay[gate, default: 0] += 1 }
            }
            if entry.state.isFinal { breach("countsMatchTheEntries", "\(name(entry)) is in the set") }
        }
        for (origin, line) in pending.origins.states {
            if !pending.isDraining, origin.scheme == .parentProxy, line.entryCount == 0, line.underWay == 0, !line.gate.isShut {
                breach("countsMatchTheEntries", "\(origin) has a line, and nobody goes through it")
            }
            if line.entryCount != live[origin, default: 0] || line.underWay != underWay[origin, default: 0] {
                breach(
                    "countsMatchTheEntries",
                    "\(origin): \(line.entryCount) entries, \(line.underWay) under way, really \(live[origin, default: 0]) and \(underWay[origin, default: 0])"
                )
            }
        }
        if live.contains(where: { pending.origins.states[$0.key] == nil }) {
            breach("countsMatchTheEntries", "an origin has no line")
        }
        if pending.heldCount != pending.entries.count(where: \.isHeldByClient) {
            breach("countsMatchTheEntries", "\(pending.heldCount) held")
        }
        var (admittedCount, heldCount) = (0, 0)
        pending.entries.forEach { entry in
            guard !entry.isUnattended, !unbidden.contains(entry.id) else { return }
            admittedCount += 1
            if entry.isHeldByClient { heldCount += 1 }
        }
        if admittedCount > pending.limits.entryCountMax || heldCount > pending.limits.heldClientCountMax {
            breach("limitsAreKept", "\(pending.count) entries")
        }
        // Tickets that are not on disk yet count, too.
        if pending.waitingCount + pending.admission.acceptingCount >= pending.limits.entryCountMax
            || pending.heldCount >= pending.limits.heldClientCountMax
        {
            fullAt = simulation.time.now()
        }
    }

    private func everyEntryEndsOnce(_ pending: PendingSet) {
        pending.entries.forEach { if gone.contains($0.id) { breach("everyEntryEndsOnce", "\(name($0)) is back") } }
    }

    /// The engine decides the routes of entries: what it starts has found its route in the newest table.
    private func noEntryStartsByAnOldTable(_ entry: Entry, _ pending: PendingSet) {
        guard let number = pending.rerouting?.number, !entry.isUnattended, entry.reloadNumber != number else { return }
        breach("noEntryStartsByAnOldTable", name(entry))
    }

    private func windowsAreKept(_ entry: Entry, _ pending: PendingSet) {
        guard let line = pending.origins.states[entry.origin] else { return }
        // An entry that joins during its attempt is no canary, and the gate did not start it.
        if line.gate.isShut, line.underWay > 1, entry.attempt?.isCanary == true {
            breach("oneCanaryAtATime", "\(name(entry)) is one of \(line.underWay)")
        }
        // A request that has just come in is never kept by the window.
        if !line.gate.isShut, seen[entry.id] != nil, line.underWay > line.gate.window {
            breach("windowsAreKept", "\(line.underWay) to \(entry.origin), the window is \(line.gate.window)")
        }
    }

    /// A parent proxy lets one request at a time find out for all origins behind it.
    private func parentProxyWindowsAreKept(_ entry: Entry, _ pending: PendingSet) {
        guard let gate = entry.parentProxyGate, let line = pending.origins.states[gate], seen[entry.id] != nil else { return }
        if line.gate.isShut, line.underWay > 1, entry.attempt?.isCanary == true {
            breach("oneCanaryAtATime", "\(name(entry)) is one of \(line.underWay) through \(gate)")
        }
        if !line.gate.isShut, !line.gate.isFullyOpen, line.underWay > line.gate.window {
            breach("windowsAreKept", "\(line.underWay) through \(gate), the window is \(line.gate.window)")
        }
    }

    private func windowsStartAtOne(_ pending: PendingSet) {
        for (origin, line) in pending.origins.states {
            guard let before = gates[origin] else { continue }
            if before.isShut, !line.gate.isShut, line.gate.window > (line.gate.isUnconfirmed ? 2 : 1) {
                breach("windowsStartAtOne", "\(origin) opens with \(line.gate.window)")
            }
            if line.gate.window > before.window + 1 {
                breach("windowsGrowByOne", "\(origin): \(line.gate.window)")
            }
        }
    }

    private func shortHoldsHaveFrequentCanaries(_ pending: PendingSet) {
        var counts: [Origin: Int] = [:]
        // An entry without a client needs no canary soon: no client waits for it.
        pending.entries.forEach { entry in
            guard entry.policy.isShortHold, !entry.isUnattended else { return }
            for gate in [entry.origin, entry.parentProxyGate].compactMap({ $0 }) { counts[gate, default: 0] += 1 }
        }
        for (origin, line) in pending.origins.states {
            let count = counts[origin] ?? 0
            if line.shortHoldCount != count {
                breach("shortHoldsHaveFrequentCanaries", "\(origin) counts \(line.shortHoldCount) of \(count)")
            }
            guard count > 0, line.gate.isShut, let canaryAt = line.gate.canaryAt else { continue }
            let wait = canaryAt - simulation.time.now()
            if wait > .seconds(1) { breach("shortHoldsHaveFrequentCanaries", "\(origin) waits \(wait) for its canary") }
        }
    }

    private func restingEntriesDoNotChange(_ entry: Entry) {
        guard let before = seen[entry.id] else { return }
        if heldBack.contains(entry.id), !isAsked(entry) { breach("heldEntriesStay", name(entry)) }
        switch before.state {
        case .undecided where before.why == .maybeApplied && !forced.contains(entry.id):
            breach("onlyForceSendsAnEntryThatMayHaveBeenApplied", name(entry))
        case .undecided where !asked.contains(entry.id):
            breach("undecidedEntriesStay", name(entry))
        default: break
        }
    }

    private func noExposedEntryIsSentToAPortal(_ entry: Entry, _ pending: PendingSet) {
        // A first attempt has to find out.
        guard pending.isBehindPortal, entry.isExposed, seen[entry.id] != nil else { return }
        if !isAsked(entry) { breach("noExposedEntryIsSentToAPortal", name(entry)) }
    }

    /// True if a person requested the attempt, or the attempt that it repeats.
    func isAsked(_ entry: Entry) -> Bool {
        asked.contains(entry.id) || seen[entry.id]?.state == .attempting && goingAsAsked.contains(entry.id)
    }

    private func nothingStartsWhileStopped(_ entry: Entry, _ pending: PendingSet) {
        // The entry was under way when it joined.
        if seen[entry.id] == nil, !entry.isNeverSent { return }
        if pending.mode == .offline { breach("nothingStartsWhileOffline", name(entry)) }
        if pending.isDraining { breach("nothingStartsWhileDraining", name(entry)) }
    }

    private func statusRetriesWaitUntilTheyAreDue(_ entry: Entry) {
        guard let before = seen[entry.id], before.state == .waiting, before.waitsForStatus else { return }
        if before.dueAt > simulation.time.now(), !asked.contains(entry.id) {
            breach(
                "statusRetriesWaitUntilTheyAreDue", "\(name(entry)) goes \(before.dueAt - simulation.time.now()) early")
        }
    }

    private func incidentsMatchTheirEntries(_ pending: PendingSet) {
        var members: [IncidentID: Set<EntryID>] = [:]
        pending.entries.forEach { entry in
            if let incident = entry.incident {
                members[incident, default: []].insert(entry.id)
                let asks = entry.state == .undecided && entry.why != .exhausted
                if (pending.incidents[incident]?.kind == .decision) != asks {
                    breach("incidentsMatchTheirEntries", "\(name(entry)) waits in an incident of the wrong kind")
                }
            } else if entry.state == .waiting || entry.state == .held, entry.eligibleBy != .admin, !hasAnotherWay(entry),
                entry.lastFailure?.evidence == .neverSent, entry.lastFailure?.kind != .proxyInternalError, !wasAborted(entry),
                !restored.contains(entry.id) || entry.lastFailure?.shutsGate == true, !forced.contains(entry.id),
                !leftParentProxy.contains(entry.id)
            {
                // A forced entry joins an incident when its attempt has failed.
                let before = seen[entry.id]?.triedParentProxyGate
                let way = "gate \(String(describing: entry.parentProxyGate)), was \(String(describing: before))"
                let turn = "\(entry.fullState), due in \(entry.dueAt - simulation.time.now()), \(entry.lastFailure?.message ?? "")"
                breach("incidentsMatchTheirEntries", "\(name(entry)) waits in no incident: \(way), \(turn)")
            } else if entry.state == .undecided {
                breach("incidentsMatchTheirEntries", "\(name(entry)) asks a person, in no incident")
            }
            whatWaitsForAnOriginIsInItsIncident(entry, pending)
        }
        for line in pending.incidents.states.values {
            let listed = pending.members(of: line.id)
            if pending.entries.memberCount(of: line.id) != listed.count || Set(listed) != members[line.id]
                || pending.incidents.idByTopic[line.topic] != line.id
            {
                breach("incidentsMatchTheirEntries", "\(line.scope) has \(pending.entries.memberCount(of: line.id))")
            }
            viewsMatchTheirMembers(line, listed, pending)
        }
        if members.count != pending.incidents.states.count || members.count != pending.incidents.idByTopic.count {
            breach(
                "incidentsMatchTheirEntries",
                "\(pending.incidents.states.count) incidents, really \(members.count)")
        }
    }

    /// True for tried and untried entries; they are in the incident of no other origin.
    private func whatWaitsForAnOriginIsInItsIncident(_ entry: Entry, _ pending: PendingSet) {
        if case .origin(let origin)? = entry.incident.flatMap({ pending.incidents[$0]?.scope }), origin != entry.origin {
            breach("whatWaitsForAnOriginIsInItsIncident", "\(name(entry)) is in that of \(origin)")
        }
        guard entry.incident == nil, entry.state == .waiting else { return }
        let isAway = [entry.parentProxyGate, entry.origin].compactMap(\.self).contains { pending.origins.isShut($0) }
        if pending.mode == .offline || isAway { breach("whatWaitsForAnOriginIsInItsIncident", name(entry)) }
    }

    /// The counts that an incident shows must agree with its members.
    private func viewsMatchTheirMembers(_ line: Incidents.IncidentState, _ listed: [EntryID], _ pending: PendingSet) {
        let now = simulation.time.now()
        let view = pending.view(of: line, now: now)
        let members = listed.compactMap { pending.entries[$0] }
        let automatic = members.filter { $0.state == .waiting || $0.state == .attempting }
        let maxes = members.map(\.policy.automaticAttemptsMax)
        let lefts = automatic.map { (left: $0.automaticLeft, asks: $0.policy.onExhausted == .ask) }
        let asking = lefts.filter(\.asks).compactMap(\.left).min() ?? 0
        let left = lefts.contains { $0.left == nil } ? nil : max(lefts.filter { !$0.asks }.compactMap(\.left).max() ?? 0, asking)
        let isRight =
            view.waiting == members.count && view.manualOnly == automatic.isEmpty && view.automaticLeft == left
            && view.automaticMax == (maxes.contains(nil) ? nil : maxes.compactMap(\.self).max() ?? 0)
            && view.canRetry == (line.kind == .outage || members.contains { $0.actions.contains(.retry) })
        if !isRight { breach("viewsMatchTheirMembers", "\(line.scope): \(view)") }
    }

    /// Whether it goes on by another parent proxy than the one that it could not reach; it may have to wait for its lane or its parents.
    /// So has one whose attempt through a parent proxy Layover itself cut off, once a reload has named another way. Such an attempt says
    /// nothing about the new way, so the entry is in no incident, held by a person or not, until that way is known to be shut
    /// (`whatWaitsForAnOriginIsInItsIncident`).
    private func hasAnotherWay(_ entry: Entry) -> Bool {
        let wasTriedByAnother = seen[entry.id]?.triedParentProxyGate.map { $0 != entry.parentProxyGate } == true
        return switch entry.lastFailure?.kind {
        case .parentProxyUnreachable:
            // Of a request whose reload came before it joined nothing was seen but what the world saw.
            entry.eligibleBy == .reachability
                || entry.isBlocked && simulation.truth(of: entry)?.triedParentProxyGates.last.map { $0 != entry.parentProxyGate } == true
        case .proxyInternalResponse: wasTriedByAnother
        default: entry.eligibleBy == .reachability && wasTriedByAnother
        }
    }

    /// True if a person ended the last attempt, or the one that was about to begin: that is no outage.
    private func wasAborted(_ entry: Entry) -> Bool { entry.lastFailure?.message == "A person aborted the attempt." }

    private func exchangesMatchTheirEntries(_ pending: PendingSet) {
        let exchanges = simulation.engine.assumeIsolated { $0.exchanges }
        let lostCount = pending.entries.count { $0.ticket == nil && exchanges[$0.id] == nil }
        if lostCount > 0 || exchanges.contains(where: { !pending.isLive($0.key) }) {
            breach("exchangesMatchTheirEntries", "\(exchanges.count) exchanges, \(pending.count) entries")
        }
    }
}

/// The referee looks at all entries many times after each fact, so they are looked at where they lie: to copy one takes longer.
extension EntryTable {
    func count(where isSuch: (Entry) -> Bool) -> Int {
        var count = 0
        forEach { if isSuch($0) { count += 1 } }
        return count
    }

    func those(_ isSuch: (Entry) -> Bool) -> [Entry] {
        var those: [Entry] = []
        forEach { if isSuch($0) { those.append($0) } }
        return those
    }
}
