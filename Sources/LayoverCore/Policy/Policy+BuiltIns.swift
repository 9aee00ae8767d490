import Retry

/// The policies that are there without a configuration. A file can change each by its name.
extension Policy {
    package static let standard = Policy(name: "default")

    package static let builtIns: [Policy] = [standard, ask, outbox, sidecar, ratelimited, ai]

    /// Three retries, three seconds apart, and then a person decides.
    package static let ask = make("ask") { policy in
        policy.delay = .constant(.seconds(3))
        policy.automaticAttemptsMax = 4
        policy.onExhausted = .ask
    }

    /// Accepts now and delivers later, each origin's tickets in order, for up to a week.
    package static let outbox = make("outbox") { policy in
        policy.mode = .defer
        policy.lifetime = .seconds(7 * 24 * 3600)
        policy.lane = .origin
        policy.delay = .exponential(initial: .seconds(1), multiplier: 2, max: .seconds(300), jitter: .full)
    }

    /// For a service beside its dependency that restarts. The time that its clients wait is the bound, not a count.
    package static let sidecar = make("sidecar") { policy in
        policy.holdMax = .seconds(30)
        policy.retryOn = [.connectivity, .status(502), .status(503), .status(504)]
    }

    /// For an interface that limits its callers: waits as long as it is told to.
    package static let ratelimited = make("ratelimited") { policy in
        policy.retryOn = [.connectivity, .status(429), .status(503)]
    }

    /// For providers of language models, which limit their callers and are overloaded now and then (529).
    package static let ai = make("ai") { policy in
        policy.retryOn = [.connectivity, .status(429), .status(503), .status(529)]
        // A model that goes on generating costs money, and its answer is for its client alone.
        policy.unattendedMax = .zero
    }

    private static func make(_ name: String, _ change: (inout Policy) -> Void) -> Policy {
        var policy = Policy(name: name)
        change(&policy)
        return policy
    }
}
