import Testing

@testable import LayoverCore

struct RepeatabilityTests {
    private static let idempotent = ["GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE"]
    private static let others = ["POST", "PATCH", "CONNECT", "get", "PROPFIND", ""]

    /// By what a request is, besides its method: whether it may be sent twice with an idempotent method, and with another.
    @Test(arguments: [
        (RequestPurpose.transfer, false, false, true, false),
        (.transfer, true, false, true, true),
        (.transfer, false, true, true, true),
        (.transfer, true, true, true, true),
        (.upgrade, false, false, true, false),
        (.upgrade, true, false, true, true),
        (.upgrade, false, true, true, true),
        (.upgrade, true, true, true, true),
        (.dial, false, false, true, true),
        (.dial, true, false, true, true),
        (.dial, false, true, true, true),
        (.dial, true, true, true, true),
    ])
    func methodPurposeKeyAndPolicyDecideRepeatability(
        purpose: RequestPurpose, hasKey: Bool, isDeclared: Bool, withIdempotentMethod: Bool, withOtherMethod: Bool
    ) {
        for (methods, mayBeSentTwice) in [(Self.idempotent, withIdempotentMethod), (Self.others, withOtherMethod)] {
            for method in methods {
                let rule = Repeatability(purpose, method: method, hasIdempotencyKey: hasKey, isDeclared: isDeclared)
                #expect(rule.mayBeSentTwice == mayBeSentTwice, "\(method)")
            }
        }
    }

    @Test(arguments: [("http://a", "POST", false), ("https://a", "POST", false), ("http://a", "PUT", true), ("tunnel", "CONNECT", true)])
    func tunnelIsRepeatableByItsOriginScheme(origin: String, method: String, mayBeSentTwice: Bool) {
        let scheme: Origin.Scheme = origin == "tunnel" ? .tunnel : origin.hasPrefix("https") ? .https : .http
        let origin = Origin(scheme: scheme, host: "a", port: 443)
        for (hasKey, isDeclared) in [(false, false), (true, false), (false, true)] {
            var policy = Policy.standard
            policy.repeatable = isDeclared
            let rule = Repeatability(method: method, origin: origin, hasIdempotencyKey: hasKey, policy: policy)
            #expect(rule.mayBeSentTwice == (mayBeSentTwice || hasKey || isDeclared))
        }
    }
}
