extension PendingSet {
    /// A response head came back for an entry's attempt, or its CONNECT stands.
    package mutating func attemptAnswered(
        _ id: EntryID, attemptCount: Int, now: Timestamp
    ) -> [PendingAction] {
        gather { set in
            guard let entry = set.entries[id], entry.state == .attempting else { return }
            set.entries[id]?.attemptCount = attemptCount
            set.originOpened(entry.origin, now: now)
        }
    }

    /// The exchange of an entry came to its end on its loop.
    package mutating func ended(
        _ id: EntryID, as state: EntryState, failure: Failure? = nil, attemptCount: Int,
        now: Timestamp, using generator: inout some RandomNumberGenerator
    ) -> [PendingAction] {
        gather { set in
            guard let entry = set.entries[id] else { return }
            set.entries[id]?.attemptCount = attemptCount
            if let failure {
                set.entries[id]?.lastFailure = failure
                set.entries[id]?.lastFailureAt = now
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

    /// What the attempt of an entry proved that has ended meanwhile. It changes nothing but what is known.
    package mutating func recorded(_ failure: Failure, of id: EntryID, now: Timestamp) {
        history.change(id) { entry in
            entry.revision += 1
            entry.lastFailure = failure
            entry.lastFailureAt = now
        }
    }

    /// A request that is not in the set got a response from an origin that has entries or a shut gate.
    package mutating func originAnswered(_ origin: Origin, now: Timestamp) -> [PendingAction] {
        gather { set in
            guard set.lines[origin] != nil else { return }
            set.originOpened(origin, now: now)
        }
    }

    private mutating func originOpened(_ origin: Origin, now: Timestamp) {
        line(of: origin) { $0.gate.answered() }
        release(origin, by: .reachability)
        announce(origin)
        dispatch(origin, now: now)
    }

    /// Fresh attempts to a watched origin began or ended: they count in its window, and never wait for it.
    package mutating func freshUnderWay(
        _ origin: Origin, changedBy difference: Int, now: Timestamp
    ) -> [PendingAction] {
        gather { set in
            guard set.lines[origin] != nil else { return }
            set.line(of: origin) { $0.freshUnderWay = max(0, $0.freshUnderWay + difference) }
            set.dispatch(origin, now: now)
        }
    }

    /// Something says that ways may be open which were not: the network changed, or an admin said so.
    ///
    /// Every shut gate may send a canary now; what else waits and may be woken goes as its gate admits.
    package mutating func reachable(now: Timestamp) -> [PendingAction] {
        gather { set in
            // Who is stopped lets what is under way finish, and starts nothing in its place.
            guard !set.isDraining else { return }
            for id in set.entries.keys { set.wake(id) }
            for origin in Array(set.lines.keys) {
                set.line(of: origin) { $0.gate.mayBeReachable(now: now) }
                set.dispatch(origin, now: now)
            }
        }
    }

    private mutating func wake(_ id: EntryID) {
        guard let entry = entries[id], entry.policy.wakeOnReachable else { return }
        if entry.state == .attempting {
            // It may be hanging on a network that is gone. If it connects after all, nothing is lost.
            entries[id]?.isAbandoned = true
            actions.append(.abandonConnecting(id))
        } else {
            makeEligible(id, by: .reachability)
        }
    }

    /// An admin changed the mode.
    package mutating func modeChanged(to mode: ReachabilityMode, now: Timestamp) -> [PendingAction] {
        guard mode != self.mode else { return [] }
        self.mode = mode
        return mode == .offline ? [] : reachable(now: now)
    }

    /// The proxy is being stopped: nothing is parked any more, and what waits ends.
    package mutating func drained(now: Timestamp) -> [PendingAction] {
        gather { set in
            set.isDraining = true
            for (id, entry) in set.entries where entry.state == .waiting {
                set.finish(id, as: .cancelled, now: now)
                set.actions.append(.end(id, .draining))
            }
        }
    }
}
