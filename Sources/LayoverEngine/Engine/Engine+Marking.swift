package import LayoverCore
import NIOCore

/// The note on disk that the first byte of a ticket's attempt is about to leave.
///
/// It goes the way of all changes of tickets: the engine looks how the entry stands, and hands the note to the store
/// behind what was changed before. So a change since the attempt began (a PATCH, a reload) does not make it stale, and what
/// was cancelled, has ended or waits again is not sent, whether or not the disk has taken that yet.
extension Engine {
    /// Takes note that an exchange is about to send, from any thread.
    ///
    /// - Parameter done: Called once, from any thread, never from within. False: nothing may be sent.
    package nonisolated func mark(
        _ id: EntryID, _ counts: AttemptCounts, by exchange: any HeldExchange, done: @escaping @Sendable (Bool) -> Void
    ) {
        eventLoop.execute { self.assumeIsolated { $0.markStarted(id, counts, by: exchange, done: done) } }
    }

    private func markStarted(
        _ id: EntryID, _ counts: AttemptCounts, by exchange: any HeldExchange, done: @escaping @Sendable (Bool) -> Void
    ) {
        guard let store, mayStart(id, exchange), let revision = pending.entry(id, now: clock.now())?.revision else {
            return done(false)
        }
        let older = takeUnsaved(of: id)
        let started = StoreChange.started(id, revision: revision, counts: counts)
        store.commit(older.map(\.1) + [started]) { result in
            self.eventLoop.execute {
                self.assumeIsolated {
                    $0.marked(id, by: exchange, older: older, result, done: done)
                }
            }
        }
    }

    private func marked(
        _ id: EntryID, by exchange: any HeldExchange, older: [(EntryID, StoreChange)],
        _ result: Result<[StoreResult], StoreFailure>, done: @escaping @Sendable (Bool) -> Void
    ) {
        // The note itself is not made later: by then there is no such attempt any more.
        if !older.isEmpty { saved(older, result.map { Array($0.dropLast()) }) }
        switch result {
        case .success(let results):
            storeTook()
            // Its end may have come while the disk was at it. It stands behind the note then, and has the last word.
            done(results.last == .done && mayStart(id, exchange))
        case .failure:
            perform(pending.storeRefused(now: clock.now()))
            finishFact()
            done(false)
        }
    }

    /// The store took something, so it will take notes as well.
    func storeTook() {
        let actions = pending.storeIsWell(now: clock.now())
        guard !actions.isEmpty else { return }
        perform(actions)
        finishFact()
    }

    /// Whether this exchange is the one that makes the attempt of the entry, and the entry still wants it.
    private func mayStart(_ id: EntryID, _ exchange: any HeldExchange) -> Bool {
        exchanges[id] === exchange && pending.entry(id, now: clock.now())?.state == .attempting
    }
}
