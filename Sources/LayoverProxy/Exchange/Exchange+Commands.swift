import LayoverCore
import LayoverEngine
import NIOCore

/// The end of an exchange.
extension Exchange {
    /// Answers the client in place of the origin, and lets go of the connection. Only the first response of an exchange is written.
    func answer(_ response: OwnResponse) {
        guard let client, !phase.isEnded, !phase.isDelivering else { return }
        machine.ended()
        if machine.resumable == nil {
            keySearch?.end(KeyOutcome(response))
            client.write(response)
        } else {
            // Another response cannot follow the beginning of one.
            client.breakOff()
        }
        loop.finalResponseGiven(self)
    }

    /// The store has the response to a ticket, or as much as is known of it.
    func ticketDelivered(_ stored: StoredResponse, brokenBy failure: Failure? = nil) {
        if machine.holder == .store(.refused) { responseIsNotStored() }
        loop.metrics.countResponse(status: stored.status)
        machine.ended()
        if let entry { loop.engine.post(.ticketDelivered(entry, stored, failure, takeTally())) }
        close()
    }

    /// Tells the engine, if it knows this exchange.
    func ended(as state: EntryState, failure: Failure? = nil) {
        machine.ended()
        conversion?.stopTimers()
        if let entry {
            if case .client = recipient { leaveSet(entry) }
            loop.engine.post(.ended(ExchangeEnded(entry, as: state, failure: failure, takeTally())))
        }
        close()
    }

    /// The entry is about to end, or has ended, and the exchange has none any more.
    func leaveSet(_ id: EntryID) {
        forgetEntry()
        if machine.hasAskedForTicket { loop.engine.post(.ticketNeverAnnounced(id)) }
    }

    func close() {
        switch recipient {
        case .client(let client):
            keySearch?.end(nil)
            if client.isGone { loop.closed(self) }
        case .store: loop.closed(self)
        case .cache(let cache):
            loop.closed(self)
            cache.refreshEnded()
        }
    }

    func fail(_ failure: Failure, _ reason: Verdict.FailReason) {
        if reason == .pass, machine.attempts.isAbandonedByMode, failure.evidence == .neverSent {
            // A request that cannot wait gets the answer of one that came a moment later.
            fail(.offline)
        } else if client != nil {
            if failure.evidence == .maybeApplied { loop.engine.post(.mayHaveBeenApplied(request.origin, failure)) }
            var problem = Problem(
                failure, reason: reason, attemptCount: machine.attempts.attemptCount, entry: entry.map(loop.engine.naming.shown),
                bodyLoss: bodyLoss)
            if failure.kind == .outcomeUnknown { problem.receivedStatus = machine.unknownStatus }
            fail(problem)
        } else {
            ended(as: .failed, failure: failure)
        }
    }

    func fail(_ problem: Problem) {
        guard client != nil else { return }
        var problem = problem
        if let entry { problem.entry = loop.engine.naming.shown(entry) }
        problem.recall(machine.attempts.counts)
        answer(OwnResponse(problem, of: loop))
        ended(as: .failed, failure: machine.lastFailure)
    }

    private var bodyLoss: Problem.BodyLoss {
        guard let body = request.body else { return .notStored }
        if body.isTooLong { return .tooLong(max: loop.configuration.body.byteCountMax) }
        if let failure = body.storingFailure { return .noRoom(failure) }
        return body.summary == .lost ? .notStored : .incomplete
    }

    /// Answers the client, if there is one, with the response of a policy in place of the origin's.
    func standIn(_ response: StandInResponse, _ failure: Failure) {
        guard client != nil else { return ended(as: .failed, failure: failure) }
        answer(OwnResponse(response, lastFailure: machine.lastFailure, attemptCount: machine.attempts.attemptCount, of: loop))
        ended(as: .failed, failure: machine.lastFailure)
    }
}

extension Exchange: AcceptingExchange, KeyedExchange {
    func acceptance(_ result: AcceptanceResult) { loop.eventLoop.execute { self.ticketAnswered(result) } }
    func keyDecided(_ decision: KeyDecision) { loop.eventLoop.execute { self.decided(decision) } }
}

extension Exchange: HeldExchange {
    func start(_ trigger: AttemptTrigger, isForced: Bool) {
        loop.eventLoop.execute {
            if self.phase == .parked { self.begin(trigger, isForced: isForced) }
        }
    }

    func abandonConnecting() { loop.eventLoop.execute { self.abandonIfConnecting() } }

    func abortAttempt(isCommanded: Bool) {
        loop.eventLoop.execute { if isCommanded { self.abortByCommand() } else { self.run.abort() } }
    }

