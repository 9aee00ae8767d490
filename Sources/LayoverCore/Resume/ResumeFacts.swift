/// What resuming needs to know of the head of a response. Values as they came, without the white space around them.
package struct ResumeFacts: Sendable, Hashable {
    package var status: Int
    /// The announced length of the body. Nil: no length was announced.
    package var contentLength: Int?
    package var entityTag: String?
    package var lastModified: String?
    /// `Last-Modified` in seconds since 1970 (RFC 9110 section 5.6.7); nil if there is no date that can be read.
    package var lastModifiedSeconds: Int?
    /// The time of the response, likewise.
    package var dateSeconds: Int?
    package var acceptRanges: String?
    package var contentType: String?
    package var contentEncoding: String?
    package var contentRange: String?
    /// How many Content-Range fields there are.
    package var contentRangeCount = 0
    /// How long it asks to wait.
    package var retryAfter: Duration?

    package init(status: Int, contentLength: Int? = nil) {
        self.status = status
        self.contentLength = contentLength
    }
}

/// What resuming needs to know of a request.
package struct ResumableRequest: Sendable, Hashable {
    package var method: String
    package var purpose: RequestPurpose
    /// Whether the client asked for a part itself: the places in that are relative.
    package var hasRange: Bool
    /// Whether others may get the same response while it is on its way, or the client may get a ticket instead.
    package var mayGoElsewhere: Bool

    package init(method: String, purpose: RequestPurpose, hasRange: Bool, mayGoElsewhere: Bool) {
        self.method = method
        self.purpose = purpose
        self.hasRange = hasRange
        self.mayGoElsewhere = mayGoElsewhere
    }
}
