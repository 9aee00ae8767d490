import LayoverCore
import LayoverEngine
import LayoverHTTP

/// Responses of the proxy itself.
extension ClientRecipient {
    func fail(_ failure: Failure, _ reason: Verdict.FailReason, _ exchange: Exchange) {
        if failure.evidence == .maybeApplied { loop.engine.post(.mayHaveBeenApplied(exchange.request.origin, failure)) }
        var problem = Problem(
            failure, reason: reason, attemptCount: exchange.machine.rules.attemptCount,
            entry: exchange.entry.map(loop.engine.naming.shown), bodyLoss: bodyLoss(of: exchange))
        if failure.kind == .outcomeUnknown { problem.receivedStatus = exchange.machine.unknownStatus }
        fail(problem, exchange)
    }

    private func bodyLoss(of exchange: Exchange) -> Problem.BodyLoss {
        guard let body = exchange.request.body else { return .notKept }
        if body.isTooLong { return .tooLong(max: loop.rules.body.byteCountMax) }
        if let failure = body.keepingFailure { return .noRoom(failure) }
        return body.summary == .lost ? .notKept : .incomplete
    }

    func fail(_ problem: Problem, _ exchange: Exchange) {
        var problem = problem
        if let entry = exchange.entry { problem.entry = loop.engine.naming.shown(entry) }
        problem.recall(exchange.machine.rules.counts)
        answer(OwnResponse(problem, identity: loop.rules.identity), exchange)
        exchange.ended(as: .failed, failure: exchange.lastFailure)
    }

    /// Ends the exchange where the origin's response cannot be sent by HTTP/2 as it is: it is neither altered nor asked for again.
    ///
    /// - Returns: Whether it has ended.
    func refuses(_ head: ResponseHead, of exchange: Exchange) -> Bool {
        guard response.isStream, connection != nil, let field = HTTP2Fields.unsendable(in: head) else { return false }
        exchange.forgetOffered()
        exchange.run.cancel()
        fail(.unsendable(field, status: head.status), exchange)
        return true
    }

    /// Answers in place of the origin.
    func standIn(_ response: StandInResponse, _ exchange: Exchange) {
        let (failure, count) = (exchange.lastFailure, exchange.machine.rules.attemptCount)
        answer(
            OwnResponse(response, lastFailure: failure, attemptCount: count, identity: loop.rules.identity), exchange)
        exchange.ended(as: .failed, failure: failure)
    }

    /// Writes the response and lets go of the connection. Only the first response of an exchange is written.
    func answer(_ response: OwnResponse, _ exchange: Exchange) {
        guard !exchange.phase.isEnded, !exchange.phase.isDelivering else { return }
        exchange.machine.ended()
        // Another response cannot follow the beginning of one.
        if exchange.machine.resumable != nil {
            self.response.breakOff()
            return loop.finalResponseGiven(self)
        }
        exchange.keySearch?.end(KeyOutcome(response))
        write(response)
        loop.finalResponseGiven(self)
    }

    func write(_ response: OwnResponse) {
        guard let connection else { return loop.metrics.ownResponseCount.increment() }
        connection.answer(response, to: facts, isComplete: !isReceivingRequest)
    }
}
