package import LayoverCore
import NIOCore

/// The start record: a change in the store that says that the first byte of a ticket's attempt is about to leave.
///
/// It takes the way of all changes of tickets: the engine checks the state of the entry and hands the record to the store
/// behind earlier changes. So a change since the attempt began (a PATCH, a reload) does not make it stale, and a ticket that
/// was cancelled, has ended or waits again is not sent, whether or not that is on disk already.
extension Engine {
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
