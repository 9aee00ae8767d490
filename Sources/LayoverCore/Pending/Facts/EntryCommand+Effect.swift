extension EntryCommand {
    /// Does to an entry what a person asks for. The entry allows it.
    ///
    /// - Parameter outcome: What the person knows who settles it; other commands need none.
    func apply(
        to entry: Entry, by author: CommandAuthor, reason: String?, outcome: Settlement.Outcome = .init(),
        _ set: inout PendingSet, now: Timestamp
    ) {
        let id = entry.id
        set.entries[id]?.lastCommand = CommandRecord(name: self, author: author, at: now, reason: reason)
        switch self {
        case .retry: retry(entry, isForced: entry.isForced, &set, now: now)
        case .force: retry(entry, isForced: true, &set, now: now)
        // Final at once, an attempt in flight included: the loop aborts it.
        case .cancel: set.end(id, as: .cancelled, .cancelled(reason: reason), now: now)
        case .abort:
            set.change(id)
            // The attempt reports its end, and what it proves.
            set.actions.append(.abortAttempt(id, isCommanded: true))
        case .settle:
            set.entries[id]?.settledBy = Settlement(author: author, at: now, outcome: outcome)
            // mutant: settled-and-sent
            set.end(id, as: .delivered, .settled(note: outcome.note), now: now)
        case .hold:
            set.entries[id]?.isHeldBack = true
            set.transition(id, to: .held, now: now)
        case .release:
            set.entries[id]?.isHeldBack = false
            set.transition(id, to: .waiting(.due), now: now)
            set.place(id, now: now)
            set.toDispatch.insert(entry.origin)
        }
    }

    private func retry(_ entry: Entry, isForced: Bool, _ set: inout PendingSet, now: Timestamp) {
        let id = entry.id
        if entry.why == .parentFailed || entry.why == .maybeApplied, let parents = entry.ticket?.parents, !parents.isEmpty {
            set.dependencies.excuse(parents, of: id)
        }
        set.entries[id]?.isForced = isForced
        set.giveGrantBack(id, wasMade: false)
        set.transition(id, to: .waiting(.due), now: now)
        set.makeEligible(id, by: .admin)
        for gate in [entry.origin, entry.parentProxyGate].compactMap({ $0 }) { set.origins[gate].gate.mayBeReachable(now: now) }
        set.toDispatch.insert(entry.origin)
    }
}

/// What came of a command.
package enum EntryCommandResult: String, Sendable, Hashable {
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
