/// What the rules need to know of a request.
package struct RequestSummary: Sendable, Hashable {
    /// How much of the request's body could be sent once more.
    package enum Body: Sendable, Hashable {
        /// There is no body.
        case none
        /// Still arriving, and every byte so far is kept.
        case arriving
        /// Captured whole.
        case captured
        /// A part was sent on and not kept: it went over `limits.bodyMax`, or it could not have been sent twice.
        case lost
        /// The client broke off before the end.
        case brokenOff
    }

    package var repeatability: Repeatability
    package var body: Body
    /// Whether a field makes it conditional (`PreconditionField`). Only repetitions are asked; false elsewhere.
    package var hasPrecondition: Bool
    /// Whether it is judged as a ticket: it is one, or it becomes one if it has to wait, because its client has closed its side. Set by the
    /// machine where a verdict depends on it.
    var isTicket = false

    package init(_ repeatability: Repeatability, body: Body = .none, hasPrecondition: Bool = false) {
        self.repeatability = repeatability
        self.body = body
        self.hasPrecondition = hasPrecondition
    }

    /// Whether sending the request twice does no harm.
    package var mayBeSentTwice: Bool { repeatability.mayBeSentTwice }

    /// Whether the request may be sent again after an attempt that may have been applied.
    package var isRepeatable: Bool {
        mayBeSentTwice && isWhole
    }

    /// Whether the body is there to its end, so that the request can be sent once more as it is.
    package var isWhole: Bool { body == .none || body == .captured }

    /// Whether the request can be sent as if for the first time, after an attempt that sent nothing.
    package var canBeSentFromTheStart: Bool { body != .lost && body != .brokenOff }
}

/// Facts of a response that the rules need.
package struct ResponseSummary: Sendable, Hashable {
    package var status: Int
    /// The wait that the origin asks for (RFC 9110 section 10.2.3). Nil: the response names no wait.
    package var retryAfter: Duration?
    /// Whether the origin says that another attempt is of no use.
    package var forbidsRetry: Bool

    package init(status: Int, retryAfter: Duration? = nil, forbidsRetry: Bool = false) {
        self.status = status
        self.retryAfter = retryAfter
        self.forbidsRetry = forbidsRetry
    }
}

/// The task of an attempt.
package enum RequestPurpose: Sendable, Hashable {
    /// Send a request and receive its response.
    case transfer
    /// Make a connection and hand it over (CONNECT).
    case dial
    /// The same; the exchange sends the request on the dialled socket, which may become a tunnel (`Upgrade`).
    case upgrade
}
