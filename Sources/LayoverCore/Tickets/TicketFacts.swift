/// What an entry has besides when it is a ticket: a request in the store that no client holds.
package struct TicketFacts: Sendable, Hashable {
    /// What the request's own fields say about its policy.
    package var wish: PolicyWish
    /// The tickets that have to be delivered before it.
    package var parents: [EntryID]
    /// When its credentials expire; nil where nothing says so.
    package var notAfter: Timestamp?
    /// What it expects of the present state of its target (RFC 9110 section 13.1, and the range of a partial PUT), as
    /// text that is equal for equal expectations; nil: nothing.
    package var preconditions: String?
    package var counts = AttemptCounts()
    /// The status of the answer, once it is delivered.
    package var status: Int?

    package init(
        wish: PolicyWish = PolicyWish(), parents: [EntryID] = [], notAfter: Timestamp? = nil,
        preconditions: String? = nil
    ) {
        self.wish = wish
        self.parents = parents
        self.notAfter = notAfter
        self.preconditions = preconditions
    }
}
