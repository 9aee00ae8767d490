import LayoverCore

extension Verdict {
    /// The verdict and its reason, for people.
    ///
    /// - Parameter isTicket: Whether no client waited on a connection.
    func sentence(isTicket: Bool) -> String {
        switch self {
        case .againOnNewConnection:
            "Resent at once on a new connection: the reused connection had been closed between two requests."
        case .park(let parking): parking.sentence
        case .deliver(let reason):
            "The response was \(isTicket ? "stored for" : "sent to") the client: \(reason.clause)."
        case .standIn(let response):
            // A stand-in response is for a client that waits; a ticket has the real outcome.
            isTicket
                ? "The ticket failed: no automatic attempts are left."
                : "The client got the policy's stand-in response (\(response.status)): no automatic attempts are left."
        case .fail(.preflight):
            // The preflight dropped the request or left it to a person; a ticket that has failed is another thing.
            "Not sent: \(Verdict.FailReason.preflight.clause)."
        case .fail(let reason):
            isTicket ? "The ticket failed: \(reason.clause)." : "The client got an error: \(reason.clause)."
        }
    }
}

extension Verdict.Parking {
    fileprivate var sentence: String {
        switch rule {
        case .retryOn: "Parked: retryOn lists the failure."
        case .status: "Parked: retryOn lists the status."
        case .portal: "Parked: a captive portal answers in place of the origin, so the certificate is most likely the portal's."
        case .networkChanged: "Retried: the network changed while the attempt was connecting."
        case .offline: "Parked: a person set the mode to offline before anything was sent."
        case .onMaybeApplied: "Undecided: the server may have processed the request, and it is not repeatable."
        case .outcomeUnknown:
            asks == nil
                ? "Repeated: the server asks for it, and an earlier attempt may have been applied."
                : "Undecided: the response does not show whether an earlier attempt was applied."
        case .onExhausted: "Undecided: no automatic attempts are left."
        case .aborted:
            asks == nil
                ? "Aborted by a person. The request is kept."
                : "Aborted by a person. The request is kept; no automatic attempts are left."
        case .gate: "Parked without an attempt: the origin was unreachable."
        case .stopping: "Interrupted: the proxy was stopping. The request continues after the next start."
        case .ownTrouble: "The attempt failed because of the proxy or its settings. The request is retried."
        case .store: "Not sent: the store could not read the request or record the attempt."
        case .rescued:
            asks == nil
                ? "Interrupted: the proxy ended during the attempt. The request is retried after the restart."
                : "Undecided: the proxy ended during the attempt, and the request is not repeatable."
        }
    }
}

extension Verdict.DeliverReason {
    fileprivate var clause: String {
        switch self {
        case .answered: "retryOn does not list the status"
        case .notRepeatable: "the request is not repeatable"
        case .exhausted: "no automatic attempts are left"
        case .retryAfterMax: "Retry-After is longer than retryAfterMax"
        case .holdMax: "Retry-After is longer than the rest of holdMax"
        case .originForbids: "the origin says not to retry"
        case .budget: "the retry budget of the origin is used up"
        case .limit: "a limit prevents parking the request"
        }
    }
}

extension Verdict.FailReason {
    /// Why there is no other attempt, as a part of a sentence.
    var clause: String {
        switch self {
        case .notInRetryOn: "retryOn does not list the failure"
        case .nameUnknown: "the name does not exist, and the network is up"
        case .maybeApplied: "the server may have processed the request, and it is not repeatable"
        case .outcomeUnknown: "the response does not show whether an earlier attempt was applied"
        case .bodyNotReplayable: "the body cannot be sent again"
        case .exhausted: "no automatic attempts are left"
        case .pass: "the mode is pass, or the client waits for one attempt only"
        case .responseBegan: "the response had already begun"
        case .preflight: "the response to the preflight forbids it"
        }
    }
}
