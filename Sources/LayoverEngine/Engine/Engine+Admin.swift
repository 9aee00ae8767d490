package import LayoverCore
import Logging
import NIOCore

/// The calls of the admin API. Entries, pages and incidents are read from memory. Commands wait until their changes are on disk.
extension Engine {

    /// Live entries in their current state, in no order.
    package func liveEntries() -> [Entry] {
        let now = clock.now()
        return pending.liveEntries.map { pending.described($0, now: now) }
    }

    /// A live entry, or one of the newest that ended.
    package func entry(_ id: EntryID) -> Entry? { pending.entry(id, now: clock.now()).map(withProgress) }

    /// Fills in how far the attempt under way has got.
    private func withProgress(_ entry: Entry) -> Entry {
        guard entry.state == .attempting else { return entry }
        var entry = entry
        entry.progress = exchanges[entry.id]?.progress
        return entry
    }

    /// A page of the current list.
    package func page(of query: PendingQuery) -> PendingPage {
        var page = pending.page(of: query, now: clock.now())
        page.entries = page.entries.map(withProgress)
        return page
    }

    package func counts() -> [EntryState: Int] { pending.counts }

    /// The body of a request whose exchange is in memory; nil if there is no such exchange.
    package func heldBody(_ id: EntryID) async -> HeldBody? {
        guard let exchange = exchanges[id] else { return nil }
        return await withCheckedContinuation { continuation in
            exchange.showBody { continuation.resume(returning: $0) }
        }
    }

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

    /// Longest wait for the end of an attempt that is aborted. Default: 2 s.
    private static let abortMax: TimeAmount = .seconds(2)

    /// Waits until the attempt of an entry is over, but not for long.
    private func untilAttemptEnded(_ id: EntryID) async {
        guard pending.entry(id, now: clock.now())?.state == .attempting else { return }
        await withCheckedContinuation { continuation in
            let number = abortWaiters.add(continuation, for: id)
            eventLoop.scheduleTask(in: Self.abortMax) { [weak self] in
                self?.assumeIsolated { $0.abortWaiters.end(number) }
            }
        }
    }

    /// As `command`, without waiting for the disk.
    func apply(
        _ command: EntryCommand, _ id: EntryID, revision: Int? = nil, by author: CommandAuthor = .loopback,
        reason: String? = nil, acknowledgement: String? = nil, settled: Settlement.Outcome = .init()
    ) -> EntryCommandResult {
        let result = run { now in
            let (result, actions) = pending.commanded(
                command, id, revision: revision, by: author, reason: reason, acknowledgement: acknowledgement, outcome: settled,
                now: now)
            perform(actions)
            return result
        }
        if result == .done { reporter.commanded(command, count: 1) }
        // Those of the admin API are logged there, the refused ones too.
        if result == .done, author == .client {
            logger.notice(
                "command", metadata: ["command": "\(command.rawValue)", "who": "\(author.who)", "exchange": "\(naming.shown(id))"])
        }
        return result
    }

    package func status() -> EngineStatus {
        EngineStatus(
            uptime: clock.now() - startedAt, reachability: network.reachability.view, counts: pending.counts,
            heldCount: pending.heldCount, unattendedCount: pending.unattendedCount, limits: pending.limits, totals: reporter.totals,
            shutOrigins: pending.shutOrigins, incidentCount: pending.incidentCount, rehearsalCount: currentRehearsals().count,
            oldestUndecidedAge: pending.undecidedSince.map { clock.now() - $0 }, lastReload: reporter.lastReload)
    }

    package func origins() -> [OriginView] { pending.originViews }
    package func lanes() -> [LaneView] { pending.laneViews }
    package func activity() -> [ActivitySeries.Bucket] { reporter.activity(now: clock.now()) }

    // MARK: Incidents

    /// The open incidents, oldest first.
    package func incidents() -> [Incident] { pending.incidents(now: clock.now()) }

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

    /// As `command`, without waiting for the disk.
    ///
    /// - Returns: The outcome, and the tickets that it has changed.
    func apply(
        _ command: EntryCommand, incident id: IncidentID, by author: CommandAuthor = .loopback, reason: String? = nil
    ) -> (EntryCommandResult, changed: [EntryID]) {
        run { now in
            let count = pending.incident(id, now: now)?.waiting ?? 0
            let (result, actions) = pending.commanded(command, incident: id, by: author, reason: reason, now: now)
            if result == .done { reporter.commanded(command, count: count) }
            perform(actions)
            return (result, saves.touched)
        }
    }

    // MARK: Configuration

    /// Takes the result of a reload of the configuration, success or failure.
    package func reloaded(_ report: ReloadReport) {
        reporter.reloaded(report)
    }

    // MARK: The network

    package func reachabilityView() -> ReachabilityView { network.reachability.view }

    /// - Parameter tunnels: What happens to open tunnels under `offline`; other modes leave them alone.
    package func setMode(_ mode: ReachabilityMode, reason: String?, tunnels: OfflineTunnels = .freeze) -> ReachabilityView {
        for loop in loops { loop.setOffline(mode == .offline ? tunnels : nil) }
        run { now in
            // What a portal kept back is set free by leaving mode `auto`; under `offline` it must find the set closed.
            if mode == .offline { take(ModeChanged(to: mode, cuts: tunnels == .cut), now: now) }
            perform(network.observe(.mode(mode, reason: reason, tunnels: tunnels), now: now))
            if mode != .offline { take(ModeChanged(to: mode), now: now) }
        }
        return network.reachability.view
    }

