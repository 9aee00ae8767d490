import LayoverCore
import LayoverEngine
import LayoverHTTP
import NIOCore

/// What attempts come to, and what follows.
extension Exchange {
    // MARK: Failures

    func attemptFailed(_ failure: Failure) {
        let obstacle = obstacle(failure)
        attempt = nil
        endFresh()
        guard phase != .ended else {
            // Its client has left, and its attempt was let finish.
            record(nil, failure: failure)
            return ended(as: .cancelled, failure: failure)
        }
        loop.metrics.failedAttemptCount.increment()
        if isLeftBehind { rules.isTicket = true }
        let step = machine.attemptFailed(
            failure,
            in: .init(request: summary, isNetworkAway: loop.isNetworkAway, now: loop.engine.clock.now(), obstacle: obstacle),
            using: &loop.generator)
        if step.endsTheTry, RetryCondition.connectivity.matches(failure),
            cacheUse?.serveStale(for: self, orElse: { self.follow(step) }) == true
        {
            return
        }
        follow(step)
    }

    private func obstacle(_ failure: Failure) -> ExchangeMachine.Obstacle? {
        guard case .store = recipient else { return nil }
        if startRecord?.wasRefused == true, failure.evidence == .neverSent { return .startNotRecorded }
        return request.body?.summary == .brokenOff ? .bodyUnreadable : nil
    }

    private func follow(_ step: ExchangeMachine.FailureStep) {
        if case .breakOff(let failure) = step { return recipient.breakOff(failure, of: self) }
        recipient.discard()
        switch step {
        case .again(let trigger): startAttempt(trigger, onNewConnection: true)
        case .park(let failure, let parking): park(failure, parking)
        // A 2xx to CONNECT would be taken for a tunnel (RFC 9110 section 9.3.6).
        case .standIn(_, let failure) where request.purpose == .dial: fail(failure, .exhausted)
        case .standIn(let response, let failure): standIn(response, failure)
        case .fail(let failure, let reason): fail(failure, reason)
        case .breakOff: break
        }
    }

    /// Nothing could be sent: the store, or the end of the proxy, is in the way.
    func couldNotStart(_ failure: Failure = .stopping) {
        switch recipient {
        case .client: fail(.stopping)
        case .store: park(failure, machine.couldNotStart(failure))
        case .cache: ended(as: .cancelled)
        }
    }

    /// What the client is told of a failure.
    func problem(_ failure: Failure, _ reason: Verdict.FailReason) -> Problem {
        Problem(
            failure, reason: reason, attemptCount: rules.attemptCount, entry: entry.map(loop.engine.naming.shown),
            bodyByteCountMax: loop.rules.body.byteCountMax)
    }

    // MARK: Waiting

    func park(_ failure: Failure?, _ parking: Verdict.Parking) {
        switch recipient {
        case .client(let client): park(client, failure, parking)
        case .store:
            post(failure, parking)
            rest()
        case .cache:
            phase = .parked
            post(failure, parking)
        }
    }

    private func park(_ client: ClientRecipient, _ failure: Failure?, _ parking: Verdict.Parking) {
        if isLeftBehind {
            phase = .parked
            post(failure, parking)
            _ = goOnWithoutClient()
            client.connection?.linger()
        } else if client.connection?.isInputClosed == true {
            // A client that closed its side after its request wanted one answer, not a wait.
            if let failure { return fail(problem(failure, .pass)) }
            clientLeft()
            client.connection?.linger()
        } else {
            phase = .parked
            post(failure, parking)
            client.sendContinue(in: phase)
        }
    }

    /// Asks to join the set, or to wait on in it.
    func post(_ failure: Failure?, _ parking: Verdict.Parking) {
        if let entry, let failure {
            loop.engine.post(.attemptFailed(entry, failure, parking, takeTally()))
        } else {
            let new = NewEntry(of: self, failure, parking)
            entry = new.id
            loop.engine.post(.parked(new, self))
        }
    }

    /// Its place in the set. It joins now if its first attempt is still under way.
    func joinedEntry() -> EntryID {
        if let entry { return entry }
        endFresh()
        let new = NewEntry(of: self)
        entry = new.id
        loop.engine.post(.joined(new, self))
        return new.id
    }

