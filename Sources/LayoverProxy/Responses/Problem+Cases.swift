import LayoverCore

/// The problems that are not one failed attempt.
extension Problem {
    static let offline = Problem(
        status: 503, kind: "offline",
        detail: "An admin set the mode to offline, and the request asks not to be held.",
        error: .httpRequestDenied)

    static let stopping = Problem(
        status: 503, kind: "draining", detail: "The proxy is stopping.",
        error: .proxyInternalResponse)

    /// The proxy ends while an attempt is under way.
    static func cutOff(mayHaveBeenSent: Bool) -> Problem {
        var problem = stopping
        problem.detail +=
            mayHaveBeenSent
            ? " The request was sent and no response arrived, so the server may have processed it."
            : " The request was not sent."
        problem.evidence = .neverSent
        problem.retryAfter = .seconds(5)
        if mayHaveBeenSent { problem.noteSent() }
        return problem
    }

    static func limit(_ name: String, _ value: Int) -> Problem {
        Problem(
            status: 503, kind: "limit",
            detail: "The request could not be sent, and it was not parked because the limit \(name) (\(value)) is reached.",
            error: .connectionLimitReached)
    }

    /// - Parameter max: `limits.bodyMax`, in bytes.
    static func bodyOverMax(_ max: Int) -> Problem {
        Problem(
            status: 413, kind: "limit", detail: "The body exceeds limits.bodyMax (\(max) bytes), so the request cannot be stored.",
            error: .httpRequestError)
    }

    /// The origin has answered, and the response cannot be sent by HTTP/2 without a change.
    ///
    /// - Parameter field: Its name.
    static func unsendable(_ field: String, status: Int) -> Problem {
        var problem = Problem(
            status: 502, kind: "unsendable",
            detail: """
                The server answered \(status), but the value of the response field \(field) is not UTF-8, and Layover cannot pass it on by \
                HTTP/2 unchanged. By HTTP/1.1 it passes (curl --http1.1).
                """,
            error: .proxyInternalResponse, evidence: .maybeApplied)
        problem.receivedStatus = status
        return problem
    }

    /// The pending set ended the wait.
    static func ended(_ end: EntryEnd, lastFailure: Failure?) -> Problem {
        var problem: Problem
        switch end {
        case .cancelled(let reason):
            let words = reason.map { ": \($0)" } ?? ""
            problem = Problem(
                status: 503, kind: "cancelled", detail: "The request was cancelled by an admin\(words).",
                error: .httpRequestDenied)
        case .settled(let note):
            return settled(note)
        case .expired:
            problem = Problem(
                status: 504, kind: "expired",
                detail: "The time limit of the request's policy was reached. \(lastFailure?.message ?? "")",
                error: lastFailure?.kind ?? .destinationUnavailable)
        case .superseded:
            // The id of the newer request is not told: it gives access to a ticket that may belong to another client.
            problem = Problem(
                status: 409, kind: "superseded",
                detail: "A newer request to the same URL replaced this one.",
                error: .httpRequestDenied)
        case .draining:
            problem = .stopping
        case .maybeApplied:
            return mayHaveBeenApplied(lastFailure)
        case .exhausted:
            // An attempt has failed, so there is a failure.
            return Problem(lastFailure ?? .stopping, reason: .exhausted, attemptCount: 0, entry: nil)
        case .unattended:
            return unattended
        }
        problem.phase = lastFailure?.phase
        problem.evidence = lastFailure?.evidence ?? .neverSent
        return problem
    }

    /// A person knows that the origin has processed the request; the client must not send it again, and cannot be given its
    /// response.
    private static func settled(_ note: String?) -> Problem {
        Problem(
            status: 502, kind: "settled",
            detail: "A person recorded that the server has processed the request. Its response is not known"
                + (note.map { ": \($0)" } ?? "."),
            error: .proxyInternalResponse, evidence: .maybeApplied)
    }

    /// The request waited for the outcome of an equal request as long as its policy allows.
    static let equalRequestUnderWay = Problem(
        status: 504, kind: "expired",
        detail: "A request with the same Idempotency-Key is still running. This one was not sent.",
        error: .destinationUnavailable, evidence: .neverSent, retryAfter: .seconds(5))

    /// For requests that waited for the outcome of an equal one, whose client is gone and whose attempt was ended.
    private static let unattended = Problem(
        status: 504, kind: "expired",
        detail: """
            A request with the same Idempotency-Key was sent, and its client disconnected. Its attempt was ended before a response \
            came, by timeouts.unattended or limits.unattended. The server may have processed the request.
            """,
        error: .httpResponseTimeout, evidence: .maybeApplied)

    /// The request waited to be sent again, and a reload has revoked the permission for that.
    ///
    /// - Parameter failure: The last failure. The request may have been applied by an earlier attempt.
    private static func mayHaveBeenApplied(_ failure: Failure?) -> Problem {
        let sent = Failure(
            phase: .awaitingResponse, kind: .proxyInternalError, evidence: .maybeApplied, message: "The request was sent before.")
        var problem = Problem(
            failure ?? sent, reason: .maybeApplied, attemptCount: 0, entry: nil)
        if problem.evidence == .neverSent { problem.evidence = .maybeApplied }
        return problem
    }
}
