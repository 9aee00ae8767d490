package import LayoverCore

/// Where accepted tickets survive the process. Every store passes the contract suite (`PendingStoreContract`).
///
/// Changes are committed in the order in which `commit` was called, from any thread; changes handed in during a
/// commit are committed together. Completions come in the same order, each once, on any thread, and
/// never from within the call. A failure does not affect later calls: a store recovers by itself.
package protocol PendingStore: AnyObject, Sendable {
    /// Hands out all live tickets in the order of their sequence, in portions. Blocks; before the first commit.
    func readLive(_ take: ([TicketRecord]) -> Void) throws(StoreFailure)

    /// The highest sequence that was ever used; 0 when there was none.
    func lastSequence() throws(StoreFailure) -> Int

    /// The final states of tickets that have ended. Blocks.
    func endStates(of ids: [EntryID]) throws(StoreFailure) -> [EntryID: EntryState]

    /// How times on disk relate to the clock since boot: what was kept for this boot of the machine, or the
    /// proposal, which is kept from now on. So setting the date between two runs changes no deadline, and the time
    /// between two boots counts as unmeasured (`TicketClock.next`).
    ///
    /// - Parameter now: The time since boot. It is saved as by `StoreChange.seen`.
    func clock(bootID: String, proposal: Int64, now: Timestamp) throws(StoreFailure) -> TicketClock

    /// Commits changes as one group, all of them or none. One result for each.
    func commit(
        _ changes: [StoreChange],
        done: @escaping @Sendable (Result<[StoreResult], StoreFailure>) -> Void)

    /// Those that are there, live or final, as long as they are kept, in the order given.
    ///
    /// This and the calls below never block. They see at least what was committed when they were made, and complete
    /// once each, on any thread, never from within the call; the extension below has the same with `await`.
    func records(of ids: [EntryID], done: @escaping @Sendable (Result<[TicketRecord], StoreFailure>) -> Void)

    /// The first final tickets that a query is about, in its order, and one more than its page has if there are more.
    ///
    /// - Parameters:
    ///   - query: With times as they are on disk.
    ///   - naming: By what ids they are shown.
    func ended(
        _ query: PendingQuery, naming: EntryNaming, done: @escaping @Sendable (Result<[ListedPlace], StoreFailure>) -> Void)

    /// The request of a live ticket; nil if there is no such ticket.
    func request(of id: EntryID, done: @escaping @Sendable (Result<StoredRequest?, StoreFailure>) -> Void)

    /// The response of a delivered ticket; nil if the ticket has no response, or the response was dropped.
    func response(of id: EntryID, done: @escaping @Sendable (Result<StoredResponse?, StoreFailure>) -> Void)

    /// The ticket that was accepted with a mark of this key; nil if there is no such ticket.
    func ticket(
        ofKey key: [UInt8], done: @escaping @Sendable (Result<MarkedTicket?, StoreFailure>) -> Void)

    /// The ids of all tickets that are kept, live or final, in no order.
    func ids(done: @escaping @Sendable (Result<[EntryID], StoreFailure>) -> Void)

    /// Removes final tickets that ended before a measured time (`TicketRecord.endedMeasured`), oldest first, at most
    /// `limit`, with their responses, and completes with their number; fewer where their responses are big. 0: none is left to be
    /// removed. Parents of live tickets stay.
    func removeEnded(
        before: Timestamp, limit: Int, done: @escaping @Sendable (Result<Int, StoreFailure>) -> Void)

    /// Whether the store is open. Until then every call fails, and its content is unknown.
    var isOpen: Bool { get }

    /// Whether the store is to be opened later, and may have tickets of an earlier run that nobody knows of yet.
    var hasUnknownTickets: Bool { get }

    /// Whether changes of a failed commit may be on disk (`StoreFailure.mayBeStored`). A later commit of a change ends that.
    var isUncertain: Bool { get }

    /// The state that is shown to people.
    var condition: StoreCondition { get }

    /// Waits for all changes handed in, and closes the file.
    func close() async
}

extension PendingStore {
    package var isOpen: Bool { true }
    package var hasUnknownTickets: Bool { false }
    package var isUncertain: Bool { condition.failure?.mayBeStored == true }
}

/// The condition of a store.
package struct StoreCondition: Sendable, Hashable {
    /// The last failure; nil once a commit succeeded after it.
    package var failure: StoreFailure?
    /// Bytes of the database and its log.
    package var byteCount: Int
    /// How long commits took, from their begin to the sync of the disk.
    package var commitTimes: Histogram

    package init(
        failure: StoreFailure? = nil, byteCount: Int = 0, commitTimes: Histogram = Histogram(bounds: Histogram.delays)
    ) {
        self.failure = failure
        self.byteCount = byteCount
        self.commitTimes = commitTimes
    }
}

extension PendingStore {
    /// Waits for a call that completes once.
    private func result<Value: Sendable>(
        of call: (@escaping @Sendable (Result<Value, StoreFailure>) -> Void) -> Void
    ) async throws(StoreFailure) -> Value {
        try await withCheckedContinuation { continuation in call { continuation.resume(returning: $0) } }.get()
    }

