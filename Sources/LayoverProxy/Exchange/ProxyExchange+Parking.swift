import LayoverCore
import LayoverEngine
import NIOCore
import Synchronization

/// In the pending set and out of it.
extension ProxyExchange {
    func park(failure: Failure?, parking: Verdict.Parking) {
        if isLeftBehind {
            phase = .parked
            post(failure, parking)
            _ = adoptsItself()
            connection?.linger()
            return
        }
        // A client that closed its side after its request wanted one answer, not a wait.
        if connection?.isInputClosed == true, let failure {
            return fail(problem(failure, .pass))
        }
        // It waits for nothing that could still reach it.
        if connection?.isInputClosed == true, failure == nil {
            clientLeft()
            connection?.linger()
            return
        }
        phase = .parked
        post(failure, parking)
        sendContinue()
    }

    /// Asks to join the set, or to wait on in it.
    func post(_ failure: Failure?, _ parking: Verdict.Parking) {
        if let entry, let failure {
            loop.engine.post(.attemptFailed(entry, failure, parking, takeTally()))
        } else {
            join(failure: failure, parking: parking)
        }
    }

    private func join(failure: Failure?, parking: Verdict.Parking) {
        let id = EntryID(using: &loop.generator)
        entry = id
        loop.engine.post(.parked(newEntry(id, failure: failure, parking: parking), self))
    }

    /// How it asks to join the set.
    func newEntry(_ id: EntryID, failure: Failure?, parking: Verdict.Parking) -> NewEntry {
        let tally = takeTally()
        var new = NewEntry(
                    id: id, method: request.method, url: request.shownURL, origin: request.origin, route: route,
                    policy: rules.policy,
                    client: Entry.Client(
                        address: connection?.clientAddress ?? "unknown", userAgent: takeUserAgent()),
                    createdAt: createdAt, attemptCount: tally.attemptCount,
                    automaticLeft: tally.automaticLeft,
                    requestByteCount: request.body?.receivedByteCount ?? 0,
                    isBodyReplayable: tally.isBodyReplayable, isExposed: request.isExposed,
                    attempts: tally.records, failure: failure, parking: parking)
        new.hasIdempotencyKey = hasIdempotencyKey
        new.mayHaveBeenApplied = tally.counts.mayHaveBeenApplied
        new.lane = order.lane
        new.priority = order.priority
        new.wantsTicket = ticket != nil
        new.preconditions = request.preconditions
        return new
    }

    // MARK: The client

    /// The client's connection is gone.
    func clientLeft() {
        isClientGone = true
        loop.settled(self)
        if isReceivingRequest { request.body?.breakOff() }
        given?.stop()
        if adoptsItself() { return }
        switch phase {
        case .parked, .collecting, .searching, .preflight:
            // mutant: waits-for-nobody
            ended(as: .cancelled)
        case .offering:
            offered = nil
            cancelAttempt()
            ended(as: .cancelled)
        case .attempting where mayHaveBeenApplied, .delivering where mayHaveBeenApplied:
            // Let it finish, so that what became of it is known. Nobody reads the answer, so nothing
            // may wait for somebody who does.
            phase = .ended
            clientTookBytes()
        case .attempting, .delivering:
            if let attempt, let entry { aborted = (attempt, entry) }
            cancelAttempt()
            ended(as: .cancelled)
        case .ended:
            break
        }
    }

    /// Whether the attempt under way may do something upstream that somebody will want to know of.
    private var mayHaveBeenApplied: Bool {
        guard let attempt, request.purpose == .transfer, !isReceivingRequest else { return false }
        return !RequestMethod.isSafe(request.method)
            && attempt.hasBegunSending.load(ordering: .acquiring)
    }

    /// The client closed its sending side. One that waits has left; during the first attempt its answer
    /// is still delivered.
    func clientClosedInput() {
        guard isReceivingRequest || phase == .parked || hasJoined || entry != nil && phase == .attempting else { return }
        let isAnswering = phase == .delivering
        clientLeft()
        if isAnswering {
            connection?.breakOff(isCloseDelimited: framing == .close)
        } else {
            connection?.linger()
        }
    }
}

extension ProxyExchange: HeldExchange {
    func start(_ trigger: AttemptTrigger, isForced: Bool) {
        loop.eventLoop.execute {
            if let successor = self.successor { return successor.start(trigger, isForced: isForced) }
            guard self.phase == .parked else { return }
            guard isForced || self.rules.mayBeSent(self.summary) else { return self.refuseToSend() }
            self.rules.hasTriedNewConnection = false
            // A kept-alive connection from before the trouble would prove nothing, and could hang.
            self.startAttempt(trigger, onNewConnection: trigger == .canary)
        }
    }

