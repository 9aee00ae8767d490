extension EntryCommand {
    /// Does to an entry what a person asks for. The entry allows it.
    ///
    /// - Parameter outcome: What the person knows who settles it; other commands need none.
    func apply(
        to entry: Entry, by author: CommandAuthor, reason: String?, outcome: Settlement.Outcome = .init(),
        _ schedule: inout Schedule, now: Timestamp
    ) {
        let id = entry.id
        schedule.entries[id]?.lastCommand = CommandRecord(name: self, author: author, at: now, reason: reason)
        switch self {
        case .retry: retry(entry, isForced: entry.isForced, &schedule, now: now)
        case .force: retry(entry, isForced: true, &schedule, now: now)
        // Final at once, an attempt in flight included: the loop aborts it.
        case .cancel: schedule.end(id, as: .cancelled, .cancelled(reason: reason), now: now)
        case .abort:
            schedule.change(id)
            // The attempt reports its end, and what it proves.
            schedule.actions.append(.abortAttempt(id, isCommanded: true))
        case .settle:
            schedule.entries[id]?.settledBy = Settlement(author: author, at: now, outcome: outcome)
            // mutant: settled-and-sent
            schedule.end(id, as: .delivered, .settled(note: outcome.note), now: now)
        case .hold:
            schedule.entries[id]?.isHeldBack = true
            schedule.transition(id, to: .held, now: now)
        case .release:
            schedule.entries[id]?.isHeldBack = false
            schedule.transition(id, to: .waiting(.due), now: now)
            schedule.place(id, now: now)
            schedule.toDispatch.insert(entry.origin)
        }
    }

    private func retry(_ entry: Entry, isForced: Bool, _ schedule: inout Schedule, now: Timestamp) {
        let id = entry.id
        if entry.why == .parentFailed || entry.why == .maybeApplied, let parents = entry.ticket?.parents, !parents.isEmpty {
            schedule.dependencies.excuse(parents, of: id)
        }
        schedule.entries[id]?.isForced = isForced
        schedule.giveGrantBack(id, wasMade: false)
        schedule.transition(id, to: .waiting(.due), now: now)
        schedule.makeEligible(id, by: .admin)
        for gate in [entry.origin, entry.parentProxyGate].compactMap({ $0 }) { schedule.origins[gate].gate.mayBeReachable(now: now) }
        schedule.toDispatch.insert(entry.origin)
    }
}
