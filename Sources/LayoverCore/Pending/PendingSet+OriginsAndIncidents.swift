/// What is known of the ways to origins, and the incidents in which entries wait for them.
///
/// A parent proxy has a gate of its own, kept like that of an origin under `Entry.parentProxyGate`. Only a connection to the proxy
/// that could not be made shuts it. While it is shut one canary goes for all origins behind it; whatever else has its turn is put
/// aside until it opens, and goes then in the growing window of the proxy and of its own origin. Once that window is as wide as it
/// gets, the proxy bounds nothing: each origin has a window of its own.
///
/// An entry that waits because something is away is a member of that outage, tried or not. An undecided entry is a member of a
/// decision, or of the outage that used up its attempts.
extension PendingSet {
    // MARK: Origins

    /// What a failure says about its origin.
    ///
    /// - Parameter isPaused: Whether the origin has asked for a pause, which says how many go after it.
    mutating func learn(
        from failure: Failure, of entry: (policy: Policy, origin: Origin, parentProxyGate: Origin?), shutsGate: Bool,
        isPaused: Bool = false, isFromCanary: Bool, now: Timestamp, using generator: inout some RandomNumberGenerator
    ) {
        let isOfParentProxy = failure.kind == .parentProxyUnreachable
        // Nothing goes through that proxy any more.
        if isOfParentProxy, let gate = entry.parentProxyGate, !origins.isKnown(gate) { return }
        let origin = isOfParentProxy ? entry.parentProxyGate ?? entry.origin : entry.origin
        if failure.provesParentProxy { parentProxyReached(entry.parentProxyGate, isAnswered: true, now: now) }
        // A response that is not delivered: the origin is there, and not well.
        if failure.evidence == .answered { return originOpened(origin, isPaused ? .paused : .busy, now: now) }
        // The origin answered, and is well.
        if failure.kind == .outcomeUnknown { return originOpened(origin, now: now) }
        let before = origins[origin].gate
        // A canary that connected and was then let down proves no response either; the next one waits too.
        if shutsGate || isFromCanary && (before.isShut || before.isUnconfirmed) {
            let delayMax = entry.policy.isShortHold ? OriginState.nearCanaryDelayMax : origins[origin].canaryDelayMax(origin)
            origins[origin].gate.failed(
                isFromCanary: isFromCanary, delay: entry.policy.delay, delayMax: delayMax, now: now, using: &generator)
            if let canaryAt = origins.canaryAt(origin), canaryAt != before.canaryAt {
                timers.add(.canary(origin), at: canaryAt)
            }
            if !before.isShut {
                actions.append(.gate(origin, isShut: true))
                // mutant: untried-outside
                lookForStrays()
            }
        } else if !failure.phase.isBeforeSending {
            origins[origin].gate.wentWrong()
        }
        originChanged(origin)
    }

    /// One that cannot wait long may have joined.
    mutating func limitCanaryDelay(of origin: Origin, now: Timestamp) {
        guard origins.isShut(origin), let delayMax = origins[origin].canaryDelayMax(origin) else { return }
        let before = origins.canaryAt(origin)
        origins[origin].gate.canaryMayGo(by: now + delayMax)
        if let canaryAt = origins.canaryAt(origin), canaryAt != before { timers.add(.canary(origin), at: canaryAt) }
    }

    /// An origin wants to be left alone by the requests of a policy.
    ///
    /// - Parameter gate: Gate of the parent proxy that asked: the pause concerns only requests through it. Nil: the origin asked.
    mutating func pause(_ origin: Origin, for policy: Policy, through gate: Origin? = nil, _ wait: Duration, now: Timestamp) {
        guard policy.pausesOrigins, wait > .zero, wait <= policy.retryAfterMax else { return }
        let end = now + wait
        origins[origin].pause(policy, through: gate, until: end, now: now)
        timers.add(.pause(origin), at: end)
        originChanged(origin)
    }

