package import LayoverCore

/// The commands of people: `apply` carries one out, and `command` waits then until its changes are on disk.
extension EngineCalls {
    /// Commands one entry.
    ///
    /// - Parameters:
    ///   - revision: What the caller saw (`If-Match`); nil when any will do.
    ///   - acknowledgement: `EntryCommand.duplicateRisk` for `force`.
    ///   - settled: What is known of the outcome, for `settle`.
    /// - Returns: The outcome, and the entry afterwards if there is one.
    package func command(
        _ command: EntryCommand, _ id: EntryID, revision: Int? = nil, by author: CommandAuthor = .loopback,
        reason: String? = nil, acknowledgement: String? = nil, settled: Settlement.Outcome = .init()
    ) async -> (CommandOutcome, Entry?) {
        let result = apply(
            command, id, revision: revision, by: author, reason: reason, acknowledgement: acknowledgement, settled: settled)
        let outcome = await outcome(result, of: id, command)
        if command == .abort, result == .done { await untilAttemptEnded(id) }
        return (outcome, await wholeEntry(id))
    }

    /// Commands everything that waits in an incident.
    ///
    /// - Returns: The outcome, and the incident afterwards if it is still open.
    package func command(
        _ command: EntryCommand, incident id: IncidentID, by author: CommandAuthor = .loopback, reason: String? = nil
    ) async -> (CommandOutcome, Incident?) {
        let (result, ids) = apply(command, incident: id, by: author, reason: reason)
        var outcome = CommandOutcome(result)
        for id in ids {
            if let failure = await savingFailure(of: id) { outcome = .unsaved(failure) }
        }
        return (outcome, pending.incident(id, now: clock.now()))
    }

    /// Commands several entries, in the order given. Facts of the loops wait meanwhile, so callers with
    /// many entries pass them in portions.
    package func command(
        _ command: EntryCommand, each ids: some Collection<EntryID> & Sendable, by author: CommandAuthor = .loopback,
        reason: String?
    ) async -> [CommandOutcome] {
        let results = apply(command, each: ids, by: author, reason: reason)
        var outcomes: [CommandOutcome] = []
        outcomes.reserveCapacity(results.count)
        for (id, result) in zip(ids, results) { outcomes.append(await outcome(result, of: id, command)) }
        return outcomes
    }

    /// Changes the priority, the deadline or the lane of an entry.
    ///
    /// - Parameter revision: What the caller saw (`If-Match`); nil when any will do.
    /// - Returns: The outcome, and the entry afterwards if there is one.
    package func patch(_ id: EntryID, _ patch: EntryPatch, revision: Int? = nil) async -> (CommandOutcome, Entry?) {
        let result = apply(patch, to: id, revision: revision)
        let outcome = await outcome(result, of: id)
        return (outcome, await wholeEntry(id))
    }

    /// The outcome of a command for its caller. `done` means that a crash does not undo it.
    ///
    /// - Parameter command: Nil for a change of something else than its state.
    private func outcome(_ result: EntryCommandResult, of id: EntryID, _ command: EntryCommand? = nil) async -> CommandOutcome {
        // A repeated cancellation waits for the disk too. If the first one is still not saved, the outcome is `unsaved`, not `conflict`.
        let isRepeated =
            result == .conflict && command == .cancel && !isSaved(id) && pending.entry(id, now: clock.now())?.state == .cancelled
        guard result == .done || isRepeated else { return CommandOutcome(result) }
        return await savingFailure(of: id).map(CommandOutcome.unsaved) ?? CommandOutcome(result)
    }
}

/// The result of a command or a change, in memory and on disk.
package enum CommandOutcome: Sendable, Hashable {
    /// It is done, and of a ticket it is on disk.
    case done
    /// It is done in memory, but not on disk: a crash would undo it. Saving is repeated until it succeeds.
    case unsaved(StoreFailure)
    /// The entry has another revision than the caller saw.
    case stale
    case unknown
    /// Not in this state.
    case conflict
    case unacknowledged

    init(_ result: EntryCommandResult) {
        self =
            switch result {
            case .done: .done
            case .stale: .stale
            case .unknown: .unknown
            case .conflict: .conflict
            case .unacknowledged: .unacknowledged
            }
    }
}

/// What comes of dropping a ticket.
package enum TicketDrop: Sendable, Hashable {
    /// It is cancelled, or its response is gone, and that is on disk.
    case dropped
    /// The same in memory, but a crash would undo it. Saving is repeated until it succeeds.
    case unsaved(StoreFailure)
    /// There is no such ticket.
    case unknown
}
