import LayoverCore
import Retry

extension Schema {
    static let policyRules: [Key<PolicySettings>] = [
        policyKey(
            "mode", \.mode, .word,
            "hold: the client waits on its connection. defer: it gets a ticket (`202`) once its request is stored, "
                + "which is then sent as soon as it can be. pass: no retry."),
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
                + "null: fail while a client holds, ask for tickets."),
        policyKey(
            "clientGone", \.clientGone, .word,
            "What becomes of a waiting request whose client closes its connection. adopt: it becomes a ticket."
        ),
        policyKey(
            "repeatable", \.repeatable, .flag,
            "Vouches that requests may be sent twice, whatever their method."),
        policyKey(
            "priority", \.priority, .integer(0...7),
            "0 (first) to 7 (last) among the entries of one origin."),
        policyKey(
            "budget", \.budget, Codec.budget.orNull,
            "Bounds the retries that statuses cause, for each origin: `ratio` for each request, `minimum` at "
                + "once. Over it the answer is delivered (`\"whenSpent\":\"deliver\"`; `\"wait\"` is not in this version). "
                + "null: no bound."),
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

    /// What comes before what, and what need not be sent at all.
    static let orderKeys: [Key<PolicySettings>] = [
        policyKey(
            "cache", \.cache, .word,
            "staleIfError: good answers to GET and HEAD are kept, and given when the origin cannot be reached."
        ),
        policyKey(
            "lane", \.lane, Codec.lane.orNull,
            "Which tickets and waiting requests are sent one after the other, in order: all of one origin (`origin`), those of one origin "
                + "whose paths begin with the same n segments (`path:<n>`), or whose field has the same value "
                + "(`field:<name>`). null: none, but for `Layover-Lane`."),
        policyKey(
            "undecidedInLane", \.undecidedInLane, .word,
            "What an undecided entry means for those behind it in its lane. block: they wait. skip: they go on."
        ),
        policyKey(
            "coalesce", \.coalesce, .word,
            "lastPut: a PUT takes the place of a waiting older one to the same URL in the same lane."),
        policyKey(
            "preflight", \.preflight, Codec.preflight.orNull,
            "What the origin is asked before a ticket is sent: "
                + "`{\"method\":\"HEAD\",\"dropOn\":[\"404\",\"410\"],\"askOn\":[\"412\"]}`. A status of `dropOn` drops it, "
                + "one of `askOn` leaves it to a person, after any other it is sent. null: nothing is asked."),
    ]
}
