/// What a request is: the same from its arrival to its end, whatever becomes of its attempts.
///
/// A new entry, an entry of the pending set, the record of a ticket and its replay have the same one.
package struct RequestDescription: Sendable, Hashable {
    /// The address of its ticket too, and so a secret of its client: it is shown by another one (`EntryNaming`).
    package let id: EntryID
    package var method: String
    /// The target without userinfo; `host:port` for CONNECT.
    package var url: String
    package var origin: Origin
    package var createdAt: Timestamp
    package var hasIdempotencyKey: Bool
    /// Whether it carries a body or credentials over plain http: a captive portal must not get it.
    package var isExposed: Bool
    /// True if `url` is only the beginning of it. The whole URL is in the row of its ticket. Never set before the ticket has
    /// ended and that is on disk.
    package var isURLInStore = false
    /// What it expects of the present state of its target (RFC 9110 section 13.1, and the range of a partial PUT), as
    /// text that is equal for equal expectations; nil: nothing.
    package var preconditions: String?

    package init(
        id: EntryID, method: String, url: String, origin: Origin, createdAt: Timestamp, hasIdempotencyKey: Bool = false,
        isExposed: Bool = false, preconditions: String? = nil
    ) {
        self.id = id
        self.method = method
        self.url = url
        self.origin = origin
        self.createdAt = createdAt
        self.hasIdempotencyKey = hasIdempotencyKey
        self.isExposed = isExposed
        self.preconditions = preconditions
    }
}
