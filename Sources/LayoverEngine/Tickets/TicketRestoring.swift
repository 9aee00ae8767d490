import LayoverCore

/// The return of the tickets of an earlier run into the pending set, all before the engine works on another fact.
struct TicketRestoring {
    let store: any PendingStore
    let bootID: String

    /// At the start: while the tickets are read, nothing else is in the set.
    func restoreAtStart(of engine: isolated Engine) throws(StoreFailure) {
        begin(try readClock(for: engine), lastSequence: try store.lastSequence(), in: engine)
        try store.readParentsFirst(isLive: { engine.pending.isLive($0) }, { restore($0, ended: $1, in: engine) })
        end(count: engine.pending.count, in: engine)
    }

    /// Later: after a failed read nothing of the store may be left in the set, so all of it is read first.
    ///
    /// - Returns: False if the stand-in of the store takes no other one, because the proxy is being stopped.
    func restoreLate(_ engine: isolated Engine, replacing standIn: UnavailableStore) throws(StoreFailure) -> Bool {
        let clock = try readClock(for: engine)
        let sequence = try store.lastSequence()
        var records: [TicketRecord] = []
        try store.readLive { records += $0 }
        let ended = try store.endStates(ofParentsOf: records) { engine.pending.isLive($0) }
        guard standIn.opened(store) else { return false }
        begin(clock, lastSequence: sequence, in: engine)
        restore(records, ended: ended, in: engine)
        end(count: records.count, in: engine)
        return true
    }

    private func readClock(for engine: isolated Engine) throws(StoreFailure) -> TicketClock {
        let now = engine.clock.now()
        return try store.clock(bootID: bootID, proposal: engine.clock.wallNanoseconds(of: now) &- now.nanoseconds, now: now)
    }

    private func begin(_ clock: TicketClock, lastSequence: Int, in engine: isolated Engine) {
        engine.saver.clock = clock
        engine.pending.skipSequences(to: lastSequence)
        engine.pending.restoringBegan()
    }

    private func restore(_ records: [TicketRecord], ended: [EntryID: EntryState], in engine: isolated Engine) {
        let now = engine.clock.now()
        engine.take(engine.routes.restored(records, ended: ended, by: engine.ticketClock, now: now), now: now)
    }

    private func end(count: Int, in engine: isolated Engine) {
        engine.reporter.restored(count)
        engine.handle(RestoringEnded())
    }
}
