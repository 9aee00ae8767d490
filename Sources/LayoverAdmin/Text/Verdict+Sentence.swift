import LayoverCore

extension Verdict {
    /// What was decided and why, for people.
    ///
    /// - Parameter isTicket: Whether nobody waited on a connection.
    func sentence(isTicket: Bool) -> String {
        switch self {
        case .againOnNewConnection:
            "Made again at once: the kept-alive connection had died between two requests."
        case .park(let parking): parking.sentence
        case .deliver(let reason):
            "The answer \(isTicket ? "is kept for" : "went to") the client: \(reason.clause)."
        case .standIn(let response):
            // A stand-in is for a client that waits; one that asks for its ticket is told the truth.
            isTicket
                ? "The ticket has failed: all automatic attempts were used up."
                : "The client got the policy's stand-in answer (\(response.status)): all automatic attempts were used up."
        case .fail(.preflight):
            // It was dropped, or left to a person; a ticket that has failed is another thing.
            "Not sent: \(Verdict.FailReason.preflight.clause)."
        case .fail(let reason):
            isTicket ? "The ticket has failed: \(reason.clause)." : "The client was told: \(reason.clause)."
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
        case .stopping: "Cut off, because the proxy was being stopped. The next run goes on with it."
        case .ownTrouble: "The proxy itself was in the way. It is tried again."
        case .store: "The store could not say what to send, or take note of the attempt. Nothing was sent."
        case .rescued:
            asks == nil
                ? "The proxy ended while it was under way. The next run makes it anew."
                : "Left to a person: the proxy ended while it was under way, and it must not be sent twice."
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
        case .holdMax: "the origin asks for a longer wait than is left of holdMax"
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
        case .preflight: "the origin was asked first, and its answer speaks against it"
        }
    }
}
