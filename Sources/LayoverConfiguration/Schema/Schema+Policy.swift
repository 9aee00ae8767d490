import LayoverCore
import Retry

extension Schema {
    static let policyRules: [Key<PolicySettings>] = [
        policyKey(
            "mode", \.mode, .word, available: .laterWhen("`defer`") { $0 == .defer },
            "hold: the client waits on its connection. pass: no retry."),
        policyKey("holdMax", \.holdMax, .lifetime, "Longest wait of a client on its connection."),
        policyKey("lifetime", \.lifetime, .lifetime, "Longest life of an entry."),
        policyKey(
            "retryOn", \.retryOn, Codec.retryCondition.list,
            "`connectivity` (= `dns connect timeout reset tls-handshake`), those words, "
                + "error types of RFC 9209, statuses such as `\"503\"`."),
        policyKey(
            "automaticAttemptsMax", \.automaticAttemptsMax, Codec.integer(1...1_000_000_000).orNull,
            "Most attempts that no person asked for, the first included. null: no limit."),
        policyKey(
            "wakeOnReachable", \.wakeOnReachable, .flag,
            "Whether the wait ends when the network or the origin becomes reachable."),
        policyKey(
            "retryAfterMax", \.retryAfterMax, .duration(from: .zero, to: .days(3650)),
            "Longest `Retry-After` that is waited out; an answer that asks for more is delivered."),
        policyKey(
            "onExhausted", \.onExhausted, .exhaustedRule, secrecy: .fieldsOfAnswer,
            "What follows the last automatic attempt: `\"fail\"`, `\"ask\"` a person, or an answer "
                + "`{\"status\":200,\"fields\":{},\"body\":\"\"}`."),
        policyKey(
            "onMaybeApplied", \.onMaybeApplied, Codec.word.orNull,
            "What follows a failure after which a request that must not be sent twice may have been applied. "
                + "null: fail."),
        policyKey(
            "clientGone", \.clientGone, .word, available: .laterWhen("`adopt`") { $0 == .adopt },
            "What becomes of a waiting request whose client closes its connection."),
        policyKey(
            "repeatable", \.repeatable, .flag,
            "Vouches that requests may be sent twice, whatever their method."),
        policyKey(
            "priority", \.priority, .integer(0...7),
            "0 (first) to 7 (last) among the entries of one origin."),
        policyKey(
            "budget", \.budget, Codec.budget.orNull,
            "Bounds the retries that statuses cause, for each origin: `ratio` for each request, `minimum` at "
                + "once. null: no bound."),
    ]

    /// `type` comes first: another type than the inherited one starts from its own defaults.
    static let delayKeys: [Key<PolicySettings>] = [
        policyKey("delay.type", \.delay.type, .word, "The pattern of the waits between attempts."),
        policyKey(
            "delay.jitter", \.delay.jitter, .word,
            "full: from 0 to the delay. equal: from half the delay. "
                + "Types other than exponential have none unless they say so."
        ),
        policyKey("delay.initial", \.delay.initial, .lifetime, "For exponential: the first wait."),
        policyKey(
            "delay.multiplier", \.delay.multiplier, .number(from: 1, to: 1000),
            "For exponential: each wait is so many times the one before."),
        policyKey("delay.max", \.delay.max, .lifetime, "For exponential: the longest wait."),
        policyKey("delay.every", \.delay.every, Codec.lifetime.orNull, "For constant: the wait."),
        policyKey(
            "delay.delays", \.delay.delays, Codec.duration(from: .zero, to: .days(3650)).list.orNull,
            "For schedule: the waits in turn, the last one again and again."),
    ]

    static let laterPolicyKeys: [Key<PolicySettings>] = [
        policyKey("cache", \.cache, .word, available: .later, "Whether an older answer may stand in."),
        policyKey(
            "lane", \.lane, Codec.lane.orNull, available: .later,
            "Keeps entries in order: `origin`, `path:<n>` or `field:<name>`."),
        policyKey(
            "coalesce", \.coalesce, .word, available: .later, "Whether a later PUT replaces an earlier one."),
        policyKey(
            "preflight", \.preflight, Codec.preflight.orNull, available: .later,
            "A request made before a replay."),
    ]
}
