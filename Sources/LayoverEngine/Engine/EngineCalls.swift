package import LayoverCore

/// The parts of the engine that the calls of clients and of the admin API use.
///
/// The calls are extensions of this protocol: they run on the engine's event loop like its own methods, and reach nothing else of it. They
/// only read, or wait until the changes of a command are on disk.
package protocol EngineCalls: Actor {
    nonisolated var clock: any EngineClock { get }
    /// By what ids entries are shown.
    nonisolated var naming: EntryNaming { get }
    /// Where tickets are kept. Nil: there are none.
    nonisolated var store: (any PendingStore)? { get }
    var pending: PendingSet { get }
    var routes: RouteTable { get }
    /// How times on disk relate to those since boot.
    var ticketClock: TicketClock { get }

    /// A live entry, or one of the newest that ended.
    func entry(_ id: EntryID) -> Entry?
    /// A page of the current list, of what is in memory.
    func page(of query: PendingQuery) -> PendingPage
    /// A ticket that is live, or one of the newest that ended; of a long URL only its beginning (`isURLInStore`).
    func rememberedTicket(_ id: EntryID) -> TicketView?

    /// Commands one entry, without waiting for the disk.
    func apply(
        _ command: EntryCommand, _ id: EntryID, revision: Int?, by author: CommandAuthor, reason: String?, acknowledgement: String?,
        settled: Settlement.Outcome
    ) -> EntryCommandResult
    /// Commands everything that waits in an incident, without waiting for the disk.
    ///
    /// - Returns: The outcome, and the tickets that it has changed.
    func apply(
        _ command: EntryCommand, incident id: IncidentID, by author: CommandAuthor, reason: String?
    ) -> (EntryCommandResult, changed: [EntryID])
    /// Commands several entries, without waiting for the disk.
    func apply(
        _ command: EntryCommand, each ids: some Collection<EntryID> & Sendable, by author: CommandAuthor, reason: String?
    ) -> [EntryCommandResult]
    /// Changes an entry, without waiting for the disk.
    func apply(_ patch: EntryPatch, to id: EntryID, revision: Int?) -> EntryCommandResult
    /// Drops the response of a ticket that has ended, without waiting for the disk.
    func dropResponse(of id: EntryID)
    /// Waits until the attempt of an entry is over, but not for long.
    func untilAttemptEnded(_ id: EntryID) async

    /// Whether a change of a ticket is with the store.
    func isBeingSaved(_ id: EntryID) -> Bool
    /// Whether all that was changed about a ticket is on disk.
    func isSaved(_ id: EntryID) -> Bool
    /// Why the store refuses changes.
    var savingFailure: StoreFailure { get }
}

// MARK: Commands

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
        for id in ids where await !waitUntilSaved(id) { outcome = .unsaved(savingFailure) }
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

    /// The client of a ticket cancels it, or drops its response.
    ///
    /// - Throws: If the store cannot be read, so that it is unknown whether there is such a ticket.
    package func dropTicket(_ id: EntryID) async throws(StoreFailure) -> TicketDrop {
        guard let view = try await ticket(id) else { return .unknown }
        let isCancelled =
            !view.record.state.isFinal
            && apply(.cancel, id, revision: nil, by: .client, reason: nil, acknowledgement: nil, settled: .init()) == .done
        if !isCancelled { dropResponse(of: id) }
        return await waitUntilSaved(id) ? .dropped : .unsaved(savingFailure)
    }

    /// The outcome of a command for its caller. `done` means that a crash does not undo it.
    ///
    /// - Parameter command: Nil for a change of something else than its state.
    private func outcome(_ result: EntryCommandResult, of id: EntryID, _ command: EntryCommand? = nil) async -> CommandOutcome {
        // A repeated cancellation waits for the disk too. If the first one is still not saved, the outcome is `unsaved`, not `conflict`.
        let isRepeated =
            result == .conflict && command == .cancel && !isSaved(id) && pending.entry(id, now: clock.now())?.state == .cancelled
        guard result == .done || isRepeated else { return CommandOutcome(result) }
        return await waitUntilSaved(id) ? CommandOutcome(result) : .unsaved(savingFailure)
    }

    /// Waits until what was changed about a ticket is on disk.
    ///
    /// - Returns: False if the store refused it; it is handed in again later.
    package func waitUntilSaved(_ id: EntryID) async -> Bool {
        // A refused change may be with the store again.
        // mutant: cancel-told-early
        while isBeingSaved(id) { await waitForStore() }
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
