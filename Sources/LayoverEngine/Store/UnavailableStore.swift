import Dispatch
package import LayoverCore
import Synchronization

/// Stands in for a store that could not be opened at the start: until it opens, every call fails with the reason.
///
/// Once the store is open, every call goes to it, for good.
package final class UnavailableStore: PendingStore {
    private enum State {
        case unavailable(StoreFailure)
        case open(any PendingStore)
        case closed
    }

    private let state: Mutex<State>
    private let opensLater: Bool
    /// Completes calls while the store is unavailable: never from within the call.
    private let schedule: @Sendable (@escaping @Sendable () -> Void) -> Void

    /// - Parameters:
    ///   - failure: Why it could not be opened.
    ///   - opensLater: False: there is no store behind it, so there are no tickets. Default: true.
    ///   - schedule: Runs the completion of a refused call later, in the order of the calls. Default: on a thread of its own.
    package init(
        _ failure: StoreFailure, opensLater: Bool = true,
        schedule: (@Sendable (@escaping @Sendable () -> Void) -> Void)? = nil
    ) {
        let thread = DispatchQueue(label: "layover.store.unavailable")
        self.schedule = schedule ?? { work in thread.async(execute: work) }
        self.opensLater = opensLater
        state = Mutex(.unavailable(failure))
    }

    /// Another try to open it failed, maybe for another reason.
    package func openingFailed(_ failure: StoreFailure) {
        state.withLock { if case .unavailable = $0 { $0 = .unavailable(failure) } }
    }

    /// The store is open.
    ///
    /// - Returns: False if this stand-in was closed before.
    package func opened(_ store: any PendingStore) -> Bool {
        state.withLock { state in
            guard case .unavailable = state else { return false }
            state = .open(store)
            return true
        }
    }

    private static let closed = StoreFailure(.closed, "The store is closed.")

    /// The open store, or the reason why there is none.
    private func store() throws(StoreFailure) -> any PendingStore {
        switch state.withLock({ $0 }) {
        case .unavailable(let failure): throw failure
        case .open(let store): return store
        case .closed: throw Self.closed
        }
    }

    private func ask<Value: Sendable>(
        _ done: @escaping @Sendable (Result<Value, StoreFailure>) -> Void, _ call: (any PendingStore) -> Void
    ) {
        do throws(StoreFailure) { call(try store()) } catch {
            schedule { done(.failure(error)) }
        }
    }

    // MARK: Asking

    package var isOpen: Bool { (try? store()) != nil }

    package var hasUnknownTickets: Bool {
        guard opensLater, case .unavailable = state.withLock({ $0 }) else { return false }
        return true
    }

    package var isUncertain: Bool { (try? store())?.isUncertain ?? false }

    package var condition: StoreCondition {
        do throws(StoreFailure) { return try store().condition } catch { return StoreCondition(failure: error) }
    }

    package func readLive(_ take: ([TicketRecord]) -> Void) throws(StoreFailure) { try store().readLive(take) }

    package func lastSequence() throws(StoreFailure) -> Int { try store().lastSequence() }

    package func endStates(of ids: [EntryID]) throws(StoreFailure) -> [EntryID: EntryState] {
        try store().endStates(of: ids)
    }

    package func clock(bootID: String, proposal: Int64, now: Timestamp) throws(StoreFailure) -> TicketClock {
        try store().clock(bootID: bootID, proposal: proposal, now: now)
    }

    package func commit(
        _ changes: [StoreChange], done: @escaping @Sendable (Result<[StoreResult], StoreFailure>) -> Void
    ) {
        ask(done) { $0.commit(changes, done: done) }
    }

    package func records(of ids: [EntryID], done: @escaping @Sendable (Result<[TicketRecord], StoreFailure>) -> Void) {
        ask(done) { $0.records(of: ids, done: done) }
    }

    package func ended(
        _ query: PendingQuery, naming: EntryNaming, done: @escaping @Sendable (Result<[ListedPlace], StoreFailure>) -> Void
    ) {
        ask(done) { $0.ended(query, naming: naming, done: done) }
    }

    package func request(of id: EntryID, done: @escaping @Sendable (Result<StoredRequest?, StoreFailure>) -> Void) {
        ask(done) { $0.request(of: id, done: done) }
    }

    package func response(of id: EntryID, done: @escaping @Sendable (Result<StoredResponse?, StoreFailure>) -> Void) {
        ask(done) { $0.response(of: id, done: done) }
    }

    package func ticket(
        ofKey key: [UInt8], done: @escaping @Sendable (Result<MarkedTicket?, StoreFailure>) -> Void
    ) {
        ask(done) { $0.ticket(ofKey: key, done: done) }
    }

    package func ids(done: @escaping @Sendable (Result<[EntryID], StoreFailure>) -> Void) {
        ask(done) { $0.ids(done: done) }
    }

    package func removeEnded(
        before: Timestamp, limit: Int, done: @escaping @Sendable (Result<Int, StoreFailure>) -> Void
    ) {
        ask(done) { $0.removeEnded(before: before, limit: limit, done: done) }
    }

    package func close() async {
        let old = state.withLock { state in
            defer { state = .closed }
            return state
        }
        if case .open(let store) = old { await store.close() }
    }
}
