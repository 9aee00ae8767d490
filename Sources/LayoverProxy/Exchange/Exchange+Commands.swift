import LayoverCore
import LayoverEngine
import NIOCore
import Synchronization

/// The end of an exchange.
extension Exchange {
    /// Tells the engine, if it knows this exchange.
    func ended(as state: EntryState, failure: Failure? = nil) {
        phase = .ended
        conversion?.stopTimers()
        if let entry {
            if case .client = recipient { leaveSet(entry) }
            loop.engine.post(.ended(entry, state, failure, takeTally()))
        }
        close()
    }

    /// Its entry is about to end, or has ended, and it has none any more.
    private func leaveSet(_ id: EntryID) {
        entry = nil
        if conversion?.isAsked == true { loop.engine.post(.ticketNeverAnnounced(id)) }
    }

    private func close() {
        switch recipient {
        case .client: keySearch?.end(nil)
        case .store: loop.closed(self)
        case .cache(let cache):
            loop.closed(self)
            cache.refreshEnded()
        }
    }

    /// The response of a ticket is complete, or broke off.
    func delivered(_ stored: StoredAnswer, _ failure: Failure?) {
        phase = .ended
        if let entry { loop.engine.post(.ticketDelivered(entry, stored, failure, takeTally())) }
        close()
    }

    func fail(_ failure: Failure, _ reason: Verdict.FailReason) {
        guard case .client = recipient else { return ended(as: .failed, failure: failure) }
        fail(problem(failure, reason))
    }

    /// Answers the client with a problem.
    func fail(_ problem: Problem) {
        var problem = problem
        if let entry { problem.entry = loop.engine.naming.shown(entry) }
        problem.recall(rules.counts)
        answer(OwnResponse(problem, identity: loop.rules.identity))
        ended(as: .failed, failure: lastFailure)
    }

    /// Answers the client in place of the origin.
    func standIn(_ response: StandInResponse, _ failure: Failure) {
        guard case .client = recipient else { return ended(as: .failed, failure: failure) }
        answer(
            OwnResponse(
                response, lastFailure: lastFailure, attemptCount: rules.attemptCount, identity: loop.rules.identity))
        ended(as: .failed, failure: lastFailure)
    }

    /// Writes a response of the proxy itself and lets go of the connection. Only the first response of an exchange is written.
    func answer(_ response: OwnResponse) {
        guard let client, phase != .ended, phase != .delivering else { return }
        phase = .ended
        keySearch?.end(KeyOutcome(response))
        defer { loop.finalResponseGiven(self) }
        client.answer(response)
    }
}

extension Exchange: AcceptingExchange, KeyedExchange {
    func acceptance(_ result: AcceptanceResult) { loop.eventLoop.execute { self.conversion?.accepted(result) } }
    func keyDecided(_ decision: KeyDecision) { loop.eventLoop.execute { self.keySearch?.decided(decision) } }
}

extension Exchange: HeldExchange {
    func start(_ trigger: AttemptTrigger, isForced: Bool) {
        loop.eventLoop.execute {
            if self.phase == .parked { self.begin(trigger, isForced: isForced) }
        }
    }

    func abandonConnecting() { loop.eventLoop.execute { self.abandonIfConnecting() } }

    func dropAnswer() {
        loop.eventLoop.execute {
            guard self.phase == .offering else { return }
            if self.offered?.isOver == false { self.cancelAttempt() }
            self.attempt = nil
            self.offered = nil
            self.rest()
            // It closed its side while its response was in hand: now it would wait, and so it has left.
            if self.connection?.isInputClosed == true { self.clientClosedInput() }
        }
    }

    func deliverAnswer(_ reason: Verdict.DeliverReason) { loop.eventLoop.execute { self.deliverOffered() } }

    func offerTicket() {
        loop.eventLoop.execute { if let client = self.client { self.ticketConversion(client).ask(isLast: true) } }
    }

    func showBody(_ done: @escaping @Sendable (HeldBody?) -> Void) {
        loop.eventLoop.execute { done(HeldBody(body: self.request.body, fields: self.request.fields)) }
    }

    func refuse(limit: String, value: Int) {
        loop.eventLoop.execute {
            // A response in hand is better than a problem about limits.
            switch self.recipient {
            case .client where self.phase != .offering:
                self.entry = nil
                self.fail(.limit(limit, value))
            case .client:
                self.entry = nil
                self.deliverOffered()
            case .store: self.deliverOffered()
            case .cache: self.abort()
            }
        }
    }

    func end(_ end: EntryEnd, retryAfter: Duration?) {
        loop.eventLoop.execute {
            if case .client = self.recipient { self.endClient(end, retryAfter) } else { self.abort() }
        }
    }

    /// Whatever is under way is cut off: the entry has ended. Without a client there is nobody to be told.
    private func abort() {
        guard phase != .ended else { return }
        interrupt()
        offered = nil
        if case .cache(let cache) = recipient { cache.discard() }
        phase = .ended
        close()
    }

    /// Cancels the attempt. What it proves is recorded later.
    private func interrupt() {
        // What becomes of a preflight says nothing of the request.
        // mutant: cancel-goes-on
        if let attempt, let entry, phase != .preflight { aborted = (attempt, entry) }
        cancelAttempt()
    }

    /// The engine has taken the entry out of the set already.
    private func endClient(_ end: EntryEnd, _ retryAfter: Duration?) {
        let wasOver = phase == .ended
        if wasOver || phase == .delivering {
            // Its client is answered already; those that asked for the same are told.
            keySearch?.end(KeyOutcome(OwnResponse(.ended(end, lastFailure: lastFailure), identity: loop.rules.identity)))
        }
        let id = entry
        if phase == .offering, end == .draining {
            if let id { leaveSet(id) }
            return deliverOffered()
        }
        offered = nil
        if attempt?.hasBegunSending.load(ordering: .acquiring) == true { rules.wasCutOffSending() }
        interrupt()
        if let id { leaveSet(id) }
        if wasOver { return }
        request.body?.breakOff()
        if phase == .delivering {
            phase = .ended
            // mutant: silent-cancel
            client?.breakOff()
            return
        }
        var problem = Problem.ended(end, lastFailure: lastFailure)
        problem.entry = id.map(loop.engine.naming.shown)
        problem.recall(rules.counts)
        // No Retry-After for cancelled requests, nor for those that may have been applied.
        switch end {
        case .cancelled, .superseded, .maybeApplied: break
        case .expired: problem.retryAfter = retryAfter
        case .draining: problem.retryAfter = retryAfter ?? .seconds(5)
        }
        answer(OwnResponse(problem, identity: loop.rules.identity))
    }

    /// Finds its route in a configuration that was read anew. What is under way goes on; what follows it is new.
    func reroute() {
        let found = loop.planner.reroute(request, by: route, wish: wish)
        request.takeFields(of: found.route.flatMap { loop.rules.routes.route(named: $0) })
        let policy = machine.recipient == .cache ? CacheRecipient.policy(found.policy) : found.policy
        guard found.route != route || policy != rules.policy else { return }
        route = found.route
        rules.policy = policy
        request.mayBeSentTwice = summary.mayBeSentTwice
        // The engine finds the routes of tickets itself.
        guard let entry, store == nil else { return }
        loop.engine.post(.rerouted(entry, route: route, policy, automaticLeft: rules.automaticLeft))
    }

    /// The workers are about to be shut down.
    func stop() { rules.isStopping = true }
}
