import LayoverCore

extension Verdict {
    /// What was decided and why, for people.
    var sentence: String {
        switch self {
        case .againOnNewConnection:
            "Made again at once: the kept-alive connection had died between two requests."
        case .park(let parking): parking.sentence
        case .deliver(let reason): "The answer went to the client: \(reason.clause)."
        case .standIn(let response):
            "The client got the policy's stand-in answer (\(response.status)): all automatic attempts were used up."
        case .fail(let reason): "The client was told: \(reason.clause)."
        }
    }
}

extension Verdict.Parking {
    fileprivate var sentence: String {
        switch rule {
        case .retryOn: "Parked: the policy's retryOn lists this failure."
        case .status: "Parked: the policy's retryOn lists this status."
        case .networkChanged: "Made anew: the network changed while it was connecting."
        case .onMaybeApplied: "Left to a person: it may have been applied, and must not be sent twice."
        case .onExhausted: "Left to a person: all automatic attempts are used up."
        case .gate: "Parked without an attempt: its origin was known to be away."
        }
    }
}

extension Verdict.DeliverReason {
    fileprivate var clause: String {
        switch self {
        case .answered: "retryOn does not list its status"
        case .notRepeatable: "the request cannot or must not be sent twice"
        case .exhausted: "all automatic attempts are used up"
        case .retryAfterMax: "the origin asks for a longer wait than retryAfterMax"
        case .originForbids: "the origin says that another attempt is of no use"
        case .budget: "the origin's retry budget is spent"
        case .limit: "a limit forbids to park the request"
        }
    }
}

extension Verdict.FailReason {
    /// Why there is no other attempt, as a part of a sentence.
    var clause: String {
        switch self {
        case .notInRetryOn: "retryOn does not list this failure"
        case .nameUnknown: "the name does not exist, and the network is there"
        case .maybeApplied: "it may have been applied, and must not be sent twice"
        case .bodyNotReplayable: "its body cannot be sent again"
        case .exhausted: "all automatic attempts are used up"
        case .pass: "its mode is pass, or its client waits for one answer only"
        case .responseBegan: "the response had begun"
        }
    }
}
