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
    }

    /// A person asks for an entry to be sent now, or to be given up.
    ///
    /// - Parameter revision: The revision the caller saw; nil when any will do.
    package mutating func commanded(
        _ command: EntryCommand, _ id: EntryID, revision: Int? = nil, reason: String? = nil,
        now: Timestamp
    ) -> (CommandResult, [PendingAction]) {
        guard let entry = entries[id] else { return (history[id] == nil ? .unknown : .conflict, []) }
        if let revision, revision != entry.revision { return (.stale, []) }
        guard entry.actions.contains(command) else { return (.conflict, []) }
        let actions = gather { set in
            switch command {
            case .retry: set.retry(id, now: now)
            case .cancel: set.cancel(id, reason: reason, now: now)
            }
        }
        return (.done, actions)
    }

    private mutating func retry(_ id: EntryID, now: Timestamp) {
        guard let origin = entries[id]?.origin else { return }
        makeEligible(id, by: .admin)
        change(id) { _ in }
        line(of: origin) { $0.gate.mayBeReachable(now: now) }
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
