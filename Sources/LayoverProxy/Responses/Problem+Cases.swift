import LayoverCore

/// The problems that are not one failed attempt.
extension Problem {
    static let offline = Problem(
        status: 503, kind: "offline",
        detail: "An admin set reachability to offline, and the request asks not to be held.",
        error: .httpRequestDenied)

    static let stopping = Problem(
        status: 503, kind: "draining", detail: "The proxy is being stopped.",
        error: .proxyInternalResponse)

    /// The proxy ends while an attempt is under way.
    static func cutOff(mayHaveBeenSent: Bool) -> Problem {
        var problem = stopping
        problem.detail +=
            mayHaveBeenSent
            ? " The request was sent and no answer had come, so it may have been applied."
            : " Nothing of the request was sent."
        problem.evidence = mayHaveBeenSent ? .maybeApplied : .neverSent
        problem.retryAfter = .seconds(5)
        return problem
    }

    static func limit(_ name: String, _ value: Int) -> Problem {
        Problem(
            status: 503, kind: "limit",
            detail: "The request could not be sent and was not parked: \(name) is reached (\(value)).",
            error: .connectionLimitReached)
    }

    /// - Parameter max: `limits.bodyMax`, in bytes.
    static func bodyOverMax(_ max: Int) -> Problem {
        Problem(
            status: 413, kind: "limit", detail: "The body is over limits.bodyMax (\(max) bytes), so it cannot be kept.",
            error: .httpRequestError)
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
        case .expired:
            problem = Problem(
                status: 504, kind: "expired",
                detail: "The request waited as long as its policy allows. \(lastFailure?.message ?? "")",
                error: lastFailure?.kind ?? .destinationUnavailable)
        case .superseded:
            // Not which one: its id is the key to a ticket whose client may be another.
            problem = Problem(
                status: 409, kind: "superseded",
                detail: "A newer request to the same address took the place of this one.",
                error: .httpRequestDenied)
        case .draining:
            problem = .stopping
        case .maybeApplied:
            return mayHaveBeenApplied(lastFailure)
        }
        problem.phase = lastFailure?.phase
        problem.evidence = lastFailure?.evidence ?? .neverSent
        return problem
    }

    /// It waited as long as its policy allows for what an equal request comes to.
    static var equalRequestUnderWay: Problem {
        var problem = Problem(
            status: 504, kind: "expired",
            detail: "A request with the same Idempotency-Key is still under way. Nothing of this one was sent.",
            error: .destinationUnavailable)
        problem.evidence = .neverSent
        problem.retryAfter = .seconds(5)
        return problem
    }

    /// It waited to be sent once more, and a reload took back the word that it may be.
    ///
    /// - Parameter failure: The last one. An earlier one may be what it was applied by.
    private static func mayHaveBeenApplied(_ failure: Failure?) -> Problem {
        let sent = Failure(
            phase: .awaitingResponse, kind: .proxyInternalError, evidence: .maybeApplied, message: "It was sent before.")
        var problem = Problem(
            failure ?? sent, reason: .maybeApplied, attemptCount: 0, entry: nil, bodyByteCountMax: 0)
        if problem.evidence == .neverSent { problem.evidence = .maybeApplied }
        return problem
    }
}
