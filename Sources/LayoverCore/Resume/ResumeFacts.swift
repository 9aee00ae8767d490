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

/// How far a response is that broke off and is to go on.
package struct ResumeProgress: Sendable, Hashable {
    /// Bytes of the body that the recipient has.
    package var done: Int
    /// Bytes of the whole body.
    package var total: Int
    /// How often it went on.
    package var times: Int

    package init(done: Int, total: Int, times: Int) {
        self.done = done
        self.total = total
        self.times = times
    }
}

/// What follows the response to a request for the rest of a body.
package enum ContinuationVerdict: Sendable, Hashable {
    /// The body of the response is passed on, as far as the recipient does not have it.
    case goOn
    /// The origin cannot answer now.
    case askAgain
    /// The recipient is cut off.
    case refuse(ContinuationRefusal)
}

/// Why a response does not continue the one that broke off.
package enum ContinuationRefusal: Sendable, Hashable {
    /// The response is of another representation, or does not say of which.
    case changed
    /// The response has another Content-Encoding.
    case encoding
    /// The response is not the part that was asked for, or does not say which part it is.
    case range
    /// The Content-Length is not that of the part.
    case length
    /// The response has several parts.
    case multipart
    /// More bytes came than the response announced.
    case tooLong
    /// A status that is neither 206 nor one of those that ask to come later.
    case status(Int)

    /// A sentence for people.
    package var message: String {
        switch self {
        case .changed: "The response broke off, and the origin has another version of it now (validatorRejected)."
        case .encoding: "The response broke off, and its rest came in another Content-Encoding."
        case .range: "The response broke off, and what came is not the rest that was asked for."
        case .length: "The response broke off, and the Content-Length of its rest contradicts its Content-Range."
        case .multipart: "The response broke off, and its rest came in several parts."
        case .tooLong: "The response broke off, and its rest was longer than announced."
        case .status(let status): "The response broke off, and the request for its rest was answered with status \(status)."
        }
    }
}
