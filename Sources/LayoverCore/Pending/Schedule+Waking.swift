/// What lets entries go: they have joined, ways may be open that were not, or what kept them back is over.
extension Schedule {
    // MARK: Joining

    /// A request joins the set.
    ///
    /// - Parameter failure: What brought it here.
    /// - Returns: False if a ticket that it depends on was not delivered.
    @discardableResult
    mutating func join(_ entry: Entry, after failure: Failure? = nil, now: Timestamp) -> Bool {
        let id = entry.id
        insert(entry, now: now)
        actions.append(.report(.parked, id))
        let isDependable = joinParents(id)
        laneChanged(entry.lane, now: now)
        if failure?.evidence == .answered { actions.append(.dropResponse(id)) }
        return isDependable
    }

    /// A request that could not even try: the canary if no other tests the way, and not behind the
    /// backlog if the gate is open after all.
    mutating func admitFresh(_ id: EntryID, now: Timestamp) {
        guard let entry = entries[id] else { return }
        let isShut = shutGate(before: entry) != nil
        let isKept = origins[entry.origin].keeps(entry, now: now)
        if blocker(of: entry) != nil {
            block(id, isAskedFor: false)
        } else if isDraining || !entry.hasGoodCredentials(at: now) {
            // While the proxy stops, a ticket that was on its way to the disk waits for the next start. A ticket with expired
            // credentials becomes undecided in `place`.
            place(id, now: now)
        } else if mode != .offline, !isShut {
            // No client waits for the response to a ticket, so it takes its turn like a replay.
            if entry.ticket == nil, !isKept {
                start(id, by: .arrival, now: now)
            } else {
                makeEligible(id, by: .arrival)
            }
        } else if mode != .offline, isUntried(entry),
            !pauses.isPausedByStore(entry), !isKept
        {
            // A first attempt ignores the delay of the gate, and a captive portal.
            start(id, by: .canary, now: now)
        } else {
            let canaryAt = shutGate(before: entry).flatMap { origins.canaryAt($0) }
            entries[id]?.dueAt = canaryAt ?? now
            place(id, now: now)
        }
    }

    // MARK: Open ways

    /// Something says that ways may be open which were not: the network changed, or an admin said so.
    ///
    /// Every shut gate may send a canary now; what else waits and may be woken goes as its gate admits.
    mutating func wakeAll(now: Timestamp) {
        // While the proxy stops, what is under way may finish, and nothing starts in its place.
        guard !isDraining else { return }
        for id in entries.idsInOrder { wake(id) }
        for origin in origins.inOrder {
            origins[origin].gate.mayBeReachable(now: now)
            toDispatch.insert(origin)
        }
    }

    private mutating func wake(_ id: EntryID) {
        guard let entry = entries[id], entry.policy.wakeOnReachable else { return }
        switch entry.fullState {
        // It may be hanging on a network that is gone.
        case .attempting: abandonAttempt(of: id)
        case .waiting(.due), .waiting(.eligible):
            if entry.isWokenByReachability { makeEligible(id, by: .reachability) }
        case .waiting(.blocked), .held, .undecided, .ended: break
        }
    }

    /// Abandons the attempt of an entry: it is made again if it has sent nothing. An attempt that has connected goes on. The attempt of
    /// an unattended entry has sent something, so it is left alone.
    mutating func abandonAttempt(of id: EntryID) {
        guard let entry = entries[id], !entry.isUnattended, case .attempting(var attempt) = entry.fullState else { return }
        attempt.isAbandoned = true
        entries[id]?.fullState = .attempting(attempt)
        actions.append(.abandonConnecting(id))
    }

    // MARK: The store and the portal

    /// When the pause is over: lets one of the tickets that were put aside find out whether the store has recovered. If the
    /// store has not, the ticket goes behind the others.
    mutating func probeStore(now: Timestamp) {
        guard let pauseEnd = pauses.storePauseEnd, pauseEnd <= now, !isAtRest,
            pauses.storeProbe.flatMap({ entries[$0]?.state }) != .attempting
        else { return }
        while let origin = origins.longestPausedByStore(now: now),
            let place = origins[origin].popPausedByStore()
        {
            guard mayGo(place, now: now, probesStore: true) else { continue }
            pauses.probeStarted(place.id)
            let isShut = origins.isShut(origin)
            let trigger = entries[place.id]?.eligibleBy ?? (isShut ? .canary : .reachability)
            return start(place.id, by: trigger, now: now)
        }
    }

    /// The store has recovered: what was put aside goes on.
    mutating func storeRecovered() {
        pauses.storeRecovered()
        for origin in origins.inOrder {
            for place in origins[origin].popAllPausedByStore() where entries.isCurrent(place) {
                // It was eligible or waited for the gate; either way its turn had come.
                makeEligibleAgain(place.id, by: entries[place.id]?.eligibleBy ?? .reachability)
                toDispatch.insert(origin)
            }
        }
    }

    /// The captive portal is gone: what was put aside goes on.
    mutating func portalLeft() {
        let kept = pauses.portalLeft().sorted { isBefore($0.id, $1.id) }
        for place in kept where entries.isCurrent(place) {
            makeEligibleAgain(place.id, by: .reachability)
            if let origin = entries[place.id]?.origin { toDispatch.insert(origin) }
        }
    }
}