    mutating func originOpened(_ origin: Origin, _ health: OriginGate.Health = .well, now: Timestamp) {
        let wasShut = origins.isShut(origin)
        origins[origin].gate.answered(health)
        // An origin on this machine proves nothing about the network.
        if wasShut, !origin.isLoopback { actions.append(.gate(origin, isShut: false)) }
        // After a restart the gate is open though the incident goes on.
        incidents.originOpened(origin)
        wakeWaiting(for: origin)
    }

    /// A connection to an origin stands. Whether the origin is well is not known yet, so its incident goes on.
    mutating func originConnected(_ origin: Origin) {
        let wasShut = origins.isShut(origin)
        // mutant: slow-canary
        origins[origin].gate.connected()
        toDispatch.insert(origin)
        guard wasShut, !origins.isShut(origin) else { return }
        if !origin.isLoopback { actions.append(.gate(origin, isShut: false)) }
        wakeWaiting(for: origin)
    }

    /// Lets everything that waits for a gate have its turn, as far as the gate admits.
    private mutating func wakeWaiting(for origin: Origin) {
        for place in origins[origin].popWaiting() where entries.isCurrent(place) {
            makeEligible(place.id, by: .reachability)
            // Behind a parent proxy there are others than this one.
            if let own = entries[place.id]?.origin { toDispatch.insert(own) }
        }
        originChanged(origin)
    }

    /// An attempt got a response, or its CONNECT stands.
    mutating func attemptAnswered(_ attempt: Entry.Attempt, of entry: Entry, now: Timestamp) {
        origins[entry.origin].changePause(of: entry) { $0.answered($1, now: now) }
        origins[entry.origin].answered(attempt, of: entry.policy, now: now)
        // It waits no longer, however long its response or its tunnel goes on.
        leaveIncident(entry.id, now: now)
        parentProxyReached(attempt.parentProxyGate, isAnswered: true, now: now)
        originOpened(entry.origin, now: now)
    }

    /// The body of an attempt under way turned out to be big. It leaves the window as a big one, so it has to be counted in it as one.
    mutating func attemptGrewBig(_ entry: Entry) {
        origins[entry.origin].grewBig()
        if let gate = entry.parentProxyGate { origins[gate].grewBig() }
    }

    mutating func freshAttemptsChanged(at origin: Origin, by difference: Int) {
        guard origins.isKnown(origin) else { return }
        origins[origin].freshChanged(by: difference)
        toDispatch.insert(origin)
    }

    /// An origin may be back: its canary need not wait any longer. It is the one that would go first if all could, not the one that
    /// would be due first.
    mutating func originMayBeReachable(_ origin: Origin, now: Timestamp) {
        guard origins.isShut(origin) else { return }
        origins[origin].gate.mayBeReachable(now: now)
        // Behind a parent proxy each origin has its own order.
        if origin.scheme != .parentProxy { wakeWaiting(for: origin) }
        toDispatch.insert(origin)
    }

    /// An entry need not wait until a canary may go, neither at its origin nor at its parent proxy.
    mutating func canaryMayGo(for entry: Entry, now: Timestamp) {
        origins[entry.origin].gate.mayBeReachable(now: now)
        if let gate = entry.parentProxyGate { origins[gate].gate.mayBeReachable(now: now) }
    }

    mutating func startCarefully(_ entry: Entry) {
        origins[entry.origin].gate.startCarefully()
        if let gate = entry.parentProxyGate { origins[gate].gate.startCarefully() }
    }

    // MARK: Statuses

    mutating func pauseWentWrong(for entry: Entry) { origins[entry.origin].changePause(of: entry) { $0.wentWrong($1) } }

    /// A status is retried: after a pause if the response said when to come back, else if the budget pays for the retry.
    ///
    /// - Parameter gate: Gate of the parent proxy that asked for the pause. Nil: the origin asked for it.
    /// - Returns: Why it must not be retried; nil if it may.
    mutating func statusRetried(
        of entry: inout Entry, by parking: Verdict.Parking, through gate: Origin? = nil, now: Timestamp
    ) -> Verdict.DeliverReason? {
        let wait = parking.retryAfter ?? .zero
        pause(entry.origin, for: entry.policy, through: gate, wait, now: now)
        // Held back it goes only when a person says so, and that is free.
        guard parking.rule == .status, !entry.isHeldBack else { return nil }
        // Its client would be gone when the origin wants to be asked.
        guard entry.canWait(until: now + wait) else { return .holdMax }
        toAnnounce.insert(entry.origin)
        return origins[entry.origin].payRetry(of: &entry, after: wait) ? nil : .budget
    }

