import LayoverCore
import LayoverEngine
import LayoverHTTP
import LayoverOrigin
import NIOCore

/// What attempts come to, and what follows.
extension Exchange {
    // MARK: Failures

    func attemptFailed(_ failure: Failure) {
        run.end()
        guard !phase.isUnattended else {
            let known = machine.unattendedFailed(failure, at: loop.engine.clock.now())
            return ended(as: .cancelled, failure: known)
        }
        loop.metrics.failedAttemptCount.increment()
        if isLeftBehind { machine.wasLeftBehind() }
        if phase.isDelivering, machine.resumable == nil, store == nil || loop.mayKeepPart { machine.resumable = resumableResponse() }
        let step = machine.attemptFailed(
            failure,
            in: .init(
                request: summary, network: loop.network.condition, now: loop.engine.clock.now(), obstacle: obstacle(failure)),
            using: &loop.generator)
        // The callback that says so may have come before the failure.
        if case .collect = step, request.body?.isStuck == true { return judgeCollected() }
        // Under mode `offline` as for a request that arrives then.
        let isOffline = machine.rules.isAbandonedByMode && failure.evidence == .neverSent
        if step.endsTheTry, machine.resumable == nil, isOffline || RetryCondition.connectivity.matches(failure) {
            serveStale { self.follow(step) }
        } else {
            follow(step)
        }
    }

    /// All of the request has come, or no more of it can be kept: decides what follows the failure before.
    func judgeCollected() {
        guard phase == .collecting(for: .verdict) else { return }
        let step = machine.collected(
            in: .init(request: summary, network: loop.network.condition, now: loop.engine.clock.now()), using: &loop.generator)
        guard let step else { return }
        if step.endsTheTry { serveStale { self.follow(step) } } else { follow(step) }
    }

    /// Looks in the cache, once, because the origin cannot be reached.
    func serveStale(orElse: @escaping () -> Void) {
        if cacheUse?.serveStale(for: self, orElse: orElse) != true { orElse() }
    }

    private func obstacle(_ failure: Failure) -> ExchangeMachine.Obstacle? {
        guard store != nil else { return nil }
        if run.startRecord?.wasRefused == true, failure.evidence == .neverSent { return .startNotRecorded }
        return request.body?.summary == .brokenOff ? .bodyUnreadable : nil
    }

