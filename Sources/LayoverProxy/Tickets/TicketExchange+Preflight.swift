import LayoverCore
import LayoverEngine
import LayoverHTTP
import NIOCore

/// The question to the origin before the ticket is sent to it.
extension TicketExchange {
    /// Counts as the attempt that it precedes: if it fails, so has the attempt, and nothing was sent.
    func startPreflight(_ preflight: Preflight, _ trigger: AttemptTrigger) {
        guard let request, let worker = loop.ticketWorker() else { return unready(.stopping) }
        self.worker = worker
        let number = machine.startPreflight(trigger, at: loop.engine.clock.now())
        let question = UpstreamAttempt(
            request: request.question(preflight.method), number: number,
            needsFreshConnection: trigger == .canary, wantsConnectionFacts: true, receiver: self)
        attempt = question
        worker.start(question)
    }

    /// What comes of the question.
    func receivePreflight(_ event: UpstreamEvent) {
        switch event {
        case .head(let head, _): answered(head.status)
        case .failed(let failure): attemptFailed(failure)
        case .dialled(let socket): socket.close()
        case .bodyWanted, .interim, .body, .end: break
        }
    }

    private func answered(_ status: Int) {
        cancelAttempt()
        switch machine.preflightAnswered(status: status, at: loop.engine.clock.now()) {
        case .send(let number):
            startAttempt(timeline.begun?.trigger ?? .dueTime, number: number)
        case .drop(let failure):
            ended(as: .cancelled, failure: failure)
        case .ask(let failure):
            phase = .ended
            loop.engine.post(.refusedToSend(id, .rejected, failure, takeTally()))
            loop.closed(self)
        }
    }
}

extension UpstreamRequest {
    /// The same request without its body, by another method.
    func question(_ method: String) -> UpstreamRequest {
        var question = self
        question.method = method
        question.framing = .none
        question.body = nil
        question.expectsContinue = false
        question.mayBeSentTwice = Repeatability(method: method).mayBeSentTwice
        question.fields.removeAll { field in
            let name = field.name.lowercased()
            // They speak of the body, or of doing it once.
            return name.hasPrefix("content-") || name == "idempotency-key"
        }
        return question
    }
}
