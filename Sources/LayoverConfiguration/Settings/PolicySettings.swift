import LayoverCore

/// A policy as the file spells it, with the keys of later versions.
struct PolicySettings: Sendable, Hashable {
    /// What follows the last automatic attempt.
    enum ExhaustedRule: Sendable, Hashable {
        case fail, ask
        /// An answer of our own.
        case standIn(JSONValue)
    }

    enum MaybeAppliedRule: String, Sendable, CaseIterable {
        case fail, ask
    }

    enum CacheRule: String, Sendable, CaseIterable {
        case none, staleIfError
    }

    enum CoalesceRule: String, Sendable, CaseIterable {
        case none, lastPut
    }

    // The defaults of the core are the defaults of the file.
    var mode = Policy.standard.mode
    var holdMax = Policy.standard.holdMax
    var lifetime = Policy.standard.lifetime
    var retryOn = Policy.standard.retryOn
    var delay = DelaySettings()
    var automaticAttemptsMax = Policy.standard.automaticAttemptsMax
    var wakeOnReachable = Policy.standard.wakeOnReachable
    var retryAfterMax = Policy.standard.retryAfterMax
    var onExhausted = ExhaustedRule.fail
    var onMaybeApplied: MaybeAppliedRule?
    var clientGone = Policy.standard.clientGone
    var repeatable = Policy.standard.repeatable
    var priority = Policy.standard.priority
    var budget: JSONValue? = .object(["ratio": .number(0.2), "minimum": .integer(3)])
    var cache = CacheRule.none
    var lane: String?
    var coalesce = CoalesceRule.none
    var preflight: JSONValue?

    func policy(named name: String) -> Policy {
        var policy = Policy(name: name)
        policy.mode = mode
        policy.holdMax = holdMax
        policy.lifetime = lifetime
        policy.retryOn = retryOn
        policy.delay = delay.schedule
        policy.automaticAttemptsMax = automaticAttemptsMax
        policy.wakeOnReachable = wakeOnReachable
        policy.retryAfterMax = retryAfterMax
        policy.clientGone = clientGone
        policy.repeatable = repeatable
        policy.priority = priority
        return policy
    }
}
