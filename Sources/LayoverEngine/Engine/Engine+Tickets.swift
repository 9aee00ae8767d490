package import LayoverCore
import NIOCore

/// Tickets: their changes on the way to the store, and their return after a restart. They become tickets by `TicketAcceptance`; before an
/// attempt sends anything, its start is recorded (`StartRecording`).
extension Engine {
    // MARK: On their way to the store

    /// Records that an exchange is about to send, from any thread.
    ///
    /// - Parameter done: Called once, from any thread, never from within. False: nothing may be sent.
    package nonisolated func recordStart(
        _ id: EntryID, _ counts: AttemptCounts, by exchange: any HeldExchange, done: @escaping @Sendable (Bool) -> Void
    ) {
        enter { StartRecording(id: id, counts: counts, exchange: exchange, done: done).begin(in: $0) }
    }

    /// A ticket that waits needs no exchange; an attempt under way keeps its exchange, and so does the part of a response.
    ///
    /// - Returns: Whether an attempt is under way.
    func dropIdleExchange(of id: EntryID) -> Bool {
        let entry = pending.entry(id, now: clock.now())
        if entry?.state == .attempting { return true }
        if entry?.resume == nil { exchanges[id] = nil }
        return false
    }

    /// The store took a change, so it will take start records as well.
    func storeTook() {
        if pending.isPausedByStore { handle(StoreRecovered()) }
    }

    func saved(_ changes: [TicketChange], _ result: Result<[StoreResult], StoreFailure>) {
        for id in saver.saved(changes, result, for: self) { pending.urlIsStored(of: id) }
        switch result {
        case .success: storeTook()
        case .failure: reporter.storeFailed()
        }
        for (id, _) in changes { saver.watchers.call(about: id) }
    }

    package var ticketClock: TicketClock { saver.clock }
    package func isSaved(_ id: EntryID) -> Bool { saver.isSaved(id) }

    package func rememberedTicket(_ id: EntryID) -> TicketView? {
        guard let entry = pending.entry(id, now: clock.now()), let record = pending.record(of: id) else { return nil }
        return TicketView(record: record, waitingFor: entry.waitingFor, nextAttemptAt: entry.nextAttemptAt)
    }

    /// Calls back each time a change of a ticket was saved, or was refused by the store.
    ///
    /// - Returns: The number for `unwatchTicket`.
    package func watchTicket(_ id: EntryID, _ notify: @escaping @Sendable () -> Void) -> Int { saver.watchers.add(notify, for: id) }

    package func unwatchTicket(_ id: EntryID, _ number: Int) { saver.watchers.remove(number, for: id) }

    /// The client of a ticket cancels it, or drops its response.
    ///
    /// - Throws: If the store cannot be read, so that it is unknown whether there is such a ticket.
    package func dropTicket(_ id: EntryID) async throws(StoreFailure) -> TicketDrop {
        guard let view = try await ticket(id) else { return .unknown }
        let isCancelled = !view.record.state.isFinal && apply(.cancel, id, by: .client) == .done
        if !isCancelled { saver.save([(id, .dropResponse(id))], for: self) }
        return await savingFailure(of: id).map(TicketDrop.unsaved) ?? .dropped
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

    package func savingFailure(of id: EntryID) async -> StoreFailure? { await waitUntilSaved(id) ? nil : saver.shownFailure }

    // MARK: Restart

    /// Restores the tickets of an earlier run. After the loops are registered, before the first connection.
    ///
    /// Blocks until all of it is read.
    package func restore(from store: any PendingStore, bootID: String, routes: RouteTable) throws(StoreFailure) {
        self.routes = routes
        try TicketRestoring(store: store, bootID: bootID).restoreAtStart(of: self)
    }

    /// Restores the tickets of an earlier run from a store that could not be opened at the start. Until then requests
    /// were held, but none was accepted.
    ///
    /// Blocks until all of it is read, and has all of it in memory twice until then: after a failed read nothing of
    /// it may be left in the pending set.
    ///
    /// - Returns: False if the proxy is already being stopped.
    package func restore(
        from store: any PendingStore, replacing standIn: UnavailableStore, bootID: String
    ) throws(StoreFailure) -> Bool {
        guard !pending.isDraining else { return false }
        return try TicketRestoring(store: store, bootID: bootID).restoreLate(self, replacing: standIn)
    }

    // MARK: Reloads

    /// The routes of the start, where no ticket was read yet. Before the first connection.
    package func begin(with routes: RouteTable) { self.routes = routes }

    /// Looks up the routes of all entries after a reload: those of the first portion before this returns, the others later. The loops get
    /// the table after the engine, so that whatever was planned by another table is known to be older.
    ///
    /// - Returns: The table with its number, for the loops.
    @discardableResult
    package func adopt(_ new: RouteTable) -> RouteTable {
        var routes = new
        routes.number = max(self.routes.number, new.number) + 1
        self.routes = routes
        run { now in
            // Clients wait for most of those that have an exchange, and these are few.
            let first = Array(exchanges.keys)
            perform(
                pending.reloaded(as: routes.number, first: first, portion: rerouting.portion, now: now) { [routes] in
                    routes.foundRouteWithParentProxy(of: $0)
                })
        }
        rerouteOthers()
        return routes
    }

    func rerouteSome() {
        run { now in perform(pending.rerouteSome(rerouting.portion, now: now)) }
        rerouteOthers()
    }

    private func rerouteOthers() {
        guard pending.isRerouting else { return reporter.rerouted() }
        rerouting.askForNext(isFirst: pending.isReroutingFirst, for: self)
    }

    /// Waits after a reload until each entry has found its route, but no longer than a limit. Other facts are worked on in the meantime.
    ///
    /// - Returns: At most how many entries have yet to find their routes.
    package func untilRerouted(within limit: Duration) async -> Int {
        await wait(for: .rerouting, atMost: .nanoseconds(limit.nanosecondsSaturating))
        return pending.rerouteCount
    }

    // MARK: Old tickets

    /// Removes tickets that ended longer ago than that: now, and every minute.
    package func keepHistory(for duration: Duration) {
        history.duration = duration
        tendHistory()
        eventLoop.scheduleRepeatedTask(initialDelay: TicketHistory.interval, delay: TicketHistory.interval) { _ in
            self.assumeIsolated { $0.tendHistory() }
        }
    }

    private func tendHistory() { history.tend(saver.clock, isIdle: pending.count == 0, now: clock.now(), for: self) }
}