    /// The retry that an entry owes is paid by the budget of its policy.
    mutating func openBudget(for entry: Entry) { if entry.owesBudget { origins[entry.origin].openBudget(of: entry.policy) } }

    // MARK: Parent proxies

    /// Puts an entry aside whose turn has come, until its parent proxy lets one go.
    mutating func putAside(_ place: EntryPlace, of entry: Entry, behind gate: Origin) {
        origins[gate].addEligible(place, of: entry, isAskedFor: entry.isAttemptAskedFor)
        origins[gate].dropStalePlaces { entries.isCurrent($0) }
    }

    /// Has entries that were put aside take their turn at their origins, as far as the parent proxy admits.
    mutating func dispatch(through gate: Origin, now: Timestamp) {
        // A gate whose last entry has left is not known, and has nobody to let go.
        guard origins.isKnown(gate) else { return }
        while origins.admitsThrough(gate, now: now), let place = origins[gate].popNext() {
            guard entries.isCurrent(place), let entry = entries[place.id] else { continue }
            makeEligibleAgain(place.id, by: entry.eligibleBy ?? (origins.isShut(gate) ? .canary : .reachability))
            dispatch(entry.origin, now: now)
        }
    }

    /// An entry joins those that go through a parent proxy.
    mutating func joinParentProxy(_ gate: Origin?, _ policy: Policy, now: Timestamp) {
        guard let gate else { return }
        origins[gate].joinedThrough(policy)
        limitCanaryDelay(of: gate, now: now)
        originChanged(gate)
    }

    /// A reload has given an entry another policy or parent proxy. Its attempt under way counts at the gate of that proxy from now on.
    mutating func changeWay(of entry: Entry, to policy: Policy, through gate: Origin?, now: Timestamp) {
        giveGrantBack(entry.id, wasMade: entry.state == .attempting)
        origins[entry.origin].left(entry.policy)
        origins[entry.origin].joined(policy)
        limitCanaryDelay(of: entry.origin, now: now)
        leaveParentProxy(entry.parentProxyGate, entry.policy)
        joinParentProxy(gate, policy, now: now)
        if entry.state == .attempting {
            if let before = entry.parentProxyGate { origins[before].stopped(entry) }
            if let gate { origins[gate].started(entry) }
        }
        entries[entry.id]?.parentProxyGate = gate
        if entry.parentProxyGate != gate { changeParentProxyOutage(entry.id, now: now) }
    }

    mutating func leaveParentProxy(_ gate: Origin?, _ policy: Policy) {
        guard let gate else { return }
        origins[gate].leftThrough(policy)
        originChanged(gate)
    }

    /// Evidence that the parent proxy of an attempt was reached: the connection to it stood.
    ///
    /// - Parameter isAnswered: Whether the proxy, or the origin behind it, said anything.
    mutating func parentProxyReached(_ gate: Origin?, isAnswered: Bool, now: Timestamp) {
        guard let gate, origins.isKnown(gate) else { return }
        if isAnswered { originOpened(gate, now: now) } else { originConnected(gate) }
    }

    // MARK: Incidents

    /// Changes of an incident are gathered this long before they are reported, so that an outage of ten thousand
    /// requests is not ten thousand times ten thousand reports. Default: 250 ms.
    private static let incidentGathering: Duration = .milliseconds(250)

    /// Whether an entry waits because something is away.
    private func waitsForWhatIsAway(_ entry: Entry) -> Bool {
        guard entry.state == .waiting else { return false }
        // mutant: offline-outside
        return mode == .offline || origins.shutGate(before: entry) != nil || strays.isAfterRestart && hasOutage(entry.origin)
    }

