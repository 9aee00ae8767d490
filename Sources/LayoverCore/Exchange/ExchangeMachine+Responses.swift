/// Responses whose status is retried, and those that do not stand for themselves: the rest of one that broke off, and those to a
/// repetition that do not answer the request.
extension ExchangeMachine {
    /// The step that follows a response.
    package enum ResponseStep: Sendable, Hashable {
        case deliver(Verdict)
        /// The response is withheld until the engine decides whether another attempt may be made.
        case withhold(Failure, Verdict.Parking)
        case standIn(StandInResponse, Failure)
    }

    /// Whether the policy retries a status. Then `answered` is to be asked. The cache decides by itself what it does with any
    /// status.
    package func retries(status: Int) -> Bool {
        holder != .cache && attempts.policy.retryOn.match(status: status)
    }

    /// Decides what follows a response whose status is retried. Only a withheld response is recorded here; the caller records the
    /// others.
    package mutating func answered(
        _ response: ResponseSummary, sending request: RequestSummary, connection: ConnectionFacts?, at now: Timestamp,
        using generator: inout some RandomNumberGenerator
    ) -> ResponseStep {
        let verdict = attempts.verdict(on: response, sending: request, using: &generator)
        let failure = Failure.answered(response.status, isMade: connection?.isMade == true)
        switch verdict {
        case .park(let parking):
            enter(.withholding)
            lastFailure = failure
            record(verdict, failure: failure, status: response.status, connection: connection, at: now)
            return .withhold(failure, parking)
        case .standIn(let response):
            lastFailure = failure
            return .standIn(response, failure)
        case .deliver, .fail, .againOnNewConnection:
            return .deliver(verdict)
        }
    }

    // MARK: The rest of a response

    /// What follows the response to the request for the rest, or bytes of it that cannot be right.
    package enum ContinuationStep: Sendable, Hashable {
        case goOn
        /// The response takes the place of the part that came before it.
        case replace
        /// The attempt failed.
        case failed(FailureStep)
    }

    /// What follows bytes of it.
    package enum ContinuationBytesStep: Sendable, Hashable {
        /// The bytes are passed on, except those at the beginning that the recipient already has.
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
            if holder != .client, head.status == 200 {
                forgetPart()
                return .replace
            }
            return .failed(refused(refusal, in: circumstances, using: &generator))
        case .askAgain?, nil:
            var failure = Failure.answered(head.status)
            failure.evidence = .maybeApplied
            let verdict = attempts.verdictOnContinuation(
                failure, sending: judged(circumstances), retryAfter: head.retryAfter, using: &generator)
            // The rest is not asked for again, so the last response counts, as it does if no response had begun.
            if holder != .client, !verdict.sendsAgain {
                forgetPart()
                return .replace
            }
            return .failed(follows(verdict, failure, head, in: circumstances))
        }
    }

    /// Decides about bytes of the continuation.
    package mutating func continuationCame(_ count: Int) -> ContinuationBytesStep {
        resumable?.came(count).map { .pass(skipping: $0) } ?? .refused(.tooLong)
    }

    /// The bytes or the response are not the rest. A client is cut off. For the store and the cache the next attempt requests the whole
    /// response.
    package mutating func refused(
        _ refusal: ContinuationRefusal, in circumstances: Circumstances, using generator: inout some RandomNumberGenerator
    ) -> FailureStep {
        let failure = Failure(phase: .receiving, kind: .httpResponseIncomplete, evidence: .maybeApplied, message: refusal.message)
        guard holder != .client else { return breakOff(failure, at: circumstances.now) }
        forgetPart()
        let verdict = attempts.verdictOnContinuation(
            failure, sending: judged(circumstances), retryAfter: nil, using: &generator)
        return follows(verdict, failure, nil, in: circumstances)
    }

    /// All of the response will be asked for.
    private mutating func forgetPart() {
        partMark = max(partMark, resumable?.done ?? 0)
        resumable = nil
    }

    /// - Parameter head: The response that asks to come later; nil if no response does.
    private mutating func follows(
        _ verdict: Verdict, _ failure: Failure, _ head: ResumeFacts?, in circumstances: Circumstances
    ) -> FailureStep {
        lastFailure = failure
        switch verdict {
        case .park(var parking):
            parking.retryAfter = head.flatMap { attempts.pause(after: ResponseSummary(status: $0.status, retryAfter: $0.retryAfter)) }
            record(.park(parking), failure: failure, status: head?.status, at: circumstances.now)
            return .park(failure, parking)
        case .standIn(let response) where holder != .client:
            record(verdict, failure: failure, at: circumstances.now)
            return .standIn(response, failure)
        case .fail(let reason) where holder != .client:
            record(verdict, failure: failure, at: circumstances.now)
            return .fail(failure, reason)
        case .againOnNewConnection, .deliver, .standIn, .fail: return breakOff(failure, at: circumstances.now)
        }
    }

    // MARK: Responses to a repetition

    /// The meaning of a final response. Costs a comparison as long as no attempt may have been applied.
    package func meaning(ofStatus status: Int, to request: @autoclosure () -> RequestSummary)
        -> RepeatedResponse
    {
        guard attempts.counts.mayHaveBeenApplied, holder != .cache else { return .answer }
        return RepeatedResponse(status: status, to: request())
    }

    /// Decides what follows a response that does not show whether an earlier attempt was applied.
    ///
    /// - Parameter isConflict: Whether the origin wants the request repeated (`ConflictCode`).
    package mutating func outcomeIsUnknown(
        after response: ResponseSummary, isConflict: Bool, connection: ConnectionFacts?, in circumstances: Circumstances,
        using generator: inout some RandomNumberGenerator
    ) -> FailureStep {
        let failure = Failure.outcomeUnknown(status: response.status)
        let verdict = attempts.verdict(
            onUnknown: response, isConflict: isConflict, sending: judged(circumstances), using: &generator)
        lastFailure = failure
        unknownStatus = response.status
        record(verdict, failure: failure, status: response.status, connection: connection, at: circumstances.now)
        switch verdict {
        case .park(let parking): return .park(failure, parking)
        case .fail(let reason): return .fail(failure, reason)
        case .againOnNewConnection, .deliver, .standIn: return .fail(failure, .outcomeUnknown)
        }
    }
}

extension Failure {
    /// A person ended the attempt. How far it got stays.
    mutating func becomeAborted() {
        // A response of our own, 502: the origin is not to blame.
        kind = .proxyInternalResponse
        message = "A person aborted the attempt."
    }

    /// The response to a repetition does not answer the request.
    package static func outcomeUnknown(status: Int) -> Failure {
        Failure(
            phase: .awaitingResponse, kind: .outcomeUnknown, evidence: .maybeApplied,
            message:
                "The request was sent more than once, and the server may have processed an earlier attempt. The last one was "
                + "answered with status \(status), which does not show the outcome of the request.")
    }
}
