package import LayoverCore
import NIOCore

/// Tickets: their acceptance, their changes on the way to the store, and their return after a restart.
///
/// First the core admits a request, then the store commits it, then its client is told. Before an attempt sends anything, its start is
/// recorded.
extension Engine {
    // MARK: Acceptance

    func accept(_ acceptance: Acceptance, _ exchange: any AcceptingExchange) {
        guard let store else { return exchange.acceptance(.refused(limit: "store.path", value: 0)) }
        let parents = acceptance.new.ticket?.parents ?? []
        let now = clock.now()
        let unknown = parents.filter { pending.entry($0, now: now) == nil }
        guard !unknown.isEmpty else { return admit(acceptance, exchange, orphanedBy: []) }
        Task {
            var acceptance = acceptance
            var named = parents
            var ended: [EntryID] = []
            do throws(StoreFailure) {
                for parent in unknown {
                    guard let record = try await store.newestRecord(inPlaceOf: parent) else {
                        return exchange.acceptance(.unknownParent(parent))
                    }
                    named = named.map { $0 == parent ? record.id : $0 }
                    // The set knows better how a ticket ended since its record was read, but may forget that before the last one is read.
                    let state = self.pending.entry(record.id, now: self.clock.now())?.state ?? record.state
                    if !self.pending.isLive(record.id), state != .delivered { ended.append(record.id) }
                }
                acceptance.new.ticket?.parents = named
                self.admit(acceptance, exchange, orphanedBy: ended)
            } catch {
                exchange.acceptance(.notStored(acceptance.new.id, error))
            }
        }
    }

    private func admit(_ acceptance: Acceptance, _ exchange: any AcceptingExchange, orphanedBy ended: [EntryID]) {
        guard let store, let ticket = acceptance.new.ticket else { return exchange.acceptance(.gone) }
        let now = clock.now()
        let sequence: Int
        switch pending.admitTicket() {
        case .admitted(let number): sequence = number
        case .refused(let limit, let value):
            reporter.refused(limit, value, now: now)
            return exchange.acceptance(.refused(limit: limit, value: value))
        case .draining: return exchange.acceptance(.draining)
        }
        let isOrphan = !ended.isEmpty || pending.hasUndelivered(among: ticket.parents)
        let record = TicketRecord(acceptance.new, ticket, sequence: sequence, now: now).shifted(by: saver.clock)
        // mutant: key-forgotten, told-too-early
        store.commit([.insert(record, acceptance.request, acceptance.mark)]) { result in
            self.enter { $0.inserted(acceptance.new, sequence, isOrphan: isOrphan, result, exchange) }
        }
    }

    private func inserted(
        _ new: NewEntry, _ sequence: Int, isOrphan: Bool, _ result: Result<[StoreResult], StoreFailure>,
        _ exchange: any AcceptingExchange
    ) {
        guard isStored(new.id, result, exchange) else { return pending.admissionDecided() }
        accepted(new.id, by: NewTicketStored(new, sequence: sequence, isOrphan: isOrphan), exchange, isUnderWay: false)
    }

    /// Takes the fact that a ticket is on disk.
    ///
    /// - Parameter isUnderWay: Whether an attempt was under way before the acceptance. If not, the client is told
    ///   `waiting`: an attempt that begins by the acceptance may or may not have begun yet.
    private func accepted(_ id: EntryID, by fact: some PendingFact, _ exchange: any AcceptingExchange, isUnderWay: Bool) {
        run { now in
            // Before the client is told: its next request for the ticket finds it.
            let actions = pending.handle(fact, now: now, using: &jitter)
            reporter.accepted()
            var view = rememberedTicket(id)
            if view?.record.state == .attempting, !isUnderWay { view?.record.state = .waiting }
            exchange.acceptance(.accepted(id, view))
            perform(actions)
        }
    }

    /// Whether a ticket is on disk. If not, its exchange is told why.
    private func isStored(_ id: EntryID, _ result: Result<[StoreResult], StoreFailure>, _ exchange: any AcceptingExchange) -> Bool {
        guard let refusal = AcceptanceResult(ofInserting: id, result, view: { rememberedTicket($0) }) else {
            storeTook()
            return true
        }
        if case .failure = result { reporter.storeFailed() }
        exchange.acceptance(refusal)
        return false
    }

    // MARK: From hold to ticket

    func becomeTicket(_ acceptance: Acceptance, _ exchange: any HeldExchange & AcceptingExchange) {
        let new = acceptance.new
        guard let store, let ticket = new.ticket else { return exchange.acceptance(.gone) }
        guard let record = pending.willStore(new.id, as: ticket, counts: new.tally.counts, now: clock.now()) else {
            return exchange.acceptance(.gone)
        }
        store.commit([.insert(record.shifted(by: saver.clock), acceptance.request, acceptance.mark)]) { result in
            self.enter { $0.adopted(new.id, result, exchange) }
        }
    }

