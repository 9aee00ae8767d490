package import LayoverCore

/// An attempt of a ticket that is to be made: what its loop has to know besides what the store keeps.
package struct TicketReplay: Sendable {
    package var id: EntryID
    package var method: String
    package var origin: Origin
    package var trigger: AttemptTrigger
    package var policy: Policy
    package var route: String?
    package var counts: AttemptCounts
    /// What the request's own fields say about its policy: a reload may come before the attempt begins.
    package var wish: PolicyWish
    /// Whether a person took the risk that it acts twice.
    package var isForced: Bool
    package var hasIdempotencyKey: Bool
    package var parents: [EntryID]
    package var url: String
    /// Whether a person has seen what the origin says to the question of `preflight`, and wants it sent.
    package var skipsPreflight: Bool
}
