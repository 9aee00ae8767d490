import LayoverCore
import LayoverEngine
import LayoverHTTP
import NIOCore

/// Answers whose status the policy retries.
extension ProxyExchange {
    /// Whether the answer is not to be passed on, or not yet.
    func retries(_ head: ResponseHead) -> Bool {
        guard machine.retries(status: head.status), request.purpose == .transfer, connection?.isInputClosed == false
        else { return false }
        let answer = Answer(
            status: head.status, retryAfter: head.retryAfter(now: loop.wallSeconds), forbidsRetry: head.forbidsRetry)
        let step = machine.answered(
            answer, sending: summary, connection: attempt?.connectionFacts, at: loop.engine.clock.now(),
            using: &loop.generator)
        switch step {
        case .offer(let failure, let parking):
            // The engine says what becomes of it: the set may be full, or the budget spent, and then the client gets what
            // the origin said.
            offered = OfferedAnswer(head: head)
            endFresh()
            post(failure, parking)
        case .standIn(let response, _):
            tellOriginAnswered(status: head.status, .standIn(response))
            cancelAttempt()
            standIn(response)
        case .deliver(let verdict):
            tellOriginAnswered(status: head.status, verdict)
            passOn(head)
        }
        return true
    }

    func dropAnswer() {
        loop.eventLoop.execute {
            if let successor = self.successor { return successor.dropAnswer() }
            guard self.phase == .offering else { return }
            if self.offered?.isOver == false { self.cancelAttempt() }
            self.attempt = nil
            self.offered = nil
            self.phase = .parked
            // It closed its side while its answer was in hand: now it would wait, and so it has left.
            if self.connection?.isInputClosed == true { self.clientClosedInput() }
        }
    }

    func deliverAnswer(_ reason: Verdict.DeliverReason) {
        loop.eventLoop.execute {
            if let successor = self.successor { return successor.deliverAnswer(reason) }
            guard self.phase == .offering else { return }
            self.deliverOffered()
        }
    }

    /// Passes the answer in hand on after all.
    func deliverOffered() {
        guard let offered else { return }
        self.offered = nil
        passOn(offered.head)
        for event in offered.rest {
            guard attempt != nil else { break }
            receiveRest(event)
        }
        // Not within a batch of the worker, which would flush at its end.
        connection?.flushNow()
    }

    /// Answers in place of the origin.
    func standIn(_ response: StandInResponse) {
        answer(
            OwnResponse(
                response, lastFailure: lastFailure, attemptCount: rules.attemptCount,
                identity: loop.rules.identity))
        ended(as: .failed, failure: lastFailure)
    }
}
