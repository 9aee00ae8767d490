package import Retry

/// The rules for one request: when it may wait, for what, and for how long.
package struct Policy: Sendable, Hashable {
    /// What happens to a request that cannot be sent at once.
    package enum Mode: String, Sendable, CaseIterable {
        /// Wait while the client waits on its connection.
        case hold
        /// Accept and answer with a ticket.
        case `defer`
        /// Do not retry: the first failure is told to the client.
        case pass
    }

    /// Who honours `Prefer: respond-async` (RFC 7240 section 4.1).
    package enum AsyncRule: String, Sendable, CaseIterable {
        /// The origin, which gets the preference. The client gets a ticket where the origin cannot be reached.
        case whenAway
        /// Layover: the client gets a ticket, and the origin does not get the preference.
        case always
        /// The origin. Layover makes no ticket.
        case never
    }

    /// What happens to a waiting request whose client closes its connection.
    package enum ClientGoneRule: String, Sendable, CaseIterable {
        case cancel, adopt
    }

    /// What follows the last of `automaticAttemptsMax` attempts.
    package enum ExhaustedRule: Sendable, Hashable {
        /// The last failure is told to the client, or its last response delivered.
        case fail
        /// The request stays in the set, undecided, until a person or its deadline ends that.
        case ask
        /// The client gets this response instead.
        case standIn(StandInResponse)
    }

    /// What follows a failure that may have been applied, of a request that must not be sent twice.
    package enum MaybeAppliedRule: String, Sendable, CaseIterable {
        /// The client is told at once.
        case fail
        /// The request waits, undecided, for a person.
        case ask
    }

    /// What happens to a response whose status is retried when the budget is spent.
    package enum SpentRule: String, Sendable, CaseIterable {
        /// The request waits until others are done.
        case wait
        /// The response is delivered. Nor does a `Retry-After` pause the origin.
        case deliver
    }

    /// How many responses of one origin may be asked for again (`retryOn` with statuses).
    package struct Budget: Sendable, Hashable {
        /// Retries that each request earns. 0 to 1 000.
        package var ratio: Double
        /// Retries that may always be under way at once.
        package var minimum: Int
        package var whenSpent: SpentRule

        package init(ratio: Double = 0.2, minimum: Int = 3, whenSpent: SpentRule = .wait) {
            self.ratio = ratio
            self.minimum = minimum
            self.whenSpent = whenSpent
        }
    }

    /// The name under `policies` in the configuration.
    package var name: String
    /// Default: hold.
    package var mode: Mode = .hold
    /// Longest wait of a client on its connection, counted from the moment its request was parked.
    /// An attempt in flight is let finish. Default: 10 minutes.
    package var holdMax: Duration = .seconds(600)
    /// Longest life of an entry, counted from the moment its request was parked. Default: 24 hours.
    package var lifetime: Duration = .seconds(24 * 3600)
    /// The outcomes that are worth another attempt. Default: connectivity.
    package var retryOn: [RetryCondition] = [.connectivity]

    /// Whether a response that says when to come back holds up all its requests to that origin until then.
    package var pausesOrigins: Bool { mode != .pass && budget?.whenSpent != .deliver }
    /// Whether a request is sent again that a limiter has refused, whatever its method. So its body is kept.
    package var retriesRefused: Bool { retryOn.match(status: 429) }

    /// The wait between attempts. Default: exponential from 250 ms, doubling, at most 30 s, full jitter.
    package var delay = DelaySchedule.standard
    /// Most attempts that no person asked for, the first included. Nil means no limit. Default: nil.
    package var automaticAttemptsMax: Int?
    /// Whether the wait also ends when the network or the origin becomes reachable. Default: true.
    package var wakeOnReachable = true
    /// Longest `Retry-After` that is waited out. Default: 1 hour.
    package var retryAfterMax: Duration = .seconds(3600)
    /// Default: fail.
    package var onExhausted = ExhaustedRule.fail
    /// The rule for failures that may have been applied. Nil: `fail` while a client holds, `ask` for tickets. Default: nil.
    package var onMaybeApplied: MaybeAppliedRule?
    /// Default: whenAway.
    package var async = AsyncRule.whenAway
    /// Default: cancel.
    package var clientGone: ClientGoneRule = .cancel
    /// How long an attempt may go on whose client is gone and that may have been applied. 0: it ends at once. Default: 5 minutes.
    package var unattendedMax: Duration = .seconds(300)
    /// Whether the route vouches that its requests may be sent twice, whatever their method. Default: false.
    package var repeatable = false
    /// 0 (first) to 7 (last) among the entries of one origin (RFC 9218). Default: 3.
    package var priority = 3
    /// Bounds the retries of statuses that do not say when to come back, per origin; never those a person asks for. Nil: there is no bound.
    /// Default: 0.2 of the requests, and at least 3 at once; more wait.
    package var budget: Budget? = Budget()

    /// Default: none.
    package var cache = CacheRule.none
    /// Which of its requests keep their order. Default: nil, none do.
    package var lane: LaneRule?
    /// Default: block.
    package var undecidedInLane = UndecidedInLane.block
    /// Default: none.
    package var coalesce = CoalesceRule.none
    /// What the origin is asked before a ticket is sent. Default: nothing.
    package var preflight: Preflight?

    package init(name: String) { self.name = name }

    /// Whether clients of the policy wait for so short a time that a canary has to go often.
    package var isShortHold: Bool { holdMax <= Self.shortHoldMax }
    /// Default: 1 minute.
    private static let shortHoldMax: Duration = .seconds(60)

    /// What a failure that may have been applied leads to.
    ///
    /// - Parameter isTicket: Whether the request is a ticket, which no client holds.
    package func maybeAppliedRule(isTicket: Bool = false) -> MaybeAppliedRule {
        onMaybeApplied ?? (isTicket ? .ask : .fail)
    }
}

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

/// A response that a policy gives in place of the origin's, once its attempts are exhausted.
package struct StandInResponse: Sendable, Hashable {
    /// 200 to 599.
    package var status: Int
    /// Field lines in the order of the wire. Framing is ours.
    package var fields: [Route.Field]
    package var body: String

    package init(status: Int, fields: [Route.Field] = [], body: String = "") {
        self.status = status
        self.fields = fields
        self.body = body
    }
}

/// The policy that a request's own fields name (`Layover-Policy`, `Layover-Mode`). The wish stays in force after
/// a reload and a restart.
package struct PolicyWish: Sendable, Hashable {
    package var name: String?
    package var mode: Policy.Mode?

    package init(name: String? = nil, mode: Policy.Mode? = nil) {
        self.name = name
        self.mode = mode
    }
}

/// One policy for all the entries that are under it: there may be a million of them.
final class SharedPolicy: Sendable {
    let policy: Policy
    // Parts that are needed with each change of an entry: to copy a policy takes longer than the rest of it.
    let attemptsMax: Int?
    let asksWhenExhausted: Bool
    let wakesOnReachable: Bool

    init(_ policy: Policy) {
        self.policy = policy
        attemptsMax = policy.automaticAttemptsMax
        asksWhenExhausted = policy.onExhausted == .ask
        wakesOnReachable = policy.wakeOnReachable
    }
}

/// The policies in use, each once.
struct SharedPolicies: Sendable {
    /// By name; under one name the newest.
    private var known: [String: SharedPolicy] = [:]

    mutating func shared(_ policy: Policy) -> SharedPolicy {
        if let one = known[policy.name], one.policy == policy { return one }
        let one = SharedPolicy(policy)
        known[policy.name] = one
        return one
    }
}
