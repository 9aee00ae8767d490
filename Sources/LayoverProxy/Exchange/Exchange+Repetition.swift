import LayoverCore
import LayoverEngine
import LayoverHTTP
import NIOCore

/// Responses to a repetition that do not show whether an earlier attempt was applied (`RepeatedAnswer`).
extension Exchange {
    /// How long the body of a conflict is read for its code. Default: 5 s.
    private static let codeTime: TimeAmount = .seconds(5)

    /// - Returns: Whether the response must not be delivered.
    func leavesOutcomeUnknown(_ head: ResponseHead) -> Bool {
        // First what a first attempt decides without a copy of the machine.
        guard machine.rules.counts.mayHaveBeenApplied, request.purpose == .transfer, phase.isAttempting || phase.isUnattended else {
            return false
        }
        switch machine.meaning(ofStatus: head.status, to: repeatedSummary) {
        case .answer: return false
        case _ where phase.isUnattended: outcomeIsUnknownWithoutClient(head)
        case .unknown: outcomeIsUnknown(after: head, isConflict: false)
        case .unknownUnlessConflict:
            machine.bodyIsAwaited()
            keepBack(OfferedResponse(head: head, readsCode: true))
            loop.eventLoop.scheduleTask(in: Self.codeTime) { [weak self, weak attempt] in
                if let self, let attempt, self.attempt === attempt { self.judgeOffered() }
            }
        }
        return true
    }

    private var repeatedSummary: RequestSummary {
        var summary = self.summary
        summary.hasPrecondition = request.fields.contains { PreconditionField.isOne($0.name, value: $0.text) }
        return summary
    }

    /// Keeps what follows the head of a response in hand.
    func keepOffered(_ event: UpstreamEvent) {
        keepBack(event)
        guard let offered, offered.readsCode, offered.isOver || offered.byteCount > ConflictCode.byteCountMax else { return }
        judgeOffered()
    }

    /// All of the body has come, or more than is read of it, or no more is waited for.
    func judgeOffered() {
        guard phase.isOffering, let offered, offered.readsCode else { return }
        outcomeIsUnknown(after: offered.head, isConflict: offered.isConflict)
    }

    private func outcomeIsUnknown(after head: ResponseHead, isConflict: Bool) {
        if isLeftBehind { machine.wasLeftBehind() }
        let response = ResponseSummary(
            status: head.status, retryAfter: head.retryAfter(now: loop.wallSeconds), forbidsRetry: head.forbidsRetry)
        let step = machine.outcomeIsUnknown(
            after: response, isConflict: isConflict, sending: summary, connection: attempt?.connectionFacts,
            at: loop.engine.clock.now(), using: &loop.generator)
        if entry == nil { tellOriginAnswered() }
        if offered?.isOver == true { run.end() } else { run.cancel() }
        forgetOffered()
        follow(step)
    }

    /// The client has left. Requests with the same key get what it would have got.
    private func outcomeIsUnknownWithoutClient(_ head: ResponseHead) {
        let failure = Failure.outcomeUnknown(status: head.status)
        record(nil, failure: failure, status: head.status)
        run.cancel()
        var problem = Problem(
            failure, reason: .outcomeUnknown, attemptCount: machine.rules.attemptCount, entry: nil)
        problem.receivedStatus = head.status
        keySearch?.end(KeyOutcome(OwnResponse(problem, identity: loop.rules.identity)))
        ended(as: .cancelled, failure: failure)
    }
}
