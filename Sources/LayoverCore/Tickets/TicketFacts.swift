/// Facts that only the entry of a ticket has: its request is in the store, and no client holds it.
package struct TicketFacts: Sendable, Hashable {
    /// The policy that the request's own fields name.
    package var wish: PolicyWish
    /// The tickets that have to be delivered before this one, in no order.
    package var parents: [EntryID]
    /// When the credentials of the request expire; nil if no credential names a time.
    package var notAfter: Timestamp?
    /// The status of the response, once it is delivered.
    package var status: Int?
    /// The form of the base URL by which the request came; nil if it came by none.
    package var baseURL: BaseURLForm?

    package init(wish: PolicyWish = PolicyWish(), parents: [EntryID] = [], notAfter: Timestamp? = nil, baseURL: BaseURLForm? = nil) {
        self.wish = wish
        self.parents = parents
        self.notAfter = notAfter
        self.baseURL = baseURL
    }
}
