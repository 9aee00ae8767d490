import LayoverCore
import Retry

extension Schema {
    static let policyRules: [Key<PolicySettings>] = [
        policyKey(
            "mode", \.mode, .word,
            "hold: the client waits on its connection. defer: it gets a ticket (`202`) once its request is stored; "
                + "the request is sent as soon as possible. pass: no retry."),
        policyKey("holdMax", \.holdMax, .lifetime, "Maximum time that a client waits on its connection."),
        policyKey("lifetime", \.lifetime, .lifetime, "Maximum time that a request stays pending."),
        policyKey(
            "retryOn", \.retryOn, Codec.retryCondition.list,
            "`connectivity` (= `dns connect timeout reset tls-handshake`), those words, "
                + "error types of RFC 9209, statuses such as `\"503\"`."),
        policyKey(
            "automaticAttemptsMax", \.automaticAttemptsMax, Codec.integer(1...1_000_000_000).orNull,
            "Maximum number of automatic attempts, the first included. null: no limit."),
        policyKey(
            "wakeOnReachable", \.wakeOnReachable, .flag,
            "Whether to send as soon as the network or the origin is reachable again."),
        policyKey(
            "retryAfterMax", \.retryAfterMax, .duration(from: .zero, to: .days(3650)),
            "Maximum `Retry-After` to wait for; a response with a longer one is delivered."),
        policyKey(
            "onExhausted", \.onExhausted, .exhaustedRule, secrecy: .fieldsOfResponse,
            "What follows the last automatic attempt: `\"fail\"`, `\"ask\"` a person, or a response "
                + "`{\"status\":200,\"fields\":{},\"body\":\"\"}`."),
        policyKey(
            "onMaybeApplied", \.onMaybeApplied, Codec.word.orNull,
            "What follows a failure after which the server may have processed a request that is not repeatable. "
                + "null: fail while a client waits, ask for tickets."),
        policyKey(
            "async", \.async, .asyncRule,
            "Who honours `Prefer: respond-async`. whenAway: the origin gets it, and the client gets a ticket (`202`) if the origin "
                + "cannot be reached, with `wait=0` at once. always: the client gets a ticket at once. never: only the origin."),
        policyKey(
            "clientGone", \.clientGone, .word,
            "What happens to a waiting request when its client disconnects. adopt: it becomes a ticket."
        ),
        policyKey(
            "timeouts.unattended", \.unattended, Codec.duration(from: .zero, to: .days(7)).orNull,
            "Limit on an attempt that goes on after its client has disconnected. null: the general `timeouts.unattended`. 0s: the "
                + "attempt ends with its client."),
        policyKey(
            "repeatable", \.repeatable, .flag,
            "Declares that requests may be sent twice, whatever their method."),
        policyKey(
            "priority", \.priority, .integer(0...7),
            "0 (first) to 7 (last) among the entries of one origin."),
        policyKey(
            "budget", \.budget, Codec.budget.orNull,
            "Limits retries after a status without Retry-After, per origin: `ratio` per request, `minimum` at "
                + "once. Over the limit the request waits until others are done (`\"whenSpent\":\"wait\"`). `\"deliver\"`: the response "
                + "is delivered, and a status with Retry-After counts too and pauses no other request. null: no limit."),
    ]

    /// `type` comes first: another type than the inherited one starts from its own defaults.
    static let delayKeys: [Key<PolicySettings>] = [
        policyKey("delay.type", \.delay.type, .word, "How the delay between attempts grows."),
        policyKey(
            "delay.jitter", \.delay.jitter, .word,
            "full: from 0 to the delay. equal: from half the delay. "
                + "Other types than exponential default to none."
        ),
        policyKey("delay.initial", \.delay.initial, .lifetime, "For exponential: the first delay."),
        policyKey(
            "delay.multiplier", \.delay.multiplier, .number(from: 1, to: 1000),
            "For exponential: the factor from one delay to the next."),
        policyKey("delay.max", \.delay.max, .lifetime, "For exponential: the longest delay."),
        policyKey("delay.every", \.delay.every, Codec.lifetime.orNull, "For constant: the delay."),
        policyKey(
            "delay.delays", \.delay.delays, Codec.duration(from: .zero, to: .days(3650)).list.orNull,
            "For schedule: the delays in order; the last one repeats."),
    ]

    /// What comes before what, and what need not be sent at all.
    static let orderKeys: [Key<PolicySettings>] = [
        policyKey(
            "cache", \.cache, .word,
            "staleIfError: successful responses to GET and HEAD are stored, and used when the origin cannot be reached."
        ),
        policyKey(
            "lane", \.lane, Codec.lane.orNull,
            "Which tickets and waiting requests are sent one at a time, in order: all of one origin (`origin`), those of one origin "
                + "whose paths begin with the same n segments (`path:<n>`), or whose field has the same value "
                + "(`field:<name>`). null: only those with `Layover-Lane`."),
        policyKey(
            "undecidedInLane", \.undecidedInLane, .word,
            "What an undecided request does to later ones in its lane. block: they wait. skip: they are sent."
        ),
        policyKey(
            "coalesce", \.coalesce, .word,
            "lastPut: a PUT replaces an older waiting PUT to the same URL in the same lane."),
        policyKey(
            "preflight", \.preflight, Codec.preflight.orNull,
            "Request made to the origin before a ticket is sent: "
                + "`{\"method\":\"HEAD\",\"dropOn\":[\"404\",\"410\"],\"askOn\":[\"412\"]}`. A status in `dropOn` cancels the ticket, "
                + "one in `askOn` leaves it undecided; after any other it is sent. null: no such request."),
    ]
}
