/// How it stands with tickets and the disk at one moment.
package struct StoreStatus: Sendable, Hashable {
    package var condition: StoreCondition
    /// Tickets whose newest change the disk would not take. It is tried again and again.
    package var unsavedCount: Int
    /// Tickets that were accepted since the start.
    package var acceptedCount: Int
    /// Groups of changes, or requests, that the disk would not take since the start.
    package var failureCount: Int
    /// How long ended tickets are kept; nil: nobody said.
    package var history: Duration?
}

extension Engine {
    /// Nil where there is no store, and so no tickets.
    package func storeStatus() -> StoreStatus? {
        store.map { store in
            StoreStatus(
                condition: store.condition, unsavedCount: tickets.unsaved.count,
                acceptedCount: totals.acceptedCount, failureCount: totals.storeFailureCount,
                history: tickets.history)
        }
    }
}
