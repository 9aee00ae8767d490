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
        /// A part was sent on and not kept: it went over `limits.bodyMax`, or nobody could have sent it twice.
        case lost
        /// The client broke off before the end.
        case brokenOff
    }

    /// The method token as it came; methods are case-sensitive (RFC 9110 section 9.1).
    package var method: String
    package var hasIdempotencyKey: Bool
    /// `repeatable` of the policy, as it is now: a reload may give the word or take it back.
    package var declaredRepeatable: Bool
    package var body: Body

    package init(
        method: String, hasIdempotencyKey: Bool = false, declaredRepeatable: Bool = false,
        body: Body = .none
    ) {
        self.method = method
        self.hasIdempotencyKey = hasIdempotencyKey
        self.declaredRepeatable = declaredRepeatable
        self.body = body
    }

    /// Whether sending it twice does no harm: RFC 9110 section 9.2.2, or the client or the route says so.
    package var mayBeSentTwice: Bool {
        declaredRepeatable || Self.isRepeatable(method: method, hasIdempotencyKey: hasIdempotencyKey)
    }

    /// Whether sending it twice does no harm by its own nature, whatever a policy says.
    package static func isRepeatable(method: String, hasIdempotencyKey: Bool) -> Bool {
        hasIdempotencyKey || RequestMethod.isIdempotent(method)
    }

    /// Whether it may be sent again after an attempt that may have been applied.
    package var isRepeatable: Bool {
        mayBeSentTwice && (body == .none || body == .captured)
    }

    /// Whether it can be sent as if for the first time, after an attempt that sent nothing.
    package var canBeSentFromTheStart: Bool { body != .lost && body != .brokenOff }
}
