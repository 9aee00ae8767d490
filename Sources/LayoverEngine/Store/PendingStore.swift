package import LayoverCore

/// Where accepted tickets survive the process. Every store passes the contract suite (`PendingStoreContract`).
///
/// Changes are committed in the order in which `commit` was called, from whatever thread; what is handed in while
/// a commit is under way is committed together. Completions come in the same order, each once, on any thread, and
/// never from within the call. After a failure later calls are tried anew: a store recovers by itself.
package protocol PendingStore: AnyObject, Sendable {
    /// Hands out all live tickets in the order of their sequence, in portions. Blocks; before the first commit.
    func readLive(_ take: ([TicketRecord]) -> Void) throws(StoreFailure)

    /// The highest sequence that was ever used; 0 when there was none.
    func lastSequence() throws(StoreFailure) -> Int

    /// How tickets ended that are not live any more. Blocks.
    func endStates(of ids: [EntryID]) throws(StoreFailure) -> [EntryID: EntryState]

    /// How times on disk relate to the clock since boot: what was kept for this boot of the machine, or the
    /// proposal, which is kept from now on. So a date that somebody sets between two runs changes no deadline; and what
    /// the date says of the time between two boots counts as unmeasured (`TicketClock.next`).
    ///
    /// - Parameter now: The time since boot; a sign as `StoreChange.seen` leaves it.
    func clock(bootID: String, proposal: Int64, now: Timestamp) throws(StoreFailure) -> TicketClock

    /// Commits changes as one group, all of them or none. One result for each.
    func commit(
        _ changes: [StoreChange],
        done: @escaping @Sendable (Result<[StoreResult], StoreFailure>) -> Void)

    /// Live or final, as long as it is kept; nil if there is none.
    ///
    /// This and the calls below never block. They see at least what was committed when they were made, and complete
    /// once each, on any thread, never from within the call; `PendingStore+Async.swift` has the same with `await`.
    func record(of id: EntryID, done: @escaping @Sendable (Result<TicketRecord?, StoreFailure>) -> Void)

    /// The request of a live ticket; nil if there is none.
    func request(of id: EntryID, done: @escaping @Sendable (Result<StoredRequest?, StoreFailure>) -> Void)

    /// The answer of a delivered ticket; nil if there is none or it was dropped.
    func answer(of id: EntryID, done: @escaping @Sendable (Result<StoredAnswer?, StoreFailure>) -> Void)

    /// The ticket that was accepted with a mark of this key; nil if there is none.
    func ticket(
        ofKey key: [UInt8], done: @escaping @Sendable (Result<MarkedTicket?, StoreFailure>) -> Void)

    /// Removes final tickets that ended before a measured time (`TicketRecord.endedMeasured`), oldest first, at most so
    /// many, with their answers, and says how many were removed. Those that live tickets name as parents stay.
    func removeEnded(
        before: Timestamp, limit: Int, done: @escaping @Sendable (Result<Int, StoreFailure>) -> Void)

    /// Whether it could be opened. While it was not, every call fails, and nobody knows what it holds.
    var isOpen: Bool { get }

    /// The state people are shown.
    var condition: StoreCondition { get }

    /// Waits for what was handed in, and lets go of the file.
    func close() async
}

extension PendingStore {
    package var isOpen: Bool { true }
}

/// How a store is doing.
package struct StoreCondition: Sendable, Hashable {
    /// The last failure; nil once a commit succeeded after it.
    package var failure: StoreFailure?
    /// Bytes of the database and its log.
    package var byteCount: Int

    package init(failure: StoreFailure? = nil, byteCount: Int = 0) {
        self.failure = failure
        self.byteCount = byteCount
    }
}
