import LayoverCore

/// A policy as the file spells it.
struct PolicySettings: Sendable, Hashable {
    var mode: Policy.Mode
    var holdMax: Duration
    var lifetime: Duration
    var retryOn: [RetryCondition]
    var delay: DelaySettings
    var automaticAttemptsMax: Int?
    var wakeOnReachable: Bool
    var retryAfterMax: Duration
    var onExhausted: Policy.ExhaustedRule
    var onMaybeApplied: Policy.MaybeAppliedRule?
    var async: Policy.AsyncRule
    var clientGone: Policy.ClientGoneRule
    /// How long an attempt may go on without its client. Nil: `timeouts.unattended`.
    var unattended: Duration?
    var repeatable: Bool
    var priority: Int
    var budget: Policy.Budget?
    var cache: CacheRule
    var lane: LaneRule?
    var undecidedInLane: UndecidedInLane
    var coalesce: CoalesceRule
    var preflight: Preflight?

    /// - Parameter policy: A built-in policy of the core, so that its values are those of the file.
    ///   Default: `default`.
    init(_ policy: Policy = .standard) {
        mode = policy.mode
        holdMax = policy.holdMax
        lifetime = policy.lifetime
        retryOn = policy.retryOn
        delay = DelaySettings(policy.delay)
        automaticAttemptsMax = policy.automaticAttemptsMax
        wakeOnReachable = policy.wakeOnReachable
        retryAfterMax = policy.retryAfterMax
        onExhausted = policy.onExhausted
        onMaybeApplied = policy.onMaybeApplied
        self.async = policy.async
        clientGone = policy.clientGone
        unattended = policy.unattendedMax == Policy.standard.unattendedMax ? nil : policy.unattendedMax
        repeatable = policy.repeatable
        priority = policy.priority
        budget = policy.budget
        cache = policy.cache
        lane = policy.lane
        undecidedInLane = policy.undecidedInLane
        coalesce = policy.coalesce
        preflight = policy.preflight
    }

    /// - Parameter unattended: `timeouts.unattended` of all policies.
    func policy(named name: String, unattended general: Duration = Policy.standard.unattendedMax) -> Policy {
        var policy = Policy(name: name)
        policy.mode = mode
        policy.holdMax = holdMax
        policy.lifetime = lifetime
        policy.retryOn = retryOn
        policy.delay = delay.schedule
        policy.automaticAttemptsMax = automaticAttemptsMax
        policy.wakeOnReachable = wakeOnReachable
        policy.retryAfterMax = retryAfterMax
        policy.onExhausted = onExhausted
        policy.onMaybeApplied = onMaybeApplied
        policy.async = async
        policy.clientGone = clientGone
        policy.unattendedMax = unattended ?? general
        policy.repeatable = repeatable
        policy.priority = priority
        policy.budget = budget
        policy.cache = cache
        policy.lane = lane
        policy.undecidedInLane = undecidedInLane
        policy.coalesce = coalesce
        policy.preflight = preflight
        return policy
    }
}
