/// A response that broke off, and goes on.
extension ExchangeMachine {
    /// What follows the response to the request for the rest, or bytes of it that cannot be right.
    package enum ContinuationStep: Sendable, Hashable {
        case goOn
        case park(Failure, Verdict.Parking)
        /// It is all of the response: what came before is of no use any more.
        case replace
        case breakOff(Failure)
    }

    /// What follows bytes of it.
    package enum ContinuationBytesStep: Sendable, Hashable {
        /// They are passed on, but for so many at the beginning that the recipient has.
        case pass(skipping: Int)
        case refused(ContinuationRefusal)
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
            // Nobody has used what came before, and the origin has sent all of what there is now.
            if recipient != .client, head.status == 200 {
                forgetPart()
                return .replace
            }
            return refused(refusal, status: head.status, in: circumstances, using: &generator)
        case .askAgain?, nil:
            var failure = Failure.answered(head.status)
            failure.evidence = .maybeApplied
            return waits(failure, head, in: circumstances, using: &generator)
        }
    }

    /// Decides about bytes of the continuation.
    package mutating func continuationCame(_ count: Int) -> ContinuationBytesStep {
        resumable?.came(count).map { .pass(skipping: $0) } ?? .refused(.tooLong)
    }

    /// What came is not the rest: a client is cut off. The store and the cache ask for all of it, at the next attempt.
    package mutating func refused(
        _ refusal: ContinuationRefusal, status: Int? = nil, in circumstances: Circumstances,
        using generator: inout some RandomNumberGenerator
    ) -> ContinuationStep {
        let failure = Failure(phase: .receiving, kind: .httpResponseIncomplete, evidence: .maybeApplied, message: refusal.message)
        guard recipient != .client else {
            _ = breakOff(failure, at: circumstances.now)
            return .breakOff(failure)
        }
        forgetPart()
        return waits(failure, ResumeFacts(status: status ?? 206), in: circumstances, using: &generator)
    }

    /// All of the response will be asked for.
    private mutating func forgetPart() {
        partMark = max(partMark, resumable?.done ?? 0)
        resumable = nil
    }

    private mutating func waits(
        _ failure: Failure, _ head: ResumeFacts, in circumstances: Circumstances, using generator: inout some RandomNumberGenerator
    ) -> ContinuationStep {
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