    private func hasOutage(_ origin: Origin) -> Bool {
        incidents.idByTopic[.init(kind: .outage, scope: .origin(origin))] != nil
    }

    /// The entry has another state. An undecided entry leaves its outage and joins a decision, unless the outage used up its attempts.
    /// An entry that is no longer undecided leaves its decision.
    mutating func changeIncident(of id: EntryID, to state: Entry.State, from before: Entry, now: Timestamp) {
        var asks = false
        if case .undecided(let why) = state { asks = why != .exhausted }
        if asks || before.why.map({ $0 != .exhausted }) == true { leaveIncident(id, now: now) }
        if asks { joinIncident(.decision, id, now: now) }
    }

    /// - Parameter since: When its outage began, where that is known to have been before now.
    mutating func joinIncident(_ kind: Incident.Kind, _ id: EntryID, since: Timestamp? = nil, now: Timestamp) {
        guard let entry = entries[id], entry.incident == nil else { return }
        joinIncident(kind, entry, since: since, now: now)
    }

    private mutating func joinIncident(_ kind: Incident.Kind, _ entry: Entry, since: Timestamp? = nil, now: Timestamp) {
        let incident = incident(for: entry, kind, cause: entry.lastFailure, since: since, now: now)
        entries[entry.id]?.incident = incident
        if entry.state == .waiting { noteWait(of: entry, in: incident, isBlocked: entry.isBlocked) }
    }

    /// A ticket of an earlier run that is about to join the set joins its outage of then, or that of what it waits for now.
    ///
    /// - Parameter since: When its outage of then began; nil if it waited in none.
    mutating func joinOutage(_ entry: inout Entry, since: Timestamp?, now: Timestamp) {
        guard since != nil || waitsForWhatIsAway(entry) else { return }
        // What it failed by before is the cause of its own outage only.
        entry.incident = incident(for: entry, .outage, cause: since == nil ? nil : entry.lastFailure, since: since, now: now)
    }

    private mutating func incident(
        for entry: Entry, _ kind: Incident.Kind, cause: Failure?, since: Timestamp?, now: Timestamp
    ) -> IncidentID {
        let topic = Incidents.Topic(kind: kind, scope: scope(of: entry, kind))
        let incident = incidents.join(entry.id, cause, topic, since: since, now: now)
        if incidents.hasManyThatLeft(incident, memberCount: entries.memberCount(of: incident)) {
            incidents.dropThoseThatLeft(incident, isMember: entries.isMember)
        }
        touch(incident, now: now)
        return incident
    }

    /// Entries that wait for what is away join its incident, a portion at the end of each fact.
    mutating func joinStrays(now: Timestamp) {
        guard !strays.isEmpty else { return }
        for id in strays.takePortion() {
            guard let entry = entries[id], entry.incident == nil, waitsForWhatIsAway(entry) else { continue }
            joinIncident(.outage, entry, now: now)
        }
        if strays.isEmpty {
            strays.isAfterRestart = false
        } else {
            timers.add(.strays, at: now)
        }
    }

    private func scope(of entry: Entry, _ kind: Incident.Kind) -> Incident.Scope {
        if kind == .outage, mode == .offline || isNetworkAway { return .network }
        let isOfParentProxy = entry.lastFailure.map { $0.kind == .parentProxyUnreachable } ?? true
        guard kind == .outage, isOfParentProxy, let gate = entry.parentProxyGate, origins.isShut(gate) || entry.lastFailure != nil
        else { return .origin(entry.origin) }
        return .parentProxy(gate)
    }

    /// It waits for its parent proxy no more.
    mutating func leaveParentProxyOutage(_ id: EntryID, now: Timestamp) {
        guard let incident = entries[id]?.incident, case .parentProxy? = incidents[incident]?.scope else { return }
        leaveIncident(id, now: now)
    }