    /// Returns once the event loops have done what they were told before: open tunnels are frozen or reset then.
    package func untilLoopsCaughtUp() async { for loop in loops { await loop.caughtUp() } }

    /// A script of the host reports that the network changed.
    package func hintChanged() -> ReachabilityView {
        handle(.hinted)
        return network.reachability.view
    }

    // MARK: Events

    /// - Parameter receiver: Told of each change of an incident, and of limits that are reached. It must return at once.
    package func setNotificationReceiver(_ receiver: @escaping @Sendable (NotificationFact) -> Void) {
        reporter.notificationReceiver = receiver
    }

    /// The number of the newest event.
    package var lastEventNumber: UInt64 { reporter.events.lastNumber }

    /// Whether nothing that happened after an event is forgotten.
    package func knowsEvents(after number: UInt64) -> Bool { reporter.events.knows(after: number) }

    /// Starts to watch. `unwatch` ends it.
    package func watch() -> Int { reporter.events.watch() }

    /// Waits for what happens after an event. A task that is cancelled meanwhile watches no longer.
    ///
    /// - Parameter watcher: What `watch` returned; one call at a time.
    package func nextEvents(of watcher: Int, after number: UInt64) async -> EventTurn {
        await withTaskCancellationHandler {
            while true {
                if let turn = reporter.events.turn(of: watcher, after: number) { return turn }
                await withCheckedContinuation { reporter.events.wait(watcher, $0) }
            }
        } onCancel: {
            Task { await self.unwatch(watcher) }
        }
    }

    package func unwatch(_ watcher: Int) { reporter.events.unwatch(watcher) }

    /// Ends what waits and parks nothing any more. Attempts under way go on.
    package func drain() {
        reporter.drainBegan(pending.counts, heldCount: pending.heldCount)
        handle(DrainBegan())
    }

    /// Ends the watches of now, once they have got what has happened so far.
    package func finishWatching() { reporter.events.finish() }

    // MARK: Many entries

    /// The newest entries that came to their end, in no order.
    package func rememberedEntries() -> [Entry] { Array(pending.rememberedEntries) }

    /// How many of these are live.
    package func liveCount(of ids: Set<EntryID>) -> Int { ids.count(where: pending.isLive) }

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

    /// As `command`, without waiting for the disk.
    func apply(
        _ command: EntryCommand, each ids: some Collection<EntryID> & Sendable, by author: CommandAuthor = .loopback,
        reason: String?
    ) -> [EntryCommandResult] {
        let results = run { now in
            let (results, actions) = pending.commanded(command, each: ids, by: author, reason: reason, now: now)
            perform(actions)
            return results
        }
        reporter.commanded(command, count: results.count { $0 == .done })
        return results
    }

    // MARK: Changes

    /// Changes the priority, the deadline or the lane of an entry.
    ///
    /// - Parameter revision: What the caller saw (`If-Match`); nil when any will do.
    /// - Returns: The outcome, and the entry afterwards if there is one.
    package func patch(_ id: EntryID, _ patch: EntryPatch, revision: Int? = nil) async -> (CommandOutcome, Entry?) {
        let result = apply(patch, to: id, revision: revision)
        let outcome = await outcome(result, of: id)
        return (outcome, await wholeEntry(id))
    }

    /// Like `patch`, without waiting for the store.
    func apply(_ patch: EntryPatch, to id: EntryID, revision: Int? = nil) -> EntryCommandResult {
        run { now in
            let (result, actions) = pending.patched(id, patch, revision: revision, now: now)
            perform(actions)
            return result
        }
    }

    /// An entry, live or remembered, or a ticket that is still in the store. Its times are those of this boot.
    package func knownEntry(_ id: EntryID) async throws(StoreFailure) -> Entry? {
        if entry(id) != nil { return await wholeEntry(id) }
        guard let record = try await store?.record(of: id)?.shifted(by: -ticketClock) else { return nil }
        // It may have been accepted meanwhile: the row comes before the entry.
        if let entry = entry(id) { return entry }
        guard record.state.isFinal else { return nil }
        return .ended(record, policy: routes.standing(of: record).policy)
    }

    /// An entry, live or remembered, with its whole URL. Where the store has that one and cannot be read, it is cut, and an
    /// ellipsis says so.
    func wholeEntry(_ id: EntryID) async -> Entry? {
        let known = entry(id)
        guard let known, known.request.isURLInStore, let record = try? await store?.record(of: id) else { return known }
        return known.withURL(of: record)
    }

    // MARK: Outcomes

    /// The outcome of a command for its caller. `done` means that a crash does not undo it.
    ///
    /// - Parameter command: Nil for a change of something else than its state.
    func outcome(_ result: EntryCommandResult, of id: EntryID, _ command: EntryCommand? = nil) async -> CommandOutcome {
        // A repeated cancellation waits for the disk too. If the first one is still not saved, the outcome is `unsaved`, not `conflict`.
        let isRepeated = result == .conflict && command == .cancel && isCancelledInMemoryOnly(id)
        guard result == .done || isRepeated else { return CommandOutcome(result) }
        return await waitUntilSaved(id) ? CommandOutcome(result) : .unsaved(savingFailure)
    }

    private func isCancelledInMemoryOnly(_ id: EntryID) -> Bool {
        !isSaved(id) && pending.entry(id, now: clock.now())?.state == .cancelled
    }

    /// Why the store refuses changes.
    var savingFailure: StoreFailure {
        saves.failure ?? store?.condition.failure ?? StoreFailure(.other, "The store did not save the change.")
    }
}
