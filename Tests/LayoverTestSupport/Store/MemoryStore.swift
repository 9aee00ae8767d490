import Dispatch
package import LayoverCore
package import LayoverEngine
import Synchronization

/// A store in memory, for simulations and as the plainest reading of the contract.
///
/// What is committed lies in a `MemoryDisk`, which outlives the store: open another store on it, and the process has
/// started anew. Nothing happens within a call; everything is handed to `schedule`, which a simulation runs when its
/// clock says so. All that was handed in by then is one commit.
package final class MemoryStore: PendingStore {
    private struct Call {
        var changes: [StoreChange]
        var done: @Sendable (Result<[StoreResult], StoreFailure>) -> Void
    }

    private struct State {
        var calls: [Call] = []
        var isScheduled = false
        var isDead = false
        var isClosed = false
        var commitCount = 0
        var crashPointCount = 0
        var failure: StoreFailure?
    }

    private let disk: MemoryDisk
    private let faults: MemoryFaults
    private let schedule: @Sendable (@escaping @Sendable () -> Void) -> Void
    private let state = Mutex(State())

    /// - Parameter schedule: Runs work later, in the order in which it came, never at once. Default: on a thread of
    ///   its own.
    package init(
        on disk: MemoryDisk, faults: MemoryFaults = MemoryFaults(),
        schedule: (@Sendable (@escaping @Sendable () -> Void) -> Void)? = nil
    ) {
        self.disk = disk
        self.faults = faults
        let thread = DispatchQueue(label: "memory store")
        self.schedule = schedule ?? { work in thread.async(execute: work) }
        disk.open()
    }

    /// Bytes of all bodies that are kept.
    package var bodyByteCount: Int { disk.content.bodyByteCount }

    /// Calls back with the size of each removed body.
    package func notifyRemoved(_ removed: @escaping @Sendable (Int) -> Void) { disk.notifyRemoved(removed) }

    /// Commits that were begun so far.
    package var commitCount: Int { state.withLock { $0.commitCount } }

    /// Points passed so far at which the process could have died: three for each commit.
    package var crashPointCount: Int { state.withLock { $0.crashPointCount } }

    /// The process dies: whatever is not committed is lost, and nobody is told anything any more.
    package func die() { state.withLock { $0.isDead = true } }

    package var isDead: Bool { state.withLock { $0.isDead } }

    // MARK: Changes

    package func commit(
        _ changes: [StoreChange], done: @escaping @Sendable (Result<[StoreResult], StoreFailure>) -> Void
    ) {
        let (isClosed, schedules) = state.withLock { state in
            if state.isClosed { return (true, false) }
            state.calls.append(Call(changes: changes, done: done))
            defer { state.isScheduled = true }
            return (false, !state.isScheduled)
        }
        if isClosed { schedule { done(.failure(Self.closed)) } }
        if schedules { schedule { [self] in commitWhatCame() } }
    }

    private func commitWhatCame() {
        let (calls, number) = state.withLock { state in
            let calls = state.calls
            state.calls = []
            state.isScheduled = false
            if !calls.isEmpty { state.commitCount += 1 }
            return (calls, state.commitCount)
        }
        guard !calls.isEmpty, !passesCrashPoint() else { return }
        let results = disk.commit(
            calls.map(\.changes), refusals: calls.map { faults.refusal($0.changes) }, failure: faults.failure(ofCommit: number))
        state.withLock { state in
            state.failure = results.lazy.compactMap { if case .failure(let failure) = $0 { failure } else { nil } }.last
        }
        guard !passesCrashPoint() else { return }
        // Some have heard, some have not.
        let half = calls.count / 2
        for index in calls.indices {
            if index == half, passesCrashPoint() { return }
            calls[index].done(results[index])
        }
    }

    /// True if the process dies at this point.
    private func passesCrashPoint() -> Bool {
        let (isDead, dies) = state.withLock { state in
            if state.isDead { return (true, false) }
            state.crashPointCount += 1
            guard state.crashPointCount == faults.crashPoint else { return (false, false) }
            state.isDead = true
            return (true, true)
        }
        if dies { faults.died() }
        return isDead
    }

    // MARK: Reading

    package func readLive(_ take: ([TicketRecord]) -> Void) throws(StoreFailure) {
        let live = disk.content.tickets.values.map(\.record).filter { !$0.state.isFinal }
            .sorted { $0.sequence < $1.sequence }
        for start in stride(from: 0, to: live.count, by: 100) {
            take(Array(live[start..<min(start + 100, live.count)]))
        }
    }

    package func lastSequence() throws(StoreFailure) -> Int { disk.content.lastSequence }

    package func endStates(of ids: [EntryID]) throws(StoreFailure) -> [EntryID: EntryState] {
        let tickets = disk.content.tickets
        return ids.reduce(into: [:]) { states, id in
            if let state = tickets[id]?.record.state, state.isFinal { states[id] = state }
        }
    }

    package func clock(bootID: String, proposal: Int64, now: Timestamp) throws(StoreFailure) -> TicketClock {
        disk.clock(bootID: bootID, proposal: proposal, now: now)
    }

    package func records(of ids: [EntryID], done: @escaping @Sendable (Result<[TicketRecord], StoreFailure>) -> Void) {
        read(done) { content in ids.compactMap { content.tickets[$0]?.record } }
    }

    package func ended(
        _ query: PendingQuery, naming: EntryNaming, done: @escaping @Sendable (Result<[ListedPlace], StoreFailure>) -> Void
    ) {
        read(done) { content in
            let matcher = EntryMatcher(query.filter, naming)
            var selection = PageSelection(query, naming)
            for ticket in content.tickets.values where ticket.record.state.isFinal && matcher.matches(ticket.record) {
                selection.add(ticket.record)
            }
            return selection.places()
        }
    }

    package func request(of id: EntryID, done: @escaping @Sendable (Result<StoredRequest?, StoreFailure>) -> Void) {
        if let failure = faults.unreadable() { return schedule { done(.failure(failure)) } }
        read(done) { $0.tickets[id]?.request }
    }

    package func response(of id: EntryID, done: @escaping @Sendable (Result<StoredResponse?, StoreFailure>) -> Void) {
        read(done) { $0.tickets[id]?.answer }
    }

    package func ticket(
        ofKey key: [UInt8], done: @escaping @Sendable (Result<MarkedTicket?, StoreFailure>) -> Void
    ) {
        if let failure = faults.unsearchable() { return schedule { done(.failure(failure)) } }
        read(done) { content in
            content.tickets.values.first { $0.mark?.key == key }
                .map { MarkedTicket(id: $0.record.id, payload: $0.mark?.payload ?? []) }
        }
    }

    package func ids(done: @escaping @Sendable (Result<[EntryID], StoreFailure>) -> Void) {
        read(done) { Array($0.tickets.keys) }
    }

    private func read<Value: Sendable>(
        _ done: @escaping @Sendable (Result<Value, StoreFailure>) -> Void,
        _ body: @escaping @Sendable (MemoryContent) -> Value
    ) {
        schedule { [self] in
            let (isClosed, isDead) = state.withLock { ($0.isClosed, $0.isDead) }
            if isDead { return }
            done(isClosed ? .failure(Self.closed) : .success(body(disk.content)))
        }
    }

    package func removeEnded(
        before time: Timestamp, limit: Int, done: @escaping @Sendable (Result<Int, StoreFailure>) -> Void
    ) {
        read(done) { [disk] _ in disk.removeEnded(before: time, limit: limit) }
    }

    // MARK: Standing

    package var condition: StoreCondition {
        StoreCondition(failure: state.withLock { $0.failure }, byteCount: disk.content.tickets.count)
    }

    package func close() async {
        await withCheckedContinuation { continuation in
            commit([]) { _ in continuation.resume() }
            state.withLock { $0.isClosed = true }
        }
    }

    private static let closed = StoreFailure(.closed, "The store is closed.")
}

