/// What the rules need to know of a response.
package struct ResponseSummary: Sendable, Hashable {
    package var status: Int
    /// The wait that the origin asks for (RFC 9110 section 10.2.3). Nil: it does not say.
    package var retryAfter: Duration?
    /// Whether the origin says that another attempt is of no use.
    package var forbidsRetry: Bool

    package init(status: Int, retryAfter: Duration? = nil, forbidsRetry: Bool = false) {
        self.status = status
        self.retryAfter = retryAfter
        self.forbidsRetry = forbidsRetry
    }
}