    private func adopted(_ id: EntryID, _ result: Result<[StoreResult], StoreFailure>, _ exchange: any AcceptingExchange) {
        guard isStored(id, result, exchange) else { return handle(EntryNotStored(id)) }
        // A ticket that waits needs no exchange; an attempt under way keeps its exchange, and so does the part of a response.
        let entry = pending.entry(id, now: clock.now())
        let isUnderWay = entry?.state == .attempting
        if !isUnderWay, entry?.resume == nil { exchanges[id] = nil }
        accepted(id, by: EntryStoredAsTicket(id), exchange, isUnderWay: isUnderWay)
    }

    // MARK: Start records

    // The start record: a change in the store that says that the first byte of a ticket's attempt is about to leave.
    //
    // It takes the way of all changes of tickets: the engine checks the state of the entry and hands the record to the store
    // behind earlier changes. So a change since the attempt began (a PATCH, a reload) does not make it stale, and a ticket that
    // was cancelled, has ended or waits again is not sent, whether or not that is on disk already.

    /// Records that an exchange is about to send, from any thread.
    ///
    /// - Parameter done: Called once, from any thread, never from within. False: nothing may be sent.
    package nonisolated func recordStart(
        _ id: EntryID, _ counts: AttemptCounts, by exchange: any HeldExchange, done: @escaping @Sendable (Bool) -> Void
    ) {
        enter { engine in
            guard let store = engine.store, let entry = engine.attempting(id, exchange) else { return done(false) }
            let older = engine.saver.handedAgain(of: id)
            let started = StoreChange.started(id, revision: entry.revision, counts: counts)
            store.commit(older.map(\.1) + [started]) { result in
                self.enter { $0.startRecorded(id, by: exchange, older: older, result, done: done) }
            }
        }
    }

    private func startRecorded(
        _ id: EntryID, by exchange: any HeldExchange, older: [TicketChange],
        _ result: Result<[StoreResult], StoreFailure>, done: @escaping @Sendable (Bool) -> Void
    ) {
        // A refused start record is not handed in again: its attempt is over by then.
        if !older.isEmpty { saved(older, result.map { Array($0.dropLast()) }) }
        switch result {
        case .success(let results):
            storeTook()
            // The worker asks for the record once its connection stands.
            handle(AttemptConnected(id))
            // The ticket may have ended during the commit. Its end is then behind the start record, and counts.
            done(results.last == .done && attempting(id, exchange) != nil)
        case .failure:
            handle(StartRecordRefused())
            done(false)
        }
    }

    /// The store took a change, so it will take start records as well.
    private func storeTook() {
        if pending.isPausedByStore { handle(StoreRecovered()) }
    }

    /// The entry, if this exchange makes its current attempt, and it is still attempting.
    private func attempting(_ id: EntryID, _ exchange: any HeldExchange) -> Entry? {
        guard exchanges[id] === exchange, let entry = pending.entry(id, now: clock.now()) else { return nil }
        return entry.state == .attempting ? entry : nil
    }

    // MARK: Changes

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
        restoringBegan(try readClock(of: store, bootID: bootID), lastSequence: try store.lastSequence())
        try store.readParentsFirst(isLive: { pending.isLive($0) }, { restoreTickets($0, ended: $1) })
        restored(count: pending.count)
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
        let known = try readClock(of: store, bootID: bootID)
        let sequence = try store.lastSequence()
        var records: [TicketRecord] = []
        try store.readLive { records += $0 }
        let ended = try store.endStates(ofParentsOf: records) { pending.isLive($0) }
        guard standIn.opened(store) else { return false }
        restoringBegan(known, lastSequence: sequence)
        restoreTickets(records, ended: ended)
        restored(count: records.count)
        return true
    }

    private func readClock(of store: any PendingStore, bootID: String) throws(StoreFailure) -> TicketClock {
        let now = clock.now()
        return try store.clock(bootID: bootID, proposal: clock.wallNanoseconds(of: now) &- now.nanoseconds, now: now)
    }

    private func restoringBegan(_ known: TicketClock, lastSequence: Int) {
        saver.clock = known
        pending.skipSequences(to: lastSequence)
        pending.restoringBegan()
    }

    private func restored(count: Int) {
        reporter.restored(count)
        handle(RestoringEnded())
    }

    private func restoreTickets(_ records: [TicketRecord], ended: [EntryID: EntryState]) {
        let now = clock.now()
        take(routes.restored(records, ended: ended, by: saver.clock, now: now), now: now)
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
        // Clients wait for most of those that have an exchange, and these are few.
        pending.reloaded(as: routes.number, first: Array(exchanges.keys)) { [routes] in routes.foundRouteWithParentProxy(of: $0) }
        rerouteSome()
        return routes
    }

    func rerouteSome() {
        run { now in perform(pending.rerouteSome(rerouting.portion, now: now)) }
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