/// Faults of a `MemoryStore`.
package struct MemoryFaults: Sendable {
    /// Commits that fail, by their number from 1. With `mayBeStored` the changes are there after a restart, unless a
    /// later commit succeeds before it.
    package var failures: [Int: StoreFailure]
    /// The failure of every commit; evaluated at each. Default: nil, no failure.
    package var trouble: @Sendable () -> StoreFailure?
    /// The failure of a call with these changes, as at a damaged page, while the other calls of the commit may succeed;
    /// evaluated for each call. Default: nil, no failure.
    package var refusal: @Sendable ([StoreChange]) -> StoreFailure? = { _ in nil }
    /// The failure of every reading of a request; evaluated at each. Default: nil, no failure.
    package var unreadable: @Sendable () -> StoreFailure? = { nil }
    /// The failure of every search for a key; evaluated at each. Default: nil, no failure.
    package var unsearchable: @Sendable () -> StoreFailure? = { nil }
    /// The point at which the process dies, from 1. Each commit has three: before it, after it, and when half of
    /// those who wait for it have been told.
    package var crashPoint: Int?
    /// Told when it dies.
    package var died: @Sendable () -> Void

    package init(
        failures: [Int: StoreFailure] = [:], crashPoint: Int? = nil, died: @escaping @Sendable () -> Void = {},
        trouble: @escaping @Sendable () -> StoreFailure? = { nil }
    ) {
        self.failures = failures
        self.crashPoint = crashPoint
        self.died = died
        self.trouble = trouble
    }

    func failure(ofCommit number: Int) -> StoreFailure? { trouble() ?? failures[number] }
}
