/// Responses to a repetition that do not answer the request.
extension ExchangeMachine {
    /// The meaning of a final response. Costs a comparison as long as no attempt may have been applied.
    package func meaning(ofStatus status: Int, to request: @autoclosure () -> RequestSummary) -> RepeatedAnswer {
        guard rules.counts.mayHaveBeenApplied, recipient != .cache else { return .answer }
        return RepeatedAnswer(status: status, to: request())
    }

    /// Decides what follows a response that does not show whether an earlier attempt was applied.
    ///
    /// - Parameter isConflict: Whether the origin wants the request repeated (`ConflictCode`).
    package mutating func outcomeIsUnknown(
        after response: ResponseSummary, isConflict: Bool, sending request: RequestSummary, connection: ConnectionFacts?,
        at now: Timestamp, using generator: inout some RandomNumberGenerator
    ) -> FailureStep {
        let failure = Failure.outcomeUnknown(status: response.status)
        let verdict = rules.verdict(onUnknown: response, isConflict: isConflict, sending: request, using: &generator)
        lastFailure = failure
        unknownStatus = response.status
        record(verdict, failure: failure, status: response.status, connection: connection, at: now)
        switch verdict {
        case .park(let parking): return .park(failure, parking)
        case .fail(let reason): return .fail(failure, reason)
        case .againOnNewConnection, .deliver, .standIn: return .fail(failure, .outcomeUnknown)
        }
    }
}

extension Failure {
    /// The response to a repetition does not answer the request.
    package static func outcomeUnknown(status: Int) -> Failure {
        Failure(
            phase: .awaitingResponse, kind: .outcomeUnknown, evidence: .maybeApplied,
            message: "The request was sent more than once, and the server may have processed an earlier attempt. The last one was "
                + "answered with status \(status), which does not show the outcome of the request.")
    }
}
