extension PendingSet {
    /// What came of a command.
    package enum CommandResult: String, Sendable, Hashable {
        case done
        /// No such entry.
        case unknown
        /// The entry's state does not allow it.
        case conflict
        /// The entry has changed since the caller saw it.
        case stale
        /// The risk of `force` was not acknowledged.
        case unacknowledged
    }

    /// A person steers one entry.
    ///
    /// - Parameters:
    ///   - revision: The revision the caller saw; nil when any will do.
    ///   - acknowledgement: `EntryCommand.duplicateRisk` for `force`; others need none.
    package mutating func commanded(
        _ command: EntryCommand, _ id: EntryID, revision: Int? = nil, reason: String? = nil,
        acknowledgement: String? = nil, now: Timestamp
    ) -> (CommandResult, [PendingAction]) {
        guard let entry = entries[id] else { return (history[id] == nil ? .unknown : .conflict, []) }
        if let revision, revision != entry.revision { return (.stale, []) }
        guard entry.actions.contains(command) else { return (.conflict, []) }
        // mutant: no-acknowledgement
        if command == .force, acknowledgement != EntryCommand.duplicateRisk { return (.unacknowledged, []) }
        let actions = gather(now: now) { set in
            switch command {
            case .retry: set.retry(id, now: now)
            case .force:
                set.entries[id]?.isForced = true
                set.retry(id, now: now)
            case .cancel: set.cancel(id, reason: reason, now: now)
            case .hold: set.hold(id, now: now)
            case .release: set.release(id, now: now)
            }
        }
        return (.done, actions)
    }

    /// A person steers several entries, in the order given.
    ///
    /// Whom a cancelled one makes room for is looked at when all of them are gone: otherwise each would start the
    /// next, only to have it cut off.
    package mutating func commanded(
        _ command: EntryCommand, each ids: some Collection<EntryID>, reason: String? = nil, now: Timestamp
    ) -> ([CommandResult], [PendingAction]) {
        guard command == .cancel else {
            let done = ids.map { commanded(command, $0, reason: reason, now: now) }
            return (done.map(\.0), done.flatMap(\.1))
        }
        var results: [CommandResult] = []
        let actions = gather(now: now) { set in
            var origins: Set<Origin> = []
            for id in ids {
                guard let origin = set.entries[id]?.origin else {
                    results.append(set.history[id] == nil ? .unknown : .conflict)
                    continue
                }
                set.finish(id, as: .cancelled, now: now)
                set.actions.append(.end(id, .cancelled(reason: reason)))
                results.append(.done)
                origins.insert(origin)
            }
            for origin in origins.sorted(by: Origin.isBefore) {
                set.announce(origin)
                set.dispatch(origin, now: now)
            }
        }
        return (results, actions)
    }

    private mutating func retry(_ id: EntryID, now: Timestamp) {
        guard let origin = entries[id]?.origin else { return }
        excuseParents(of: id)
        change(id) { entry in
            entry.state = .waiting
            entry.why = nil
        }
        giveGrantBack(id, wasMade: false)
        // Undecided it may have been passed over.
        lineUp(id)
        laneChanged(entries[id]?.lane, now: now)
        makeEligible(id, by: .admin)
        touchIncident(entries[id]?.incident, now: now)
        line(of: origin) { $0.gate.mayBeReachable(now: now) }
        dispatch(origin, now: now)
    }

    private mutating func hold(_ id: EntryID, now: Timestamp) {
        change(id) { entry in
            entry.state = .held
            entry.isHeldBack = true
            entry.placement += 1
            entry.eligibleBy = nil
            entry.isBlocked = false
            entry.isWanted = false
        }
        // It may stay so for long, and others can use what the budget gave for it.
        giveGrantBack(id, wasMade: false)
        touchIncident(entries[id]?.incident, now: now)
    }

    private mutating func release(_ id: EntryID, now: Timestamp) {
        guard let origin = entries[id]?.origin else { return }
        change(id) { entry in
            entry.state = .waiting
            entry.isHeldBack = false
        }
        place(id, now: now)
        touchIncident(entries[id]?.incident, now: now)
        dispatch(origin, now: now)
    }

    /// Final at once, an attempt in flight included: the loop aborts it.
    private mutating func cancel(_ id: EntryID, reason: String?, now: Timestamp) {
        guard let origin = entries[id]?.origin else { return }
        finish(id, as: .cancelled, now: now)
        actions.append(.end(id, .cancelled(reason: reason)))
        announce(origin)
        dispatch(origin, now: now)
    }
}
