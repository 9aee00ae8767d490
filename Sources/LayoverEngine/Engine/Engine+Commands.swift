package import LayoverCore
import Logging
import NIOCore

/// The commands of people: `apply` carries one out, and `command` waits then until its changes are on disk.
extension Engine {
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
        if command == .abort, result == .done { await wait(for: .attempt(id), atMost: abortMax) }
        return (outcome, await wholeEntry(id))
    }

    /// Commands one entry, without waiting for the disk.
    package func apply(
        _ command: EntryCommand, _ id: EntryID, revision: Int? = nil, by author: CommandAuthor = .loopback,
        reason: String? = nil, acknowledgement: String? = nil, settled: Settlement.Outcome = .init()
    ) -> EntryCommandResult {
        let result = run { now in
            carryOut(
                pending.commanded(
                    command, id, revision: revision, by: author, reason: reason, acknowledgement: acknowledgement, outcome: settled,
                    now: now))
        }
        if result == .done { reporter.commanded(command, count: 1) }
        // The admin API logs its own commands, also those that are refused.
        if result == .done, author == .client {
            logger.notice(
                "command", metadata: ["command": "\(command.rawValue)", "who": "\(author.who)", "exchange": "\(naming.shown(id))"])
        }
        return result
    }

    /// Commands everything that waits in an incident.
    ///
    /// - Returns: The outcome, and the incident afterwards if it is still open.
    package func command(
        _ command: EntryCommand, incident id: IncidentID, by author: CommandAuthor = .loopback, reason: String? = nil
    ) async -> (CommandOutcome, Incident?) {
        let (result, ids) = apply(command, incident: id, by: author, reason: reason)
        var outcome = CommandOutcome(result)
        for id in ids where await !waitUntilSaved(id) { outcome = .unsaved(saver.shownFailure) }
        return (outcome, pending.incident(id, now: clock.now()))
    }

    /// Commands everything that waits in an incident, without waiting for the disk.
    ///
    /// - Returns: The outcome, and the tickets that it has changed.
    package func apply(
        _ command: EntryCommand, incident id: IncidentID, by author: CommandAuthor = .loopback, reason: String? = nil
    ) -> (EntryCommandResult, changed: [EntryID]) {
        run { now in
            let count = pending.incident(id, now: now)?.waiting ?? 0
            let result = carryOut(pending.commanded(command, incident: id, by: author, reason: reason, now: now))
            if result == .done { reporter.commanded(command, count: count) }
            return (result, saver.touched)
        }
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

    /// Commands several entries, without waiting for the disk.
    package func apply(
        _ command: EntryCommand, each ids: some Collection<EntryID> & Sendable, by author: CommandAuthor = .loopback,
        reason: String?
    ) -> [EntryCommandResult] {
        run { now in
            let results = carryOut(pending.commanded(command, each: ids, by: author, reason: reason, now: now))
            reporter.commanded(command, count: results.count { $0 == .done })
            return results
        }
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

    /// Changes an entry, without waiting for the disk.
    package func apply(_ patch: EntryPatch, to id: EntryID, revision: Int? = nil) -> EntryCommandResult {
        run { now in carryOut(pending.patched(id, patch, revision: revision, now: now)) }
    }

    /// Performs the actions of a command.
    private func carryOut<Outcome>(_ commanded: (Outcome, [PendingAction])) -> Outcome {
        perform(commanded.1)
        return commanded.0
    }

    /// The client of a ticket cancels it, or drops its response.
    ///
    /// - Throws: If the store cannot be read, so that it is unknown whether there is such a ticket.
    package func dropTicket(_ id: EntryID) async throws(StoreFailure) -> TicketDrop {
        guard let view = try await ticket(id) else { return .unknown }
        let isCancelled = !view.record.state.isFinal && apply(.cancel, id, by: .client) == .done
        if !isCancelled { saver.save([(id, .dropResponse(id))], for: self) }
        return await waitUntilSaved(id) ? .dropped : .unsaved(saver.shownFailure)
    }

    /// The outcome of a command for its caller. `done` means that a crash does not undo it.
    ///
    /// - Parameter command: Nil for a change of something else than its state.
    private func outcome(_ result: EntryCommandResult, of id: EntryID, _ command: EntryCommand? = nil) async -> CommandOutcome {
        // A repeated cancellation waits for the disk too. If the first one is still not saved, the outcome is `unsaved`, not `conflict`.
        let isRepeated =
            result == .conflict && command == .cancel && !isSaved(id) && pending.entry(id, now: clock.now())?.state == .cancelled
        guard result == .done || isRepeated else { return CommandOutcome(result) }
        return await waitUntilSaved(id) ? CommandOutcome(result) : .unsaved(saver.shownFailure)
    }

    /// Waits until what was changed about a ticket is on disk.
    ///
    /// - Returns: False if the store refused it; it is handed in again later.
    package func waitUntilSaved(_ id: EntryID) async -> Bool {
        // A refused change may be with the store again.
        // mutant: cancel-told-early
        while saver.isPending(id) { await waitForStore() }
        return isSaved(id)
    }

    /// Waits until the store has committed or refused all that was posted so far.
    package func waitForStore() async {
        guard let store else { return }
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            store.commit([]) { _ in continuation.resume() }
        }
    }
}
