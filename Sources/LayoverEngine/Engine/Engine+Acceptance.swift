package import LayoverCore
import NIOCore

/// Acceptance of tickets: first the core admits the request, then the store commits it, then its client is told. Before an attempt sends
/// anything, its start is recorded.
extension Engine {
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
                    guard let record = try await self.record(inPlaceOf: parent, store) else {
                        return exchange.acceptance(.unknownParent(parent))
                    }
                    named = named.map { $0 == parent ? record.id : $0 }
                    let isLive = self.pending.isLive(record.id)
                    if !isLive, record.state != .delivered { ended.append(record.id) }
                }
                acceptance.new.ticket?.parents = named
                self.admit(acceptance, exchange, orphanedBy: ended)
            } catch {
                exchange.acceptance(.notStored(acceptance.new.id, error))
            }
        }
    }

    /// A ticket in the store, or the one that superseded it.
    private func record(
        inPlaceOf id: EntryID, _ store: any PendingStore
    ) async throws(StoreFailure) -> TicketRecord? {
        var record = try await store.record(of: id)
        // Each is newer than the one before, so this ends.
        while let newer = record?.supersededBy {
            guard let next = try await store.record(of: newer) else { break }
            record = next
        }
        return record
    }

    private func admit(
        _ acceptance: Acceptance, _ exchange: any AcceptingExchange, orphanedBy ended: [EntryID]
    ) {
        guard let store, let ticket = acceptance.new.ticket else { return exchange.acceptance(.gone) }
        let now = clock.now()
        let sequence: Int
        switch pending.admitTicket() {
        case .admitted(let number): sequence = number
        case .refused(let limit, let value):
            reporter.refused(limit, value, now: clock.now())
            return exchange.acceptance(.refused(limit: limit, value: value))
        case .draining: return exchange.acceptance(.draining)
        }
        let isOrphan =
            !ended.isEmpty
            || ticket.parents.contains { parent in
                pending.entry(parent, now: now).map { $0.state.isFinal && $0.state != .delivered } ?? false
            }
        let record = TicketRecord(acceptance.new, ticket, sequence: sequence, now: now)
            .shifted(by: ticketClock)
        // mutant: key-forgotten, told-too-early
        store.commit([.insert(record, acceptance.request, acceptance.mark)]) { result in
            self.eventLoop.execute {
                self.assumeIsolated {
                    $0.inserted(acceptance.new, sequence, isOrphan: isOrphan, result, exchange)
                }
            }
        }
    }

    private func inserted(
        _ new: NewEntry, _ sequence: Int, isOrphan: Bool, _ result: Result<[StoreResult], StoreFailure>,
        _ exchange: any AcceptingExchange
    ) {
        guard case .success(let results) = result, results.first == .done else {
            pending.notAccepted()
            if case .failure = result { reporter.storeFailed() }
            return exchange.acceptance(refusal(of: new.id, result))
        }
        storeTook()
        run { now in
            // Before the client is told: its next request for the ticket finds it.
            let actions = pending.handle(
                NewTicketStored(new, sequence: sequence, isOrphan: isOrphan), now: now, using: &jitter)
            reporter.accepted()
            notify(exchange, accepted: new.id, isUnderWay: false)
            perform(actions)
            rerouteIfReloaded(new.id)
        }
    }

    /// - Parameter isUnderWay: Whether an attempt was under way before the acceptance. If not, the client is told
    ///   `waiting`: an attempt that begins by the acceptance may or may not have begun yet.
    private func notify(_ exchange: any AcceptingExchange, accepted id: EntryID, isUnderWay: Bool) {
        var standing = rememberedTicket(id)
        if standing?.record.state == .attempting, !isUnderWay { standing?.record.state = .waiting }
        exchange.acceptance(.accepted(id, standing))
    }

    private func refusal(
        of id: EntryID, _ result: Result<[StoreResult], StoreFailure>
    ) -> AcceptanceResult {
        switch result {
        case .success(let results):
            switch results.first {
            case .duplicate(let other, let isSame): isSame ? .duplicate(of: other, rememberedTicket(other)) : .keyReused
            case .done, .stale, nil:
                // Whatever is there under this id is not ours to remove.
                .notStored(id, StoreFailure(.other, "The store already has a ticket with this id.", mayBeKept: true))
            }
        case .failure(let failure): .notStored(id, failure)
        }
    }

    // MARK: From hold to ticket

    func becomeTicket(_ acceptance: Acceptance, _ exchange: any HeldExchange & AcceptingExchange) {
        let new = acceptance.new
        guard let store, let ticket = new.ticket else { return exchange.acceptance(.gone) }
        guard let record = pending.willStore(new.id, as: ticket, counts: new.tally.counts, now: clock.now()) else {
            return exchange.acceptance(.gone)
        }
        store.commit([
            .insert(record.shifted(by: ticketClock), acceptance.request, acceptance.mark)
        ]) { result in
            self.eventLoop.execute { self.assumeIsolated { $0.adopted(new.id, result, exchange) } }
        }
    }

    private func adopted(
        _ id: EntryID, _ result: Result<[StoreResult], StoreFailure>, _ exchange: any AcceptingExchange
    ) {
        guard case .success(let results) = result, results.first == .done else {
            if case .failure = result { reporter.storeFailed() }
            exchange.acceptance(refusal(of: id, result))
            return handle(EntryNotStored(id))
        }
        storeTook()
        reporter.accepted()
        run { now in
            // A ticket at rest needs no exchange; an attempt under way keeps its exchange, and so does the part of a response.
            let entry = pending.entry(id, now: now)
            let isUnderWay = entry?.state == .attempting
            if !isUnderWay, entry?.resume == nil { exchanges[id] = nil }
            // Before it may go.
            rerouteIfReloaded(id)
            let actions = pending.handle(EntryStoredAsTicket(id), now: now, using: &jitter)
            notify(exchange, accepted: id, isUnderWay: isUnderWay)
            perform(actions)
        }
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
        eventLoop.execute { self.assumeIsolated { $0.handStartRecord(of: id, counts, by: exchange, done: done) } }
    }

    private func handStartRecord(
        of id: EntryID, _ counts: AttemptCounts, by exchange: any HeldExchange, done: @escaping @Sendable (Bool) -> Void
    ) {
        guard let store, mayStart(id, exchange), let revision = pending.entry(id, now: clock.now())?.revision else {
            return done(false)
        }
        let older = saves.takeRefused(of: id)
        saves.handed(older)
        let started = StoreChange.started(id, revision: revision, counts: counts)
        store.commit(older.map(\.1) + [started]) { result in
            self.eventLoop.execute {
                self.assumeIsolated {
                    $0.startRecorded(id, by: exchange, older: older, result, done: done)
                }
            }
        }
    }

    private func startRecorded(
        _ id: EntryID, by exchange: any HeldExchange, older: [(EntryID, StoreChange)],
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
            done(results.last == .done && mayStart(id, exchange))
        case .failure:
            handle(StartRecordRefused())
            done(false)
        }
    }

    /// The store took a change, so it will take start records as well.
    func storeTook() {
        guard pending.isPausedByStore else { return }
        handle(StoreRecovered())
    }

    /// Whether this exchange makes the current attempt of the entry, and the entry is still attempting.
    private func mayStart(_ id: EntryID, _ exchange: any HeldExchange) -> Bool {
        exchanges[id] === exchange && pending.entry(id, now: clock.now())?.state == .attempting
    }
}