    /// A reload has taken back the word that it may be sent twice, and the engine had not heard of that yet.
    private func refuseToSend() {
        guard let entry, rules.policy.maybeAppliedRule() == .ask else {
            return fail(.ended(.maybeApplied, lastFailure: lastFailure))
        }
        loop.engine.post(.refusedToSend(entry, .maybeApplied, nil, takeTally()))
    }

    /// Finds its route in a configuration that was read anew.
    func reroute() {
        let found = loop.planner.reroute(request, by: route, wish: wish)
        request.takeFields(of: found.route.flatMap { loop.rules.routes.route(named: $0) })
        guard found.route != route || found.policy != rules.policy else { return }
        route = found.route
        rules.policy = found.policy
        // For the attempts that begin from now on.
        let mayBeSentTwice = summary.mayBeSentTwice
        request.mayBeSentTwice = mayBeSentTwice
        guard let entry else { return }
        loop.engine.post(
            .rerouted(entry, route: found.route, found.policy, automaticLeft: rules.automaticLeft))
    }

    func abandonConnecting() {
        loop.eventLoop.execute {
            if let successor = self.successor { return successor.abandonConnecting() }
            self.abandonIfConnecting()
        }
    }

    func abandonIfFresh() {
        if entry == nil { abandonIfConnecting() }
    }

    func showBody(_ done: @escaping @Sendable (HeldBody?) -> Void) {
        loop.eventLoop.execute { done(HeldBody(body: self.request.body, fields: self.request.fields)) }
    }

    func offerTicket() {
        loop.eventLoop.execute { self.becomeTicket(isLast: true) }
    }

    /// Cuts off an attempt that may be hanging on a network that is gone. Its verdict makes another.
    func abandonIfConnecting() {
        guard let attempt, handshake == nil, phase == .attempting, rules.policy.mode != .pass,
            connection?.isInputClosed == false
        else { return }
        rules.isAbandoned = true
        loop.worker?.cancelIfConnecting(attempt)
    }

    func end(_ end: EntryEnd, retryAfter: Duration?) {
        loop.eventLoop.execute {
            if let successor = self.successor { return successor.end(end, retryAfter: retryAfter) }
            self.endedByEngine(end, retryAfter: retryAfter)
        }
    }

    func refuse(limit: String, value: Int) {
        loop.eventLoop.execute {
            if let successor = self.successor { return successor.refuse(limit: limit, value: value) }
            self.entry = nil
            // An answer in hand is better than a word about limits.
            if self.phase == .offering { return self.deliverOffered() }
            self.fail(.limit(limit, value))
        }
    }

    /// The engine has taken the entry out of the set already.
    private func endedByEngine(_ end: EntryEnd, retryAfter: Duration?) {
        let id = entry
        entry = nil
        if ticket?.isAsked == true, let id { loop.engine.post(.untold(id)) }
        if phase == .ended || phase == .delivering {
            // Nobody is answered any more; those that asked for the same are.
            claim?.end(KeyOutcome(OwnResponse(.ended(end, lastFailure: lastFailure), identity: loop.rules.identity)))
        }
        if phase == .ended {
            // Its client has left, and its attempt was to be let finish.
            if let attempt, let id { aborted = (attempt, id) }
            return cancelAttempt()
        }
        if phase == .offering, end == .draining { return deliverOffered() }
        offered = nil
        // mutant: cancel-goes-on
        if let attempt, let id { aborted = (attempt, id) }
        if attempt?.hasBegunSending.load(ordering: .acquiring) == true { rules.wasCutOffSending() }
        cancelAttempt()
        request.body?.breakOff()
        if phase == .delivering {
            phase = .ended
            // mutant: silent-cancel
            connection?.breakOff(isCloseDelimited: framing == .close)
            return
        }
        var problem = Problem.ended(end, lastFailure: lastFailure)
        problem.entry = id.map(loop.engine.naming.shown)
        problem.recall(rules.counts)
        // Whom somebody has given up is not asked to come back, and nobody with what may have been done.
        switch end {
        case .cancelled, .superseded, .maybeApplied: break
        case .expired: problem.retryAfter = retryAfter
        case .draining: problem.retryAfter = retryAfter ?? .seconds(5)
        }
        answer(OwnResponse(problem, identity: loop.rules.identity))
    }
}
