/// A response that broke off on its way to a client, and goes on.
extension ExchangeMachine {
    /// What follows the response to the request for the rest.
    package enum ContinuationStep: Sendable, Hashable {
        case goOn
        case park(Failure, Verdict.Parking)
        case breakOff(Failure)
    }

    /// What follows bytes of it.
    package enum ContinuationBytesStep: Sendable, Hashable {
        /// They are passed on, but for so many at the beginning that the recipient has.
        case pass(skipping: Int)
        case breakOff(Failure)
    }

    /// Decides whether a response continues the one that broke off.
    package mutating func continued(
        by head: ResumeFacts, in circumstances: Circumstances, using generator: inout some RandomNumberGenerator
    ) -> ContinuationStep {
        switch resumable?.judge(head) {
        case .goOn?:
            enter(.delivering)
            return .goOn
        case .refuse(let refusal)?:
            return .breakOff(refused(refusal, at: circumstances.now))
        case .askAgain?, nil:
            var failure = Failure.answered(head.status)
            failure.evidence = .maybeApplied
            let verdict = rules.verdictOnContinuation(
                failure, sending: circumstances.request, retryAfter: head.retryAfter, using: &generator)
            guard case .park(var parking) = verdict else {
                _ = breakOff(failure, at: circumstances.now)
                return .breakOff(failure)
            }
            lastFailure = failure
            parking.retryAfter = rules.pause(after: ResponseSummary(status: head.status, retryAfter: head.retryAfter))
            record(.park(parking), failure: failure, status: head.status, at: circumstances.now)
            return .park(failure, parking)
        }
    }

    /// Decides about bytes of the continuation.
    package mutating func continuationCame(_ count: Int, at now: Timestamp) -> ContinuationBytesStep {
        guard let skipped = resumable?.came(count) else { return .breakOff(refused(.tooLong, at: now)) }
        return .pass(skipping: skipped)
    }

    private mutating func refused(_ refusal: ContinuationRefusal, at now: Timestamp) -> Failure {
        let failure = Failure(
            phase: .receiving, kind: .httpResponseIncomplete, evidence: .maybeApplied, message: refusal.message)
        _ = breakOff(failure, at: now)
        return failure
    }
}
