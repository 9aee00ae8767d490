/// The state of the ticket store at one moment.
package struct StoreStatus: Sendable, Hashable {
    package var condition: StoreCondition
    /// Tickets whose newest change the store refused. Saving it is repeated until it succeeds.
    package var unsavedCount: Int
    /// Tickets that were accepted since the start.
    package var acceptedCount: Int
    /// Groups of changes, or requests, that the store refused since the start.
    package var failureCount: Int
    /// How long ended tickets are kept; nil until it is set.
    package var history: Duration?
}
