package import LayoverCore

/// An attempt of a ticket: the facts that its loop needs besides those in the store.
package struct TicketReplay: Sendable {
    package var id: EntryID
    package var method: String
    package var origin: Origin
    package var trigger: AttemptTrigger
    package var policy: Policy
    package var route: String?
    package var counts: AttemptCounts
    /// The policy in the request's own fields: a reload may come before the attempt begins.
    package var wish: PolicyWish
    /// Whether a person accepted the risk that the request acts twice.
    package var isForced: Bool
    package var hasIdempotencyKey: Bool
    package var parents: [EntryID]
    package var url: String
    /// Whether a person has seen the response to `preflight` and retried the request all the same.
    package var skipsPreflight: Bool
}
