/// The rule whether sending a request twice does no harm.
///
/// It knows nothing of the body: whether there is one that can be sent twice is a question of its own (`RequestSummary`).
package struct Repeatability: Sendable, Hashable {
    package var purpose: RequestPurpose
    /// The method token as it came.
    package var method: String
    package var hasIdempotencyKey: Bool
    /// `repeatable` of the policy, as it is now: a reload may give the word or take it back.
    package var isDeclared: Bool

    package init(
        _ purpose: RequestPurpose = .transfer, method: String, hasIdempotencyKey: Bool = false, isDeclared: Bool = false
    ) {
        self.purpose = purpose
        self.method = method
        self.hasIdempotencyKey = hasIdempotencyKey
        self.isDeclared = isDeclared
    }

    /// Of a request as the pending set knows it.
    init(method: String, origin: Origin, hasIdempotencyKey: Bool, policy: Policy) {
        self.init(
            origin.scheme == .tunnel ? .dial : .transfer, method: method, hasIdempotencyKey: hasIdempotencyKey,
            isDeclared: policy.repeatable)
    }

    /// Whether a value of `Idempotency-Key` identifies a request. An empty one would identify all of them. The value may be a string
    /// of RFC 8941.
    package static func isKey(_ value: String) -> Bool { !value.isEmpty && value != "\"\"" }

    /// RFC 9110 section 9.2.2, or the client or the policy says so.
    package var mayBeSentTwice: Bool {
        switch purpose {
        case .dial:
            // CONNECT is no idempotent method, but a proxy sends none: it makes a connection, and nothing is sent before
            // that stands.
            true
        case .transfer, .upgrade:
            // An upgrade is a request like any other until its origin agrees.
            isDeclared || hasIdempotencyKey || RequestMethod.isIdempotent(method)
        }
    }
}

/// The safe methods, and the idempotent ones (RFC 9110 section 9.2): the one list of each.
///
/// Methods are case-sensitive (section 9.1), and an unknown one may change anything. A preflight may use only some of the safe methods, and
/// the cache keeps the responses to some of them only.
package enum RequestMethod {
    /// Whether the method asks for no change (section 9.2.1; QUERY: RFC 10008).
    package static func isSafe(_ method: String) -> Bool {
        switch method {
        case "GET", "HEAD", "OPTIONS", "TRACE", "QUERY": true
        default: false
        }
    }

    /// Whether doing it twice has the effect of doing it once (section 9.2.2).
    package static func isIdempotent(_ method: String) -> Bool {
        isSafe(method) || method == "PUT" || method == "DELETE"
    }
}