    /// Ends the attempt under way, whose verdict keeps the entry. An attempt that is over already was too quick for that, and so was a
    /// response that a client reads.
    private func abortByCommand() {
        switch phase {
        case .attempting, .preflight, .unattended,
            .delivering where store != nil:
            guard attempt != nil else { return }
            machine.attemptInterrupted(by: .command)
            run.abort()
        case .loading: machine.attemptInterrupted(by: .command)
        case .withholding where withheld?.readsCode == true: judgeWithheld()
        // The attempt has failed already, and the rest of the body is not waited for.
        case .collecting(for: .verdict):
            machine.attemptInterrupted(by: .command)
            judgeCollected()
        case .collecting, .searching, .accepting, .withholding, .parked, .delivering, .ended: break
        }
    }

    /// How far the attempt under way has got.
    var progress: AttemptProgress? { run.progress }

    /// Aborts an attempt that has sent nothing: it may be hanging on a network that is gone, or a person set the mode `offline`. Its
    /// verdict makes another, at once or when the mode ends.
    func abandonIfConnecting() {
        guard attempt != nil, run.handshake == nil, phase == .attempting || phase == .preflight else { return }
        let isOffline = loop.network.isOffline
        if !isOffline, let client, machine.attempts.policy.mode == .pass || client.connection?.isInputClosed != false { return }
        machine.attemptInterrupted(by: isOffline ? .modeWhileConnecting : .networkChange)
        run.cancelIfConnecting()
    }

    /// A person set the mode `offline`.
    ///
    /// - Parameter cuts: Whether the attempt under way is aborted, whatever it has sent.
    func wentOffline(cuts: Bool) {
        // The engine abandons the attempts of entries too, but an entry may be on its way to the engine.
        guard cuts else { return abandonIfConnecting() }
        guard attempt != nil else { return }
        switch phase {
        case .attempting, .preflight, .delivering, .unattended:
            // An attempt that has sent nothing waits as with `freeze`.
            machine.attemptInterrupted(by: .modeAtAnyTime)
            run.abort()
        case .ended: run.abort()
        // The engine decides about a response in hand.
        case .loading, .collecting, .searching, .accepting, .withholding, .parked: break
        }
    }

    /// The connection was dialled at the moment when the mode was set to `offline`. Nothing was sent.
    func dialledWhileOffline() {
        machine.attemptInterrupted(by: .modeWhileConnecting)
        attemptFailed(.abortedByProxy)
    }

    func dropResponse() {
        loop.eventLoop.execute {
            guard self.phase == .withholding else { return }
            if self.withheld?.isOver == false { self.run.cancel() } else { self.run.end() }
            self.forgetWithheld()
            self.rest()
            // The client closed its side while its response was in hand: now it would wait, and so it has left.
            if self.client?.connection?.isInputClosed == true { self.clientClosedInput() }
        }
    }

    func deliverResponse(_ reason: Verdict.DeliverReason) { loop.eventLoop.execute { self.deliverWithheld() } }

    func rerouted(to route: String?, _ policy: Policy, in routes: RouteTable) {
        loop.eventLoop.execute { self.take(route, policy, in: routes) }
    }

    func lookForOthers() { loop.eventLoop.execute { self.findOthers() } }

    func offerTicket() {
        loop.eventLoop.execute {
            guard self.client != nil else { return }
            self.mayBecomeTicket()
            self.askForTicket(isLast: true)
        }
    }

    func showBody(_ done: @escaping @Sendable (HeldBody?) -> Void) {
        loop.eventLoop.execute { done(HeldBody(body: self.request.body, fields: self.request.fields)) }
    }

    func refuse(limit: String, value: Int) {
        loop.eventLoop.execute {
            if case .cache = self.recipient { return self.abort() }
            if self.client != nil { self.forgetEntry() }
            // A response in hand is better than a problem about limits.
            if self.phase == .withholding { self.deliverWithheld() } else { self.fail(.limit(limit, value)) }
        }
    }

    func end(_ end: EntryEnd, retryAfter: Duration?) {
        loop.eventLoop.execute {
            if let client = self.client {
                self.entryEnded(end, retryAfter, for: client)
            } else {
                self.abort()
            }
        }
    }

    /// Cuts off what is under way, because the entry has ended. There is no client to answer.
    private func abort() {
        guard phase != .ended else { return }
        // What becomes of a preflight says nothing of the request.
        run.cancel(evidenceFor: phase == .preflight ? nil : entry)
        forgetWithheld()
        if case .cache(let cache) = recipient { cache.discard() }
        machine.ended()
        close()
    }

    /// The workers are about to be shut down.
    func stop() { machine.stopBegan() }
}
