import LayoverCore
import LayoverEngine
import LayoverHTTP
import NIOCore
import Synchronization

/// The origin's answer, from the worker to the store.
extension TicketExchange {
    func received(_ head: ResponseHead, sendings: Int) {
        if sendings > 1 { rules.sentAgainWithinAttempt(sendings - 1) }
        guard phase == .attempting, !retries(head) else { return }
        record(.deliver(.answered), status: head.status)
        loop.engine.post(.answered(id, takeTally()))
        keep(head)
    }

    /// Whether the answer is not to be kept, or not yet.
    private func retries(_ head: ResponseHead) -> Bool {
        guard machine.retries(status: head.status) else { return false }
        let answer = Answer(
            status: head.status, retryAfter: head.retryAfter(now: loop.wallSeconds), forbidsRetry: head.forbidsRetry)
        let step = machine.answered(
            answer, sending: summary, connection: attempt?.connectionFacts, at: loop.engine.clock.now(),
            using: &loop.generator)
        switch step {
        case .offer(let failure, let parking):
            offered = OfferedAnswer(head: head)
            loop.engine.post(.attemptFailed(id, failure, parking, takeTally()))
        case .standIn(let response, let failure):
            record(.standIn(response), status: head.status)
            cancelAttempt()
            ended(as: .failed, failure: failure)
        case .deliver(let verdict):
            record(verdict, status: head.status)
            loop.engine.post(.answered(id, takeTally()))
            keep(head)
        }
        return true
    }

    func keep(_ head: ResponseHead) {
        phase = .delivering
        invalidate(head)
        answer = AnswerCapture(head, loop: loop) { [weak self] count in self?.took(count) }
    }

    /// What a ticket has changed is not read from the cache any more (RFC 9111 section 4.4). Nothing of it is kept.
    private func invalidate(_ head: ResponseHead) {
        guard let cache = loop.cache, let request, let turn = CacheTurn(cache, request, rules.policy),
            !turn.isReadable
        else { return }
        let now = loop.wallSeconds
        cache.answered(head, to: request.cacheRequest, at: CacheTimes(requestedAt: now, answeredAt: now))?.abandon()
    }

    func received(_ bytes: ByteBuffer) {
        guard let answer, phase == .delivering else { return took(bytes.readableBytes) }
        answer.append(bytes)
    }

    /// Bytes that the worker may be ahead when it goes on after a pause. Default: 128 KiB.
    private static let resumeBelow = 128 << 10

    private func took(_ count: Int) {
        guard let attempt, count > 0 else { return }
        let left = attempt.bytesOutstanding.subtract(count, ordering: .acquiringAndReleasing).newValue
        if left < Self.resumeBelow, attempt.isReceivingPaused.load(ordering: .acquiring) {
            worker?.resumeReceiving(attempt)
        }
    }

    func answerEnded() {
        attempt = nil
        guard phase == .delivering, let answer else { return }
        answer.finish(as: "\(id).answer") { [self] stored in delivered(stored) }
    }

    /// The answer broke off, and may not be asked for again: what is known is kept.
    func answerBroke(_ failure: Failure) {
        guard let answer else { return ended(as: .failed, failure: failure) }
        delivered(answer.withoutBody(), brokenBy: failure)
    }

    /// - Parameter failure: What broke the answer off; nil where it is whole.
    private func delivered(_ stored: StoredAnswer, brokenBy failure: Failure? = nil) {
        // Its entry may have come to its end while the answer was being kept.
        guard phase == .delivering else {
            answer?.discard()
            return loop.closed(self)
        }
        phase = .ended
        if wasRefused { endClaimWithoutTicket() }
        loop.metrics.countAnswer(status: stored.status)
        loop.engine.post(.ticketDelivered(id, stored, failure, takeTally()))
        loop.closed(self)
    }
}

extension TicketExchange: HeldExchange {
    func start(_ trigger: AttemptTrigger, isForced: Bool) {
        loop.eventLoop.execute {
            guard self.phase == .parked else { return }
            self.begin(trigger, isForced: isForced)
        }
    }

    func abandonConnecting() {
        loop.eventLoop.execute {
            guard let attempt = self.attempt, self.phase == .attempting || self.phase == .preflight else { return }
            self.rules.isAbandoned = true
            self.worker?.cancelIfConnecting(attempt)
        }
    }

    func dropAnswer() {
        loop.eventLoop.execute {
            guard self.phase == .offering else { return }
            if self.offered?.isOver == false { self.cancelAttempt() }
            self.attempt = nil
            self.offered = nil
            self.restOrClose()
        }
    }

    func deliverAnswer(_ reason: Verdict.DeliverReason) {
        loop.eventLoop.execute { self.deliverOffered() }
    }

    private func deliverOffered() {
        guard phase == .offering, let offered else { return }
        self.offered = nil
        keep(offered.head)
        for event in offered.rest {
            guard attempt != nil else { break }
            receiveRest(event)
        }
    }

    func showBody(_ done: @escaping @Sendable (HeldBody?) -> Void) {
        loop.eventLoop.execute { done(self.request.map { HeldBody(body: $0.body, fields: $0.fields) }) }
    }

    func offerTicket() {}

    /// The engine has taken the entry out of the set already.
    func end(_ end: EntryEnd, retryAfter: Duration?) {
        loop.eventLoop.execute {
            guard self.phase != .ended else { return }
            // What became of the question before it says nothing of the ticket.
            self.aborted = self.phase == .preflight ? nil : self.attempt
            self.offered = nil
            self.phase = .ended
            self.cancelAttempt()
            self.loop.closed(self)
        }
    }

    func refuse(limit: String, value: Int) {
        loop.eventLoop.execute { self.deliverOffered() }
    }
}