    package func record(of id: EntryID) async throws(StoreFailure) -> TicketRecord? {
        try await records(of: [id]).first
    }

    /// A ticket, or the one that superseded it.
    func newestRecord(inPlaceOf id: EntryID) async throws(StoreFailure) -> TicketRecord? {
        var found = try await record(of: id)
        // Each is newer than the one before, so this ends.
        while let newer = found?.supersededBy {
            guard let next = try await record(of: newer) else { break }
            found = next
        }
        return found
    }

    package func records(of ids: [EntryID]) async throws(StoreFailure) -> [TicketRecord] {
        try await result { records(of: ids, done: $0) }
    }

    package func ended(_ query: PendingQuery, naming: EntryNaming) async throws(StoreFailure) -> [ListedPlace] {
        try await result { ended(query, naming: naming, done: $0) }
    }

    package func request(of id: EntryID) async throws(StoreFailure) -> StoredRequest? {
        try await result { request(of: id, done: $0) }
    }

    package func response(of id: EntryID) async throws(StoreFailure) -> StoredResponse? {
        try await result { response(of: id, done: $0) }
    }

    package func ticket(ofKey key: [UInt8]) async throws(StoreFailure) -> MarkedTicket? {
        try await result { ticket(ofKey: key, done: $0) }
    }

    package func ids() async throws(StoreFailure) -> [EntryID] {
        try await result { ids(done: $0) }
    }

    package func removeEnded(before: Timestamp, limit: Int) async throws(StoreFailure) -> Int {
        try await result { removeEnded(before: before, limit: limit, done: $0) }
    }

    package func commit(_ changes: [StoreChange]) async throws(StoreFailure) -> [StoreResult] {
        try await result { commit(changes, done: $0) }
    }
}

extension PendingStore {
    /// Hands out all live tickets: those without parents in portions, then those with parents, all together. Blocks.
    ///
    /// - Parameters:
    ///   - isLive: Asked once `take` has got the tickets without parents.
    ///   - take: Gets tickets, and how their parents ended that are not live any more.
    func readParentsFirst(
        isLive: (EntryID) -> Bool, _ take: ([TicketRecord], [EntryID: EntryState]) -> Void
    ) throws(StoreFailure) {
        var dependent: [TicketRecord] = []
        try readLive { portion in
            // Most portions have none, and to copy them takes time.
            guard portion.contains(where: { !$0.parents.isEmpty }) else { return take(portion, [:]) }
            dependent += portion.filter { !$0.parents.isEmpty }
            take(portion.filter { $0.parents.isEmpty }, [:])
        }
        take(dependent, try endStates(ofParentsOf: dependent, isLive: isLive))
    }

    /// How the parents of tickets ended that are neither among these nor live any more. Blocks.
    func endStates(
        ofParentsOf records: [TicketRecord], isLive: (EntryID) -> Bool
    ) throws(StoreFailure) -> [EntryID: EntryState] {
        let unknown = Set(records.flatMap(\.parents)).subtracting(records.map(\.id)).filter { !isLive($0) }
        return unknown.isEmpty ? [:] : try endStates(of: Array(unknown))
    }
}

extension PendingStore {
    /// Searches for the ticket of a key. Changes that are not committed yet count too. While it is not known whether a change is on disk,
    /// the search fails.
    ///
    /// - Parameter time: A change, to be committed if there is such a one.
    func certainTicket(
        ofKey key: [UInt8], time: StoreChange, done: @escaping @Sendable (Result<MarkedTicket?, StoreFailure>) -> Void
    ) {
        // The insertion of a ticket may be on disk although its commit failed. A later commit of a change settles that it is not.
        commit(isUncertain ? [time] : []) { _ in
            guard self.isUncertain else { return self.ticket(ofKey: key, done: done) }
            done(.failure(self.condition.failure ?? StoreFailure(.io, "The result of a change is not known.")))
        }
    }
}

/// Why a group of changes may not be on disk.
package struct StoreFailure: Error, Sendable, Hashable, CustomStringConvertible {
    package enum Kind: String, Sendable, Hashable, CaseIterable {
        /// The disk or a quota is full.
        case full
        /// The file system is read-only.
        case readOnly
        /// Reading or writing failed.
        case io
        /// The file is not a database of Layover, or is damaged.
        case corrupt
        /// Another process has the store.
        case locked
        /// The store is closed.
        case closed
        case other
    }

    package var kind: Kind
    /// A complete sentence. Never holds stored data.
    package var message: String
    /// Whether the changes may turn out to be on disk after a restart: the disk said neither yes nor no, and the
    /// next commit that succeeds makes it no. False: nothing of them is there, and nothing will be.
    package var mayBeStored: Bool

    package init(_ kind: Kind, _ message: String, mayBeStored: Bool = false) {
        self.kind = kind
        self.message = message
        self.mayBeStored = mayBeStored
    }

    package var description: String { "\(kind.rawValue): \(message)" }
}
