/// What an entry has besides when it is a ticket: a request in the store that no client holds.
package struct TicketFacts: Sendable, Hashable {
    /// What the request's own fields say about its policy.
    package var wish: PolicyWish
    /// The tickets that have to be delivered before it, in no order.
    package var parents: [EntryID]
    /// When its credentials expire; nil where nothing says so.
    package var notAfter: Timestamp?
    /// The status of the response, once it is delivered.
    package var status: Int?
    /// How it came by the base URL of its route; nil where it did not.
    package var baseURL: BaseURLForm?

    package init(wish: PolicyWish = PolicyWish(), parents: [EntryID] = [], notAfter: Timestamp? = nil, baseURL: BaseURLForm? = nil) {
        self.wish = wish
        self.parents = parents
        self.notAfter = notAfter
        self.baseURL = baseURL
    }
}
