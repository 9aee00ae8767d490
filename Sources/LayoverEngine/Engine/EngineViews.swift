package import LayoverCore

/// The parts of the engine that its reading calls use, and those commands that wait.
///
/// These calls are extensions of this protocol: they run on the engine's event loop like its own methods, and reach nothing else of it.
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
    /// Waits until the attempt of an entry is over, but not for long.
    func untilAttemptEnded(_ id: EntryID) async
    /// Whether all that was changed about a ticket is on disk.
    func isSaved(_ id: EntryID) -> Bool
    /// Waits until what was changed about a ticket is on disk.
    ///
    /// - Returns: Why the store refused it; it is handed in again later. Nil: it is on disk.
    func savingFailure(of id: EntryID) async -> StoreFailure?
}

/// The calls that read: from memory first, then from the store. Tickets that ended long ago are only in the store.
extension EngineCalls {
    // MARK: Memory

    /// Live entries in their current state, in no order.
    package func liveEntries() -> [Entry] {
        let (pending, now) = (pending, clock.now())
        return pending.liveEntries.map { pending.described($0, now: now) }
    }

    /// The newest entries that came to their end, in no order.
    package func rememberedEntries() -> [Entry] { Array(pending.rememberedEntries) }

    /// How many of these are live.
    package func liveCount(of ids: Set<EntryID>) -> Int { ids.count(where: pending.isLive) }

    package func counts() -> [EntryState: Int] { pending.counts }
    package func origins() -> [OriginView] { pending.originViews }
    package func lanes() -> [LaneView] { pending.laneViews }

    /// The open incidents, oldest first.
    package func incidents() -> [Incident] { pending.incidents(now: clock.now()) }

    // MARK: One ticket

    /// A ticket as it stands now; nil if there is none. Its times are those of this boot.
    package func ticket(_ id: EntryID) async throws(StoreFailure) -> TicketView? {
        if var view = rememberedTicket(id) {
            // Addresses in its response are relative to the whole URL.
            if view.record.request.isURLInStore, let stored = try await store?.record(of: id) {
                view.record.request = stored.shifted(by: -ticketClock).request
            }
            return view
        }
        guard let record = try await store?.record(of: id) else { return nil }
        return TicketView(record: record.shifted(by: -ticketClock))
    }

    /// An entry, live or remembered, or a ticket that is still in the store. Its times are those of this boot.
    package func knownEntry(_ id: EntryID) async throws(StoreFailure) -> Entry? {
        if entry(id) != nil { return await wholeEntry(id) }
        guard let record = try await store?.record(of: id)?.shifted(by: -ticketClock) else { return nil }
        // It may have been accepted meanwhile: the row comes before the entry.
        if let entry = entry(id) { return entry }
        return record.state.isFinal ? ended(record) : nil
    }

    private func ended(_ record: TicketRecord) -> Entry { .ended(record, policy: routes.foundRoute(of: record).policy) }

    /// An entry, live or remembered, with its whole URL. Where the store has that one and cannot be read, it is cut, and an
    /// ellipsis says so.
    func wholeEntry(_ id: EntryID) async -> Entry? {
        let known = entry(id)
        guard let known, known.request.isURLInStore, let record = try? await store?.record(of: id) else { return known }
        return known.withURL(of: record)
    }

    // MARK: Lists

    /// A page of the list, with the final tickets that only the store has.
    package func list(_ query: PendingQuery) async throws(StoreFailure) -> EntryListing {
        let page = page(of: query)
        guard let store, query.filter.mayMatchStored else {
            return EntryListing(items: page.entries.map(EntryListing.Item.known), nextCursor: page.nextCursor)
        }
        let stored = try await store.ended(query.shifted(by: ticketClock), naming: naming)
        return EntryListing(query, page, stored: query.shifted(stored, by: -ticketClock), naming: naming)
    }

