package import LayoverCore

/// An attempt of a ticket: the facts that its loop needs besides those in the store.
package struct TicketReplay: Sendable {
    package var request: RequestDescription
    /// Its wish is the policy in the request's own fields: a reload may come before the attempt begins.
    package var ticket: TicketFacts
    package var trigger: AttemptTrigger
    package var policy: Policy
    package var route: String?
    /// The parent proxy through which the engine takes it to go, by its gate. Nil: none.
    package var parentProxyGate: Origin?
    package var counts: AttemptCounts
    /// Whether a person accepted the risk that the request acts twice.
    package var isForced: Bool
    /// Whether a person has seen the response to `preflight` and retried the request all the same.
    package var skipsPreflight: Bool

    package var id: EntryID { request.id }
}