    /// A ticket that is in the store waits there; its next attempt gets an exchange of its own. Any other waits here.
    func rest() {
        // mutant: nobody-left
        phase = store?.isStored == true ? .ended : .parked
        if phase == .ended { loop.closed(self) }
    }

    /// It must not be sent once more: its client is told, or somebody is asked.
    func refuseToSend() {
        let asks = entry != nil && rules.policy.maybeAppliedRule() == .ask
        if case .client = recipient, !asks { return fail(.ended(.maybeApplied, lastFailure: lastFailure)) }
        refusedToSend(.maybeApplied, nil)
    }

    /// - Parameter failure: Nil where the last one says it all.
    func refusedToSend(_ reason: UndecidedReason, _ failure: Failure?) {
        guard let entry else { return }
        if case .store = recipient { rest() }
        loop.engine.post(.refusedToSend(entry, reason, failure, takeTally()))
    }

    // MARK: Responses

    func received(_ head: ResponseHead, sendings: Int) {
        if sendings > 1 { rules.sentAgainWithinAttempt(sendings - 1) }
        guard phase != .attempting || !retries(head) else { return }
        originAnswered(.deliver(.answered), status: head.status)
        // Its client has left, but others may have asked for the same.
        if phase == .ended { client?.share(head, of: self) }
        if phase == .attempting { deliver(head) }
    }

    /// Whether the response is not to be passed on, or not yet.
    private func retries(_ head: ResponseHead) -> Bool {
        guard machine.retries(status: head.status), request.purpose == .transfer else { return false }
        if let client, client.connection?.isInputClosed != false { return false }
        let answer = Answer(
            status: head.status, retryAfter: head.retryAfter(now: loop.wallSeconds), forbidsRetry: head.forbidsRetry)
        let step = machine.answered(
            answer, sending: summary, connection: attempt?.connectionFacts, at: loop.engine.clock.now(), using: &loop.generator)
        switch step {
        case .offer(let failure, let parking):
            // The engine says what becomes of it: the set may be full, or the budget spent, and then the client gets what the
            // origin said.
            offered = OfferedAnswer(head: head)
            endFresh()
            post(failure, parking)
        case .standIn(let response, let failure):
            originAnswered(.standIn(response), status: head.status)
            cancelAttempt()
            standIn(response, failure)
        case .deliver(let verdict):
            originAnswered(verdict, status: head.status)
            deliver(head)
        }
        return true
    }

    /// The engine hears of responses only from origins that were in trouble.
    func originAnswered(_ verdict: Verdict, status: Int) {
        if let entry {
            record(verdict, status: status)
            loop.engine.post(.answered(entry, takeTally()))
        } else if loop.notice(for: request.origin) != nil {
            loop.engine.post(.originAnswered(request.origin))
        } else if loop.isNetworkDoubted, !request.origin.isLoopback {
            loop.networkAnswered()
        }
    }

    /// Passes the response in hand on after all.
    func deliverOffered() {
        guard phase == .offering, let offered else { return }
        self.offered = nil
        deliver(offered.head)
        for event in offered.rest {
            guard attempt != nil else { break }
            receiveRest(event)
        }
        // Not within a batch of the worker, which would flush at its end.
        connection?.flushNow()
    }

    private func deliver(_ head: ResponseHead) {
        phase = .delivering
        recipient.begin(head, of: self)
    }

    func received(_ bytes: ByteBuffer) { taken(recipient.receive(bytes, of: self)) }

    func responseEnded(trailers: ByteBuffer?) {
        attempt = nil
        endFresh()
        recipient.finish(trailers: trailers, of: self)
    }

    // MARK: The preflight

    /// It counts as the attempt that it precedes: if it fails, so has the attempt, and nothing was sent.
    func receivePreflight(_ event: UpstreamEvent) {
        switch event {
        case .head(let head, _): preflightAnswered(head.status)
        case .failed(let failure): attemptFailed(failure)
        case .dialled(let socket): socket.close()
        case .bodyWanted, .interim, .body, .end: break
        }
    }

    private func preflightAnswered(_ status: Int) {
        cancelAttempt()
        switch machine.preflightAnswered(status: status, at: loop.engine.clock.now()) {
        case .send(let number): startAttempt(machine.timeline.begun?.trigger ?? .dueTime, counted: number)
        case .drop(let failure): ended(as: .cancelled, failure: failure)
        case .ask(let failure): refusedToSend(.rejected, failure)
        }
    }
}
