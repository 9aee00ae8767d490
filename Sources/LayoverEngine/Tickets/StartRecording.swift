import LayoverCore

/// The start record of an attempt on its way to the store: it says that the first byte of a ticket's attempt is about to leave.
///
/// The way is that of all changes of tickets: the engine checks the state of the entry and hands the record to the store
/// behind earlier changes. So a change since the attempt began (a PATCH, a reload) does not make it stale, and a ticket that
/// was cancelled, has ended or waits again is not sent, whether or not that is on disk already.
struct StartRecording: Sendable {
    let id: EntryID
    let counts: AttemptCounts
    let exchange: any HeldExchange
    /// Called once, from any thread, never from within. False: nothing may be sent.
    let done: @Sendable (Bool) -> Void

    func begin(in engine: isolated Engine) {
        guard let store = engine.store, let entry = attempting(in: engine) else { return done(false) }
        let older = engine.saver.handedAgain(of: id)
        store.commit(older.map(\.1) + [.started(id, revision: entry.revision, counts: counts)]) { result in
            engine.enter { recorded(older: older, result, in: $0) }
        }
    }

    private func recorded(older: [TicketChange], _ result: Result<[StoreResult], StoreFailure>, in engine: isolated Engine) {
        // A refused start record is not handed in again: its attempt is over by then.
        if !older.isEmpty { engine.saved(older, result.map { Array($0.dropLast()) }) }
        switch result {
        case .success(let results):
            engine.storeTook()
            // The worker asks for the record once its connection stands.
            engine.handle(AttemptConnected(id))
            // The ticket may have ended during the commit. Its end is then behind the start record, and counts.
            done(results.last == .done && attempting(in: engine) != nil)
        case .failure:
            engine.handle(StartRecordRefused())
            done(false)
        }
    }

    /// The entry, if this exchange makes its current attempt, and it is still attempting.
    private func attempting(in engine: isolated Engine) -> Entry? {
        guard engine.exchanges[id] === exchange, let entry = engine.pending.entry(id, now: engine.clock.now()) else { return nil }
        return entry.state == .attempting ? entry : nil
    }
}