    func follow(_ step: ExchangeMachine.FailureStep) {
        if case .breakOff(let failure) = step { return recipient.breakOff(failure, of: self) }
        if case .finish = step { return recipient.finish(trailers: nil, of: self) }
        discardUnlessResumed()
        switch step {
        case .collect: client?.sendContinue(in: phase)
        case .again(let trigger): startAttempt(trigger, onNewConnection: true)
        case .park(let failure, let parking): park(failure, parking)
        // A 2xx to CONNECT would be taken for a tunnel (RFC 9110 section 9.3.6).
        case .standIn(_, let failure) where request.purpose == .dial: fail(failure, .exhausted)
        case .standIn(let response, let failure): standIn(response, failure)
        case .fail(let failure, let reason): fail(failure, reason)
        case .breakOff, .finish: break
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

    func preflightAnswered(_ head: ResponseHead) {
        guard !parentProxyRefused(head) else { return }
        run.cancel()
        switch machine.preflightAnswered(status: head.status, at: loop.engine.clock.now()) {
        case .send(let number): startAttempt(machine.timeline.begun?.trigger ?? .dueTime, counted: number)
        case .drop(let failure): ended(as: .cancelled, failure: failure)
        case .ask(let failure): refusedToSend(.rejected, failure)
        }
    }

    /// The request must not be sent once more: its client gets a problem, or a person has to decide.
    func refuseToSend() {
        let asks = entry != nil && machine.rules.policy.maybeAppliedRule() == .ask
        if client != nil, !asks { return fail(.ended(.maybeApplied, lastFailure: lastFailure)) }
        refusedToSend(.maybeApplied, nil)
    }

    /// - Parameter failure: Nil where the last one says it all.
    func refusedToSend(_ reason: UndecidedReason, _ failure: Failure?) {
        guard let entry else { return }
        if store != nil {
            machine.resumable = nil
            recipient.discard()
            rest()
        }
        loop.engine.post(.notSendable(RequestNotSendable(entry, why: reason, failure: failure, takeTally())))
    }

    // MARK: Waiting

    func park(_ failure: Failure?, _ parking: Verdict.Parking) {
        if let client, client.connection?.isInputClosed == true {
            return clientClosedWhileWaiting(client, failure, parking)
        }
        post(failure, parking)
        rest()
        client?.sendContinue(in: phase)
        if failure != nil, parking.hadNoResponse || notice == .shut { conversion?.originIsAway() }
    }

    /// Asks to join the set, or to wait on in it.
    func post(_ failure: Failure?, _ parking: Verdict.Parking) {
        if let entry, let failure {
            return loop.engine.post(.attemptFailed(AttemptFailed(entry, failure, parking, takeTally())))
        }
        let new = NewEntry(of: self, failure, parking)
        joined(as: new.id)
        noteParked(as: new.id)
        loop.engine.post(ParkRequested(new), from: self)
    }

    /// The exchange's place in the set. The exchange joins now if its first attempt is still under way.
    func joinedEntry() -> EntryID {
        if let entry { return entry }
        run.endFresh()
        let new = NewEntry(of: self)
        joined(as: new.id)
        noteParked(as: new.id)
        run.show()
        loop.engine.post(JoinedDuringAttempt(new), from: self)
        return new.id
    }

    /// A ticket that is in the store waits there; its next attempt gets an exchange of its own. Any other waits here, and so does one
    /// with a part of its response.
    func rest() {
        machine.rested()
        if phase.isEnded { loop.closed(self) }
    }

    // MARK: Responses

    func received(_ head: ResponseHead, sendings: Int) {
        if sendings > 1 { machine.rules.sentAgainWithinAttempt(sendings - 1) }
        guard !parentProxyRefused(head) else { return }
        if machine.resumable != nil, phase.isAttempting { return continued(by: head) }
        // Before anybody keeps or passes on the head (RFC 9110 section 6.6.1).
        let head = head.hasDate ? head : head.dated(by: loop.dateLine.bytes(at: loop.wallSeconds))
        if phase.isUnattended {
            if !leavesOutcomeUnknown(head) { answeredUnattended(head) }
            return
        }
        guard !leavesOutcomeUnknown(head) else { return }
        guard !phase.isAttempting || !retries(head) else { return }
        originAnswered(.deliver(.answered), status: head.status)
        if phase.isAttempting { deliver(head) }
    }

    /// True if the parent proxy has refused our credentials. Its 407 is not passed on, because the client would send its own credentials.
    /// The 407 says nothing about the origin.
    private func parentProxyRefused(_ head: ResponseHead) -> Bool {
        guard head.status == 407, let failure = request.refusedCredentials(on: attempt?.connectionFacts) else { return false }
        run.abortQuietly()
        attemptFailed(failure)
        return true
    }

    /// Whether the response is not to be passed on, or not yet.
    private func retries(_ head: ResponseHead) -> Bool {
        // The list first: a call of the machine copies it.
        guard machine.rules.policy.retryOn.match(status: head.status), machine.retries(status: head.status) else { return false }
        if let client, client.connection?.isInputClosed != false { return false }
        let response = ResponseSummary(
            status: head.status, retryAfter: head.retryAfter(now: loop.wallSeconds), forbidsRetry: head.forbidsRetry)
        let step = machine.answered(
            response, sending: summary, connection: attempt?.connectionFacts, at: loop.engine.clock.now(), using: &loop.generator)
        switch step {
        case .offer(let failure, let parking):
            // The engine says what becomes of it: the set may be full, or the budget spent, and then the client gets what the
            // origin said.
            keepBack(OfferedResponse(head: head))
            run.endFresh()
            post(failure, parking)
        case .standIn(let standIn, let failure):
            tellPause(response)
            originAnswered(.standIn(standIn), status: head.status)
            run.cancel()
            self.standIn(standIn, failure)
        case .deliver(let verdict):
            tellPause(response)
            originAnswered(verdict, status: head.status)
            deliver(head)
        }
        return true
    }

    /// This request does not wait, but others of its policy stay away from an origin that asks for it.
    private func tellPause(_ response: ResponseSummary) {
        guard let wait = machine.rules.pause(after: response) else { return }
        loop.engine.post(OriginPaused(request.origin, for: machine.rules.policy, wait))
    }

    /// Reports a response to the engine. For a request without an entry only if its origin, or the network, was in trouble.
    func originAnswered(_ verdict: Verdict, status: Int) {
        if let entry {
            record(verdict, status: status)
            loop.engine.post(.answered(AttemptAnswered(entry, takeTally())))
        } else {
            tellOriginAnswered()
        }
    }

    /// Evidence for other requests, where they wait for the origin or for the network.
    func tellOriginAnswered() {
        if notice != nil {
            loop.engine.post(OriginAnswered(request.origin))
            if let gate = request.parentProxy?.gate { loop.engine.post(OriginAnswered(gate)) }
        } else if loop.network.condition.isDoubted, !request.origin.isLoopback {
            loop.networkAnswered()
        }
    }

    /// Passes the response in hand on after all.
    func deliverOffered() {
        guard phase.isOffering, let offered else { return }
        if offered.readsCode { return judgeOffered() }
        self.forgetOffered()
        deliver(offered.head)
        for event in offered.rest {
            guard attempt != nil else { break }
            receiveRest(event)
        }
        // Not within a batch of the worker, which would flush at its end.
        client?.connection?.flushNow()
        run.handshake?.readMore()
    }

    private func deliver(_ head: ResponseHead) {
        if let client, client.refuses(head, of: self) { return }
        machine.deliveryBegan()
        recipient.begin(head, of: self)
    }
}