    /// The entries of a part of a listing. A ticket whose time in the history is over meanwhile is left out.
    package func entries(of items: some Collection<EntryListing.Item> & Sendable) async throws(StoreFailure) -> [Entry] {
        let ids = items.compactMap { if case .stored(let id) = $0 { id } else { nil } }
        var loaded: [EntryID: Entry] = [:]
        if let store, !ids.isEmpty {
            for record in try await store.records(of: ids) { loaded[record.id] = ended(record.shifted(by: -ticketClock)) }
        }
        return items.compactMap { item in
            switch item {
            case .known(let entry): entry
            case .stored(let id): loaded[id]
            }
        }
    }

    /// The ids of entries in memory: the live ones, and the newest that ended.
    private func idsInMemory() -> [EntryID] { pending.idsInOrder + pending.rememberedEntries.map(\.id) }

    /// The entries whose shown ids begin so: live, remembered, or tickets that are still in the store. In no order.
    package nonisolated func entryIDs(shownWith prefix: EntryIDPrefix) async throws(StoreFailure) -> [EntryID] {
        // Of very many entries this takes a second, so it runs beside the engine.
        var ids = Set(await idsInMemory().filter { prefix.begins(naming.shown($0)) })
        // That another one of a million ids begins with the same 48 bits has a chance of 1 in 280 million.
        if ids.count == 1, prefix.description.utf8.count >= 12 { return Array(ids) }
        guard let store, store.isOpen else { return Array(ids) }
        do throws(StoreFailure) {
            ids.formUnion(try await store.ids().filter { prefix.begins(naming.shown($0)) })
        } catch {
            // With a damaged store, what is in memory can still be named.
            if ids.isEmpty { throw error }
        }
        return Array(ids)
    }
}

/// A ticket as its client sees it.
package struct TicketView: Sendable, Hashable {
    package var record: TicketRecord
    package var waitingFor: WaitReason?
    package var nextAttemptAt: Timestamp?
}

/// The state of the engine at one moment.
package struct EngineStatus: Sendable {
    package var uptime: Duration
    package var reachability: ReachabilityView
    package var counts: [EntryState: Int]
    package var heldCount: Int
    /// Attempts that go on without a client.
    package var unattendedCount: Int
    package var limits: PendingLimits
    package var totals: EngineTotals
    package var shutOrigins: [Origin]
    package var incidentCount: Int
    package var rehearsalCount: Int
    /// How long the request has waited for a person that has done so longest; nil where none does.
    package var oldestUndecidedAge: Duration?
    /// The report of the last reload, with the number of entries left now; nil: there was none.
    package var lastReload: ReloadReport?

    init(of engine: isolated Engine) {
        let (pending, reporter, now) = (engine.pending, engine.reporter, engine.clock.now())
        uptime = now - engine.startedAt
        reachability = engine.network.reachability.view
        counts = pending.counts
        heldCount = pending.heldCount
        unattendedCount = pending.unattendedCount
        limits = pending.limits
        totals = reporter.totals
        shutOrigins = pending.shutOrigins
        incidentCount = pending.incidentCount
        rehearsalCount = engine.currentRehearsals().count
        oldestUndecidedAge = pending.undecidedSince.map { now - $0 }
        lastReload = reporter.lastReload
        // The report has the number of then, and that of a failed reload does not have those left by the one before.
        lastReload?.entriesLeft = pending.rerouteCount
    }
}

/// The state of the ticket store at one moment.
package struct StoreStatus: Sendable, Hashable {
    package var condition: StoreCondition
    /// Tickets whose newest change the store refused. Saving it is repeated until it succeeds.
    package var unsavedCount: Int
    /// Tickets that were accepted since the start.
    package var acceptedCount: Int
    /// Groups of changes, or requests, that the store refused since the start.
    package var failureCount: Int
    /// How long ended tickets are kept; nil until it is set.
    package var history: Duration?

    init(of engine: isolated Engine, _ store: any PendingStore) {
        condition = store.condition
        unsavedCount = engine.saver.unsavedCount
        acceptedCount = engine.reporter.totals.acceptedCount
        failureCount = engine.reporter.totals.storeFailureCount
        history = engine.history.duration
    }
}
