import LayoverCore

/// A request on its way to a ticket: first the core admits it, then the store commits it, then its client is told.
///
/// Each step runs on the engine's event loop.
struct TicketAcceptance: Sendable {
    private var acceptance: Acceptance
    private let exchange: any AcceptingExchange

    init(_ acceptance: Acceptance, for exchange: any AcceptingExchange) {
        self.acceptance = acceptance
        self.exchange = exchange
    }

    private var id: EntryID { acceptance.new.id }
    private var parents: [EntryID] { acceptance.new.ticket?.parents ?? [] }

    // MARK: A new request

    /// The request has no entry yet, and no attempt of it was made.
    func begin(in engine: isolated Engine) {
        guard let store = engine.store else { return exchange.acceptance(.refused(limit: "store.path", value: 0)) }
        let now = engine.clock.now()
        let unknown = parents.filter { engine.pending.entry($0, now: now) == nil }
        guard !unknown.isEmpty else { return admit(orphanedBy: [], in: engine) }
        Task { await findParents(unknown, in: store, for: engine) }
    }

    /// Looks up the parents that only the store knows.
    private func findParents(_ unknown: [EntryID], in store: any PendingStore, for engine: isolated Engine) async {
        var parents = self.parents
        var ended: [EntryID] = []
        do throws(StoreFailure) {
            for parent in unknown {
                guard let record = try await store.newestRecord(inPlaceOf: parent) else {
                    return exchange.acceptance(.unknownParent(parent))
                }
                parents = parents.map { $0 == parent ? record.id : $0 }
                // The set knows better how a ticket ended since its record was read, but may forget that before the last one is read.
                let state = engine.pending.entry(record.id, now: engine.clock.now())?.state ?? record.state
                if !engine.pending.isLive(record.id), state != .delivered { ended.append(record.id) }
            }
            var found = self
            found.acceptance.new.ticket?.parents = parents
            found.admit(orphanedBy: ended, in: engine)
        } catch {
            exchange.acceptance(.notStored(id, error))
        }
    }

    private func admit(orphanedBy ended: [EntryID], in engine: isolated Engine) {
        guard let store = engine.store, let ticket = acceptance.new.ticket else { return exchange.acceptance(.gone) }
        let now = engine.clock.now()
        let sequence: Int
        switch engine.pending.admitTicket() {
        case .admitted(let number): sequence = number
        case .refused(let limit, let value):
            engine.reporter.refused(limit, value, now: now)
            return exchange.acceptance(.refused(limit: limit, value: value))
        case .draining: return exchange.acceptance(.draining)
        }
        let isOrphan = !ended.isEmpty || engine.pending.hasUndelivered(among: ticket.parents)
        let record = TicketRecord(acceptance.new, ticket, sequence: sequence, now: now).shifted(by: engine.ticketClock)
        // mutant: key-forgotten, told-too-early
        store.commit([.insert(record, acceptance.request, acceptance.mark)]) { result in
            engine.enter { inserted(sequence, isOrphan: isOrphan, result, in: $0) }
        }
    }

    private func inserted(
        _ sequence: Int, isOrphan: Bool, _ result: Result<[StoreResult], StoreFailure>, in engine: isolated Engine
    ) {
        guard isStored(result, in: engine) else { return engine.pending.admissionDecided() }
        accepted(by: NewTicketStored(acceptance.new, sequence: sequence, isOrphan: isOrphan), isUnderWay: false, in: engine)
    }

    // MARK: An entry

    /// The request has an entry already, which is held by its client.
    func adopt(in engine: isolated Engine) {
        let new = acceptance.new
        guard let store = engine.store, let ticket = new.ticket,
            let record = engine.pending.willStore(new.id, as: ticket, counts: new.tally.counts, now: engine.clock.now())
        else { return exchange.acceptance(.gone) }
        store.commit([.insert(record.shifted(by: engine.ticketClock), acceptance.request, acceptance.mark)]) { result in
            engine.enter { adopted(result, in: $0) }
        }
    }

    private func adopted(_ result: Result<[StoreResult], StoreFailure>, in engine: isolated Engine) {
        guard isStored(result, in: engine) else { return engine.handle(EntryNotStored(id)) }
        accepted(by: EntryStoredAsTicket(id), isUnderWay: engine.dropIdleExchange(of: id), in: engine)
    }

    // MARK: The end

    /// Takes the fact that the ticket is on disk.
    ///
    /// - Parameter isUnderWay: Whether an attempt was under way before the acceptance. If not, the client is told
    ///   `waiting`: an attempt that begins by the acceptance may or may not have begun yet.
    private func accepted(by fact: some PendingFact, isUnderWay: Bool, in engine: isolated Engine) {
        engine.run { now in
            // Before the client is told: its next request for the ticket finds it.
            let actions = engine.pending.handle(fact, now: now, using: &engine.jitter)
            engine.reporter.accepted()
            var view = engine.rememberedTicket(id)
            if view?.record.state == .attempting, !isUnderWay { view?.record.state = .waiting }
            exchange.acceptance(.accepted(id, view))
            engine.perform(actions)
        }
    }

    /// Whether the ticket is on disk. If not, its exchange is told why.
    private func isStored(_ result: Result<[StoreResult], StoreFailure>, in engine: isolated Engine) -> Bool {
        guard let refusal = AcceptanceResult(ofInserting: id, result, view: { engine.rememberedTicket($0) }) else {
            engine.storeTook()
            return true
        }
        if case .failure = result { engine.reporter.storeFailed() }
        exchange.acceptance(refusal)
        return false
    }
}
