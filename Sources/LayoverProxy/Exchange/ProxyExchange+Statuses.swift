import Glibc
import LayoverCore
import LayoverEngine
import LayoverHTTP
import NIOCore

/// Answers whose status the policy retries.
extension ProxyExchange {
    /// Whether the answer is not to be passed on, or not yet.
    func retries(_ head: ResponseHead) -> Bool {
        guard rules.policy.retryOn.contains(where: { $0.matches(status: head.status) }),
            request.purpose == .transfer, connection?.isInputClosed == false
        else { return false }
        let answer = Answer(
            status: head.status, retryAfter: head.retryAfter(now: time(nil)), forbidsRetry: head.forbidsRetry)
        let verdict = rules.verdict(on: answer, sending: summary, using: &loop.generator)
        switch verdict {
        case .park(let parking):
            offer(head, parking)
        case .standIn(let response):
            lastFailure = .answered(head.status)
            tellOriginAnswered(status: head.status, verdict)
            cancelAttempt()
            standIn(response)
        case .deliver, .fail, .againOnNewConnection:
            tellOriginAnswered(status: head.status, verdict)
            passOn(head)
        }
        return true
    }

    /// Holds the answer back until the engine has said what becomes of it: the set may be full, or the budget
    /// spent, and then the client gets what the origin said.
    private func offer(_ head: ResponseHead, _ parking: Verdict.Parking) {
        phase = .offering
        offered = OfferedAnswer(head: head)
        let failure = Failure.answered(head.status)
        lastFailure = failure
        record(.park(parking), failure: failure, status: head.status)
        endFresh()
        post(failure, parking)
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
        phase = .attempting
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
