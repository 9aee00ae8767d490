extension PendingSet {
    /// A response head came back for an entry's attempt, or its CONNECT stands.
    package mutating func attemptAnswered(
        _ id: EntryID, attemptCount: Int, records: [AttemptRecord] = [], now: Timestamp
    ) -> [PendingAction] {
        gather(now: now) { set in
            guard let entry = set.entries[id], entry.state == .attempting else { return }
            set.entries[id]?.attemptCount = attemptCount
            set.entries[id]?.attempts.append(contentsOf: records)
            set.entries[id]?.isNeverSent = false
            // It waits no longer, however long its answer or its tunnel goes on.
            set.leaveIncident(of: id, now: now)
            set.originOpened(entry.origin, now: now)
        }
    }

    /// The body of an entry's request has arrived whole.
    package mutating func bodyCompleted(
        of id: EntryID, byteCount: Int, isReplayable: Bool, now: Timestamp
    ) -> [PendingAction] {
        gather(now: now) { set in
            guard let entry = set.entries[id],
                entry.requestByteCount != byteCount || entry.isBodyReplayable != isReplayable
            else { return }
            set.change(id) { entry in
                entry.requestByteCount = byteCount
                entry.isBodyReplayable = isReplayable
            }
            set.takePlaces(id, now: now)
            // It will leave the window as a big one, so it has to be in it as one.
            guard entry.state == .attempting, set.entries[id]?.isBig != entry.isBig else { return }
            set.line(of: entry.origin) { $0.grewBig() }
        }
    }

    /// The exchange of an entry came to its end on its loop.
    package mutating func ended(
        _ id: EntryID, as state: EntryState, failure: Failure? = nil, attemptCount: Int,
        records: [AttemptRecord] = [], now: Timestamp, using generator: inout some RandomNumberGenerator
    ) -> [PendingAction] {
        gather(now: now) { set in
            guard let entry = set.entries[id] else { return }
            set.entries[id]?.attemptCount = attemptCount
            set.entries[id]?.attempts.append(contentsOf: records)
            if let failure {
                set.entries[id]?.lastFailure = failure
                set.entries[id]?.lastFailureAt = now
                if state == .delivered { set.entries[id]?.attempts.lastBrokeOff(failure, at: now) }
            }
            set.finish(id, as: state, now: now)
            // Where no attempt was under way the failure is an old one, and known. One that says nothing
            // about the way (a certificate, say) leaves the next canary as soon as it was.
            if let failure, entry.state == .attempting,
                failure.shutsGate || failure.evidence == .maybeApplied
            {
                set.learn(
                    from: failure, shutsGate: failure.shutsGate, policy: entry.policy, origin: entry.origin,
                    isFromCanary: entry.isCanary, now: now, using: &generator)
            }
            set.announce(entry.origin)
            set.dispatch(entry.origin, now: now)
        }
    }

    /// What the attempt of an entry proved that has ended meanwhile. It changes nothing but what is known: the state
    /// stays, and nobody else moves.
    ///
    /// - Parameters:
    ///   - failure: Nil where the attempt was answered.
    ///   - counts: The attempts of the exchange, with the one that was cut off: when the entry ended, nobody had
    ///     counted it.
    package mutating func recorded(
        _ failure: Failure?, counts: AttemptCounts, records: [AttemptRecord] = [], of id: EntryID, now: Timestamp
    ) {
        history.change(id) { entry in
            entry.revision += 1
            entry.attemptCount = max(entry.attemptCount, counts.all)
            if let known = entry.ticket?.counts, counts.all >= known.all {
                entry.ticket?.counts = counts
                if failure?.evidence == .maybeApplied { entry.ticket?.counts.mayHaveBeenApplied = true }
            }
            entry.attempts.append(contentsOf: records)
            guard let failure else { return }
            entry.lastFailure = failure
            entry.lastFailureAt = now
        }
    }

    /// A request that is not in the set got a response from an origin that has entries or a shut gate.
    package mutating func originAnswered(_ origin: Origin, now: Timestamp) -> [PendingAction] {
        gather(now: now) { set in
            guard set.lines[origin] != nil else { return }
            set.originOpened(origin, now: now)
        }
    }

    /// - Parameter isWell: False for an answer that is asked for again: the window must not grow by it, nor
    ///   anybody start in between.
    mutating func originOpened(_ origin: Origin, isWell: Bool = true, now: Timestamp) {
        let wasShut = lines[origin]?.gate.isShut ?? false
        line(of: origin) { line in
            line.gate.answered()
            if !isWell { line.gate.wentWrong() }
        }
        if wasShut {
            // An origin on this machine proves nothing about the network.
            if !origin.isLoopback { actions.append(.gate(origin, isShut: false)) }
        }
        // After a restart the gate is open though the incident goes on.
        for incident in [incidentByScope[.origin(origin)], incidentByScope[.network]] {
            if let incident { incidentLines[incident]?.isExhausted = false }
        }
        release(origin, by: .reachability)
        announce(origin)
        dispatch(origin, now: now)
    }

    /// Fresh attempts to a watched origin began or ended: they count in its window, and never wait for it.
    package mutating func freshUnderWay(
        _ origin: Origin, changedBy difference: Int, now: Timestamp
    ) -> [PendingAction] {
        gather(now: now) { set in
            guard set.lines[origin] != nil else { return }
            set.line(of: origin) { line in
                line.freshUnderWay = max(0, line.freshUnderWay + difference)
                if difference > 0 { line.requestStarted() }
            }
            set.dispatch(origin, now: now)
        }
    }

    /// Something says that ways may be open which were not: the network changed, or an admin said so.
    ///
    /// Every shut gate may send a canary now; what else waits and may be woken goes as its gate admits.
    package mutating func reachable(now: Timestamp) -> [PendingAction] {
        gather(now: now) { set in
            // Who is stopped lets what is under way finish, and starts nothing in its place.
            guard !set.isDraining else { return }
            for id in set.idsInOrder { set.wake(id) }
            for origin in set.lines.keys.sorted(by: Origin.isBefore) {
                set.line(of: origin) { $0.gate.mayBeReachable(now: now) }
                set.dispatch(origin, now: now)
            }
        }
    }

    private mutating func wake(_ id: EntryID) {
        guard let entry = entries[id], entry.policy.wakeOnReachable else { return }
        switch entry.state {
        case .attempting:
            // It may be hanging on a network that is gone. If it connects after all, nothing is lost.
            entries[id]?.isAbandoned = true
            actions.append(.abandonConnecting(id))
        case .waiting:
            if entry.isWokenByReachability, !entry.isBlocked { makeEligible(id, by: .reachability) }
        case .held, .undecided, .delivered, .cancelled, .expired, .failed:
            break
        }
    }

    /// Somebody else began or ceased to answer for every origin: a captive portal. What carries a body or
    /// credentials over plain http is kept from it.
    package mutating func portalChanged(isBehindPortal: Bool, now: Timestamp) -> [PendingAction] {
        guard isBehindPortal != self.isBehindPortal else { return [] }
        self.isBehindPortal = isBehindPortal
        guard !isBehindPortal else { return [] }
        return gather(now: now) { set in
            let kept = set.keptFromPortal
            set.keptFromPortal = []
            var touched: Set<Origin> = []
            for place in kept.sorted(by: { set.isBefore($0.id, $1.id) }) where set.isCurrent(place) {
                // It was eligible or waited for the gate; either way its turn had come.
                set.entries[place.id]?.eligibleBy = nil
                set.makeEligible(place.id, by: .reachability)
                if let origin = set.entries[place.id]?.origin { touched.insert(origin) }
            }
            for origin in touched.sorted(by: Origin.isBefore) { set.dispatch(origin, now: now) }
        }
    }

    /// The configuration was read anew, and an entry has found its route in it. Its target stays what it was.
    package mutating func rerouted(
        _ id: EntryID, route: String?, policy: Policy, automaticLeft: Int?, now: Timestamp
    ) -> [PendingAction] {
        gather(now: now) { set in
            guard let entry = set.entries[id], entry.route != route || entry.policy != policy else { return }
            set.giveGrantBack(id, wasMade: entry.state == .attempting)
            let life = entry.isHeldByClient ? min(policy.holdMax, policy.lifetime) : policy.lifetime
            var expiresAt = entry.hasOwnDeadline ? entry.expiresAt : entry.parkedAt + life
            // How long what was accepted may live was promised with it.
            if !entry.isHeldByClient { expiresAt = max(expiresAt, entry.expiresAt) }
            let shared = set.policies.shared(policy)
            set.change(id) { entry in
                entry.route = route
                // What the request itself said, or a person, stays.
                if !entry.hasOwnPriority { entry.priority = policy.priority }
                entry.sharedPolicy = shared
                entry.automaticLeft = automaticLeft
                entry.expiresAt = expiresAt
            }
            set.timers.push(.expiry(id), key: max(expiresAt, now))
            // One that waits for its time keeps it; who may be woken, and in which order, is new.
            if entry.state == .waiting, entry.eligibleBy == nil { set.place(id, now: now) }
            // So is whether its lane waits for it while it is undecided.
            set.lineUp(id)
            set.laneChanged(entry.lane, now: now)
            set.touchIncident(entry.incident, now: now)
            // mutant: word-taken-back
            // And whether it may be sent once more.
            set.stopIfRisky(id, now: now)
        }
    }

    /// An admin changed the mode.
    package mutating func modeChanged(to mode: ReachabilityMode, now: Timestamp) -> [PendingAction] {
        guard mode != self.mode else { return [] }
        self.mode = mode
        if mode == .offline { return [] }
        return reachable(now: now)
    }

    /// The proxy is being stopped: nothing is parked any more, and what waits ends.
    package mutating func drained(now: Timestamp) -> [PendingAction] {
        gather(now: now) { set in
            set.isDraining = true
            for id in set.idsInOrder {
                // A ticket goes on after the next start.
                if let entry = set.entries[id], entry.ticket == nil { set.endOrOfferTicket(id, now: now) }
            }
        }
    }
}
