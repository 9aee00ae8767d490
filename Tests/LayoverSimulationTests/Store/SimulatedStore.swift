import LayoverCore
import LayoverTestSupport

@testable import LayoverEngine

/// A `MemoryStore` on the virtual clock, of one life of the process.
///
/// `@unchecked Sendable`: a simulation runs on one thread from its beginning to its end.
final class SimulatedStore: PendingStore, @unchecked Sendable {
    private let memory: MemoryStore
    /// Completions of open calls, which would otherwise wait for ever after the death of the process.
    private var open: [Int: (StoreFailure) -> Void] = [:]
    private var callCount = 0
    private(set) var isDead = false
    /// Told of what the disk said to changes, before anybody else is: whether it took them, and whether a mark of an
    /// attempt was among them.
    var heard: ((_ isTaken: Bool, _ isMark: Bool) -> Void)?
    /// Completions for callers of a dead process, in order.
    private var lastWords: [() -> Void] = []

    init(_ memory: MemoryStore) { self.memory = memory }

    /// The process dies: whoever waits in it is let go, where it changes nothing any more.
    func die() {
        isDead = true
        memory.die()
        for (_, fail) in open.sorted(by: { $0.key < $1.key }) { lastWords.append { fail(Self.dead) } }
        open = [:]
    }

    /// - Returns: True if there were any.
    func sayLastWords() -> Bool {
        let words = lastWords
        lastWords = []
        for word in words { word() }
        return !words.isEmpty
    }

    private func once<Value>(
        _ done: @escaping @Sendable (Result<Value, StoreFailure>) -> Void
    ) -> (@Sendable (Result<Value, StoreFailure>) -> Void)? {
        guard !isDead else {
            lastWords.append { done(.failure(Self.dead)) }
            return nil
        }
        callCount += 1
        let number = callCount
        open[number] = { done(.failure($0)) }
        return { [weak self] result in
            if self?.open.removeValue(forKey: number) != nil { done(result) }
        }
    }

    private static let dead = StoreFailure(.closed, "The process is dead.")

    // MARK: PendingStore

    func readLive(_ take: ([TicketRecord]) -> Void) throws(StoreFailure) { try memory.readLive(take) }

    func lastSequence() throws(StoreFailure) -> Int { try memory.lastSequence() }

    func endStates(of ids: [EntryID]) throws(StoreFailure) -> [EntryID: EntryState] {
        try memory.endStates(of: ids)
    }

    func clock(bootID: String, proposal: Int64, now: Timestamp) throws(StoreFailure) -> TicketClock {
        try memory.clock(bootID: bootID, proposal: proposal, now: now)
    }

    func commit(
        _ changes: [StoreChange], done: @escaping @Sendable (Result<[StoreResult], StoreFailure>) -> Void
    ) {
        guard let done = once(done) else { return }
        let isMark = changes.contains { if case .started = $0 { true } else { false } }
        memory.commit(changes) { [weak self] result in
            let isTaken = if case .success = result { true } else { false }
            if !changes.isEmpty { self?.heard?(isTaken, isMark) }
            done(result)
        }
    }

    func records(of ids: [EntryID], done: @escaping @Sendable (Result<[TicketRecord], StoreFailure>) -> Void) {
        if let done = once(done) { memory.records(of: ids, done: done) }
    }

    func ended(
        _ query: PendingQuery, naming: EntryNaming, done: @escaping @Sendable (Result<[ListedPlace], StoreFailure>) -> Void
    ) {
        if let done = once(done) { memory.ended(query, naming: naming, done: done) }
    }

    func request(of id: EntryID, done: @escaping @Sendable (Result<StoredRequest?, StoreFailure>) -> Void) {
        if let done = once(done) { memory.request(of: id, done: done) }
    }

    func response(of id: EntryID, done: @escaping @Sendable (Result<StoredResponse?, StoreFailure>) -> Void) {
        if let done = once(done) { memory.response(of: id, done: done) }
    }

    func ticket(
        ofKey key: [UInt8], done: @escaping @Sendable (Result<MarkedTicket?, StoreFailure>) -> Void
    ) {
        if let done = once(done) { memory.ticket(ofKey: key, done: done) }
    }

    func ids(done: @escaping @Sendable (Result<[EntryID], StoreFailure>) -> Void) {
        if let done = once(done) { memory.ids(done: done) }
    }

    func removeEnded(
        before time: Timestamp, limit: Int, done: @escaping @Sendable (Result<Int, StoreFailure>) -> Void
    ) {
        if let done = once(done) { memory.removeEnded(before: time, limit: limit, done: done) }
    }

    var condition: StoreCondition { memory.condition }

    func close() async { await memory.close() }
}
