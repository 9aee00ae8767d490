import LayoverCore
import LayoverEngine
import LayoverHTTP
import NIOCore

/// From hold to ticket: the client has waited as long as it wants, or has left what is to be done all the same.
extension ProxyExchange {
    func startTicketTimer() {
        guard let wait = ticket?.wish.wait, ticket?.timer == nil else { return }
        ticket?.timer = loop.eventLoop.scheduleTask(in: TimeAmount(wait)) { [weak self] in self?.becomeTicket() }
    }

    /// Whether what its client leaves behind goes on without it.
    var takesOverWhenClientLeaves: Bool {
        rules.policy.clientGone == .adopt && rules.policy.mode != .pass && loop.rules.keepsTickets
            && request.purpose == .transfer
    }

    /// Why it cannot go on without its client. Nil: all of its body is kept for as many attempts as it takes.
    private var adoptionObstacle: AdoptionObstacle? {
        guard let body = request.body else { return nil }
        if body.isTooLong { return .bodyTooLong }
        return body.summary == .captured ? nil : .bodyNotKept
    }

    /// Whether its client has closed its side while it could still be answered, and what is left of that is to go on
    /// without it.
    var isLeftBehind: Bool {
        connection?.isInputClosed == true && takesOverWhenClientLeaves && !isReceivingRequest && adoptionObstacle == nil
    }

    /// The request is complete.
    func requestCompleted(trailers: RequestFields?) {
        self.trailers = trailers
        if ticket?.isReadFirst == true { return wasReadFirst() }
        if case .given? = ticket?.key { return useOutcome() }
        if let digest = ticket?.digest { claim?.completed(payload: digest.mark.payload) }
        // What waits was told of while its body was still on the way. Told before it asks for a ticket.
        if let entry, let body = request.body {
            loop.engine.post(
                .bodyCompleted(entry, byteCount: body.receivedByteCount, isReplayable: body.summary == .captured))
        }
        if ticket?.isDue == true { becomeTicket() }
    }

    /// Asks the engine for a ticket, if the request can be one.
    ///
    /// - Parameter isLast: Whether its time on the connection is over, not only what its client wanted of it.
    func becomeTicket(isLast: Bool = false) {
        guard ticket?.isAsked != true else { return }
        if hasJoined {
            ticket?.key = .joined(isDue: true)
            claim?.waitEnded()
            return
        }
        guard phase.isPending, request.purpose == .transfer else {
            return declineTicket()
        }
        guard loop.rules.keepsTickets else {
            askAgainLater()
            return declineTicket()
        }
        if isReceivingRequest {
            // Half a request is no ticket, and nobody waits for the rest of it without end.
            if isLast { return declineTicket() }
            ticket?.isDue = true
            return sendContinue()
        }
        ticket?.isAsked = true
        let id = joinedEntry()
        guard let body = request.body else { return ask(id, .none) }
        body.roomMayBeBack()
        body.persist(as: "\(id).request") { [self] stored in
            loop.eventLoop.execute {
                if let stored { return self.ask(id, stored) }
                self.ticket?.isAsked = false
                self.askAgainLater()
                self.declineTicket()
                self.tellIfCutOff()
            }
        }
    }

    /// Its client goes on waiting on its connection, and has its ticket once the store takes it, in the same rhythm as
    /// a body is tried again.
    private func askAgainLater() {
        guard ticket?.wish.wait != nil, successor == nil, phase != .ended else { return }
        ticket?.timer?.cancel()
        ticket?.timer = loop.eventLoop.scheduleTask(in: Self.roomPause) { [weak self] in self?.becomeTicket() }
    }

    private func declineTicket() {
        if let id = entry ?? successor?.id { loop.engine.post(.declinesTicket(id)) }
    }

    /// Its place in the set. It joins now if its first attempt is still under way.
    private func joinedEntry() -> EntryID {
        if let entry { return entry }
        let id = EntryID(using: &loop.generator)
        entry = id
        endFresh()
        loop.engine.post(
            .joined(newEntry(id, failure: nil, parking: .init(delay: .zero, shutsGate: false, rule: .gate)), self))
        return id
    }

    private func ask(_ id: EntryID, _ body: StoredBody) {
        let draft = TicketDraft(
            request: request, policy: rules.policy, route: route, wish: wish, order: order,
            hasIdempotencyKey: hasIdempotencyKey, createdAt: createdAt,
            clientAddress: connection?.clientAddress ?? "unknown")
        loop.engine.post(
            .becomeTicket(
                draft.acceptance(
                    id: id, body: body, trailers: trailers, mark: ticket?.digest?.mark, counts: rules.counts,
                    notAfter: loop.credentialExpiry(of: request)),
                self))
    }