    /// It goes by another parent proxy, or by none: it waits in the outage of that one, if it has one. What is out of attempts stays in
    /// the outage that left it without them.
    mutating func changeParentProxyOutage(_ id: EntryID, now: Timestamp) {
        guard let entry = entries[id], entry.state != .undecided else { return }
        leaveParentProxyOutage(id, now: now)
        guard entry.lastFailure?.kind == .parentProxyUnreachable, let gate = entry.parentProxyGate, origins.isShut(gate)
        else { return }
        joinIncident(.outage, id, now: now)
    }

    /// An attempt has failed.
    mutating func changeIncident(of id: EntryID, after parking: Verdict.Parking, now: Timestamp) {
        // Nothing is away where the work may have been done: that is a question, not an outage.
        if parking.asks == .maybeApplied { return leaveIncident(id, now: now) }
        // The attempt came past the parent proxy: what is away is its origin.
        if let failure = entries[id]?.lastFailure, failure.shutsGate, failure.kind != .parentProxyUnreachable {
            leaveParentProxyOutage(id, now: now)
        }
        joinIncident(.outage, id, now: now)
        touchIncident(of: id, now: now)
    }

    mutating func leaveIncident(_ id: EntryID, now: Timestamp) {
        let incident = entries[id]?.incident
        entries[id]?.incident = nil
        leave(incident, now: now)
    }

    /// An entry is in the incident no more. The entry may have left the set, too.
    mutating func leave(_ incident: IncidentID?, now: Timestamp) {
        guard let incident else { return }
        if entries.memberCount(of: incident) == 0, let closed = incidents.close(incident) {
            actions.append(.incident(.closed, view(of: closed, now: now)))
        }
        touch(incident, now: now)
    }

    /// Has the changes of the incident reported soon.
    mutating func touchIncident(of id: EntryID, now: Timestamp) { touch(entries[id]?.incident, now: now) }

    private mutating func touch(_ incident: IncidentID?, now: Timestamp) {
        guard let incident, incidents.touch(incident) else { return }
        timers.add(.incident(incident), at: now + Self.incidentGathering)
    }

    /// The first failure of a member is the cause of its incident.
    mutating func noteCause(_ failure: Failure, of entry: Entry) { incidents.noteCause(failure, of: entry.incident) }

    /// A ticket of an earlier run asks because its outage has used up its attempts.
    mutating func exhaustIncident(of id: EntryID) { _ = incidents.exhaust(entries[id]?.incident) }

    /// The entry has used up its attempts and asks. The others of its rule that wait for the same origin ask with it.
    mutating func incidentExhausted(of id: EntryID, now: Timestamp) {
        guard let incident = entries[id]?.incident, incidents.exhaust(incident) else { return }
        for member in members(of: incident) { askIfExhausted(member, now: now) }
    }

    /// Makes a waiting member undecided if its incident is out of attempts.
    mutating func askIfExhausted(_ id: EntryID, now: Timestamp) {
        guard let entry = entries[id], entry.state == .waiting, entry.waitEnd == .origin, entry.policy.onExhausted == .ask,
            !entry.isAttemptAskedFor, incidents.isExhausted(entry.incident)
        else { return }
        transition(id, to: .undecided(.exhausted), now: now)
    }

    /// A gate was shut, or a person went offline: what waits for it joins its incident.
    mutating func lookForStrays() { strays.lookAtAll(entries.inOrder()) }

    /// Tickets of an earlier run are there. Those that were never tried wait in the outage in which others have failed.
    mutating func restarted() {
        guard !incidents.states.isEmpty else { return }
        // mutant: untried-after-restart
        strays.isAfterRestart = true
        lookForStrays()
    }

    /// A waiting entry has another place, or is in another incident.
    ///
    /// - Parameter isBlocked: Whether it cannot go before others now.
    mutating func noteWait(of entry: Entry, in incident: IncidentID?, isBlocked: Bool) {
        guard let incident else {
            if waitsForWhatIsAway(entry) { strays.add(entry.id) }
            return
        }
        guard !isBlocked else { return }
        let memberCount = entries.memberCount(of: incident)
        incidents.waits(entry.id, until: entry.dueAt, in: incident, memberCount: memberCount, isCurrent: entries.isDue(in: incident))
    }
}