    /// Its client has left.
    ///
    /// - Returns: Whether it goes on as a ticket that nobody holds.
    func adoptsItself() -> Bool {
        guard takesOverWhenClientLeaves, !isReceivingRequest,
            phase.isPending
        else { return false }
        // mutant: head-without-body
        if let adoptionObstacle {
            // It ends as under `cancel`, and the reason is recorded: its client expects it to be done.
            loop.engine.post(.notAdopted(joinedEntry(), adoptionObstacle))
            return false
        }
        becomeTicket()
        handOver(isStored: false)
        return true
    }

    /// Others wait for what this request comes to, and one of them takes a ticket now.
    func becomeTicketForOthers() {
        guard isLetFinish else { return becomeTicket() }
        // The attempt is that of the ticket from now on.
        phase = .attempting
        becomeTicket()
        handOver(isStored: false)
    }

    /// Whether its client has left, its attempt is let finish, and nothing of the answer has come.
    private var isLetFinish: Bool {
        phase == .ended && isClientGone && attempt != nil && sharing == nil && successor == nil && ticket?.isAsked != true
            && !isReceivingRequest && adoptionObstacle == nil && loop.rules.keepsTickets
    }

    /// Another goes on with the request, and with the attempt if one is under way.
    ///
    /// - Parameters:
    ///   - isStored: Whether the request is in the store already.
    ///   - phase: What is left of this exchange: `parked` where its client is still to be told.
    private func handOver(isStored: Bool, leaving phase: ExchangePhase = .ended) {
        guard successor == nil, let entry else { return }
        let successor = TicketExchange(
            loop: loop, id: entry, machine: machine, route: route, wish: wish, hasIdempotencyKey: hasIdempotencyKey, mark: nil)
        successor.takeOver(from: self)
        successor.isStored = isStored
        successor.claim = claim
        claim = nil
        self.successor = successor
        self.entry = nil
        attempt = nil
        offered = nil
        self.phase = phase
        ticket?.timer?.cancel()
    }
}

extension ProxyExchange: AcceptingExchange {
    func acceptance(_ result: AcceptanceResult) {
        loop.eventLoop.execute { self.accepted(result) }
    }

    private func accepted(_ result: AcceptanceResult) {
        if result.abandonsBody {
            request.body?.disown()
            // Whoever asks again, because its client has left meanwhile, may have better luck.
            ticket?.isAsked = false
        } else {
            ticket?.isHeard = true
        }
        defer { tellIfCutOff() }
        if let successor {
            if let id = result.ticket { successor.claim?.end(.ticket(id)) }
            return successor.heard(result)
        }
        switch result {
        case .accepted(let id, let standing):
            // A head that came first has won.
            guard phase.isPending else { return }
            claim?.end(.ticket(id))
            if phase == .parked { entry = nil } else { handOver(isStored: true, leaving: .parked) }
            answerWithTicket(id, standing)
        case .duplicate(let id, let standing):
            guard phase.isPending else { return }
            claim?.end(.ticket(id))
            answerWithTicket(id, standing)
            cancelAttempt()
            ended(as: .cancelled)
        case .keyReused, .unknownParent:
            guard let problem = Problem(result), phase.isPending
            else { return }
            offered = nil
            cancelAttempt()
            fail(problem)
        case .notStored, .refused:
            // Its client goes on waiting, as long as it may. Where nobody knows whether it is on disk, the next insertion
            // takes the place of the first: a commit that succeeds undoes those before it that did not.
            ticket?.isAsked = false
            askAgainLater()
        case .draining, .gone:
            break
        }
    }

    private func answerWithTicket(_ id: EntryID, _ standing: TicketStanding?) {
        answer(
            .accepted(
                id, base: ticket?.base ?? "", applied: ticket?.wish.applied ?? "",
                document: TicketDocument(id: id, standing: standing) { [loop] in loop.wall($0) }))
    }
}

extension TicketExchange {
    /// Goes on where another exchange stands.
    func takeOver(from other: ProxyExchange) {
        request = other.request
        attempt = other.attempt
        offered = other.offered
        worker = other.loop.worker
        machine.becomeTicket()
    }

    /// It has its answer, which only a ticket would have kept. It must not be sent again for those that wait for it.
    func endClaimWithoutTicket() {
        claim?.end(KeyOutcome(OwnResponse(.answerNotKept, identity: loop.rules.identity)))
    }

    /// What came of the ticket that the exchange before us asked for.
    func heard(_ result: AcceptanceResult) {
        if case .accepted = result { isStored = true }
        switch result {
        case .accepted where phase == .parked:
            // At rest it needs nobody: its next attempt makes an exchange of its own.
            phase = .ended
            loop.closed(self)
        case .accepted:
            break
        case .refused, .draining, .notStored, .gone:
            wasRefused = true
            if phase == .ended { endClaimWithoutTicket() }
        case .duplicate, .keyReused, .unknownParent:
            // What it asks for is done by another, or cannot be; and there is nobody to be told.
            guard phase != .ended else { return endClaimWithoutTicket() }
            offered = nil
            cancelAttempt()
            ended(as: .cancelled)
        }
    }
}
