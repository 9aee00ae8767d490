import LayoverCore
import LayoverEngine
import LayoverHTTP
import LayoverReplay
import NIOCore

/// The way of an exchange to a ticket: its tokens, its body on the disk, and the answer to its client. What is done when the core
/// decides (`ExchangeMachine+Ticket`).
///
/// `@unchecked Sendable`: confined to the loop of its exchange.
final class TicketConversion: @unchecked Sendable {
    private unowned let exchange: Exchange
    private let loop: ProxyLoop
    /// Nil where the client asked for no ticket.
    let wish: TicketWish?
    /// What stands before a path of the proxy, for the client.
    private let base: String
    /// How its client used the base URL of a route, if it did.
    private let baseURL: BaseURLForm?
    /// Not nil where there is an `Idempotency-Key`.
    private(set) var digest: PayloadDigest?
    /// Not nil where the body may have tokens.
    private var tokens: TicketTokens?
    /// When its client has waited as long as it wants.
    private var timer: Scheduled<Void>?
    /// The tickets that `Layover-After` names; others are named by tokens.
    private let namedParents: [EntryID]
    /// The body in place of the captured one, once its tokens are replaced; nil: the captured body is used.
    private var replaced: CapturedBody?
    /// Whether tokens are left whose values other tickets will bring.
    private var hasTokens = false

    init(of exchange: Exchange, _ wish: TicketWish?, base: String, _ digest: PayloadDigest?) {
        self.exchange = exchange
        loop = exchange.loop
        self.wish = wish
        self.base = base
        baseURL = exchange.client?.facts.addresses?.form
        self.digest = digest
        namedParents = exchange.order.after
        if wish != nil, exchange.request.framing != .none { tokens = TicketTokens(inBodyOf: exchange.request) }
    }

    /// The conversion that the client of an exchange asked for, or one for a client that asked for none.
    static func of(_ exchange: Exchange) -> TicketConversion {
        if let conversion = exchange.conversion { return conversion }
        let new = TicketConversion(of: exchange, nil, base: "", nil)
        exchange.conversion = new
        return new
    }

    func startTimer() {
        guard timer == nil, let wait = wish?.wait else { return }
        timer = loop.eventLoop.scheduleTask(in: TimeAmount(wait)) { [weak self] in self?.ask() }
    }

    /// There was no response, or no attempt because the gate is shut.
    func originIsAway() { if exchange.machine.originWentAway() { ask() } }

    func stopTimers() { timer?.cancel() }

    private var isReceivingRequest: Bool { exchange.client?.isReceivingRequest == true }

    private func failUnsent(_ problem: Problem) { exchange.client?.failUnsent(problem, of: exchange) }

    func read(_ bytes: ByteBuffer) {
        digest?.update(bytes)
        tokens?.read(bytes)
    }

    // MARK: From hold to ticket

    /// Asks the engine for a ticket, if the request can be one.
    ///
    /// - Parameter isLast: Whether its time on the connection is over, not only what its client wanted of it.
    func ask(isLast: Bool = false) {
        guard !exchange.machine.hasAskedForTicket, exchange.keySearch?.waitEnded() != true else { return }
        let step = exchange.machine.ticketIsWanted(
            exchange.request.purpose, isComplete: !isReceivingRequest, keepsTickets: loop.rules.keepsTickets, isLast: isLast)
        switch step {
        case .ask: askEngine()
        case .awaitRequest: exchange.client?.sendContinue(in: exchange.phase)
        case .decline: decline()
        case .declineForNow:
            askAgainLater()
            decline()
        case .none: break
        }
    }

    private func askEngine() {
        let id = exchange.joinedEntry()
        exchange.request.body?.roomMayBeBack()
        persist(exchange.request.body, id) { [self, exchange] stored in
            if let stored {
                loop.engine.post(.becomeTicket(acceptance(id, stored), exchange))
            } else {
                exchange.machine.ticketBodyWasNotKept()
                askAgainLater()
                decline()
                exchange.answerIfCutOff()
            }
        }
    }

    /// Makes the body outlive the process.
    ///
    /// - Parameter then: Called on the loop; nil: the disk does not take the body.
    private func persist(_ body: CapturedBody?, _ id: EntryID, then: @escaping (StoredBody?) -> Void) {
        guard let body else { return then(StoredBody.none) }
        // Called on the loop, where it came from.
        nonisolated(unsafe) let then = then
        let loop = self.loop
        body.persist(as: "\(id).request") { stored in loop.eventLoop.execute { then(stored) } }
    }

    /// The client goes on waiting on its connection, and has its ticket once the store takes it, in the same rhythm as a body is
    /// tried again.
    private func askAgainLater() {
        guard exchange.machine.asksAgain else { return }
        timer?.cancel()
        timer = loop.eventLoop.scheduleTask(in: ClientRecipient.roomPause) { [weak self] in self?.ask() }
    }

    private func decline() {
        if let id = exchange.entry { loop.engine.post(TicketImpossible(id)) }
    }

    /// Others wait for what this request comes to, and one of them takes a ticket now.
    func askForOthers() {
        let isShared = exchange.client?.response.isSharing == true
        let goesOn = exchange.machine.othersWantTicket(
            exchange.departure, isUnderWay: exchange.attempt != nil && !isShared)
        ask()
        if goesOn { convert(isStored: false) }
    }

    /// The store is the recipient from now on. The attempt under way goes on.
    ///
    /// - Parameter isStored: Whether the request is in the store already.
    func convert(isStored: Bool) {
        guard exchange.entry != nil, exchange.client != nil else { return }
        exchange.becomeTicket(isStored: isStored)
        stopTimers()
        loop.opened(exchange)
    }

    // MARK: The acceptance

    /// What the engine is asked for.
    private func acceptance(_ id: EntryID, _ body: StoredBody) -> Acceptance {
        let request = exchange.request
        var new = NewEntry(of: exchange, id: id, AttemptTally(exchange.machine.rules.counts))
        new.client.isConnected = false
        new.requestByteCount = body.byteCount
        new.ticket = TicketFacts(
            wish: exchange.wish, parents: exchange.order.after, notAfter: loop.credentialExpiry(of: request), baseURL: baseURL)
        // The response is stored without its trailers.
        let stored = StoredRequest(
            origin: request.origin, method: request.method, target: request.target, host: request.host,
            fields: TrailersWish.removed(from: request.fields), body: body, hasBody: request.framing != .none,
            trailers: exchange.trailers, hasTokens: hasTokens)
        return Acceptance(new: new, request: stored, mark: digest?.mark)
    }

    func accepted(_ result: AcceptanceResult) {
        if result.abandonsBody { keptBody?.disown() }
        exchange.machine.ticketWasAnswered(keepsBody: !result.abandonsBody, isInDoubt: result.isInDoubt)
        defer { exchange.answerIfCutOff() }
        if let store = exchange.store { return store.accepted(result, exchange) }
        if exchange.phase == .accepting { return acceptedAtOnce(result) }
        guard exchange.phase.isPending else { return }
        switch result {
        case .accepted(let id, let standing):
            exchange.keySearch?.end(.ticket(id))
            guard let client = exchange.client else { return }
            if exchange.phase != .parked {
                convert(isStored: true)
                client.write(response(id, standing))
                return loop.finalResponseGiven(client)
            }
            exchange.forgetEntry()
            exchange.client?.answer(response(id, standing), exchange)
        case .duplicate(let id, let standing):
            exchange.keySearch?.end(.ticket(id))
            exchange.client?.answer(response(id, standing), exchange)
            exchange.run.cancel()
            exchange.ended(as: .cancelled)
        case .keyReused, .unknownParent:
            guard let problem = Problem(result) else { return }
            exchange.forgetOffered()
            exchange.run.cancel()
            exchange.fail(problem)
        case .notStored, .refused:
            // The client keeps waiting, as long as it may. If it is unknown whether the ticket is on disk, the next insertion replaces
            // the first one: a successful commit undoes the failed commits before it.
            askAgainLater()
        case .draining, .gone:
            break
        }
    }

    private func response(_ id: EntryID, _ standing: TicketStanding?) -> OwnResponse {
        response(id, TicketDocument(id: id, standing: standing) { [loop] in loop.wall($0) })
    }

    private func response(_ id: EntryID, _ document: TicketDocument) -> OwnResponse {
        exchange.client?.connection?.access?.entry = loop.engine.naming.shown(id)
        let applied = exchange.machine.isAcceptedAtOnce ? wish?.atOnce.applied : wish?.applied
        return .accepted(id, base: base, applied: applied ?? "", document: document)
    }

    /// The client gets the ticket that was accepted before.
    func answerAgain(_ id: EntryID) {
        Task { [self, exchange] in
            let result = await TicketLook(engine: loop.engine, id: id).look()
            loop.eventLoop.execute {
                guard exchange.phase == .accepting || exchange.phase == .searching(.duplicateKey) else { return }
                exchange.client?.answer(
                    self.response(id, .acceptedBefore(id, result) { [loop = self.loop] in loop.wall($0) }), exchange)
            }
        }
    }

    // MARK: Accepted at once

    /// The body that the ticket has.
    var keptBody: CapturedBody? { replaced ?? exchange.request.body }

    /// - Returns: Whether the body is read to its end before the first attempt. False where it has no tokens, or is too long for
    ///   a ticket anyway.
    func readsBodyFirst() -> Bool {
        tokens != nil
            && exchange.machine.readsBodyFirst(
                isComplete: !isReceivingRequest, isOverMax: exchange.request.isAnnounced(over: loop.rules.body.byteCountMax))
    }

    /// Whether the body may have tokens, as far as it has come.
    var isBodySuspect: Bool { tokens?.isBodySuspect == true }

    /// All of the body is there.
    ///
    /// - Returns: Whether the exchange goes on from here.
    func bodyIsRead() -> Bool {
        switch exchange.machine.bodyWasRead(hasTokens: isBodySuspect) {
        case .replaceTokens?: replaceTokens()
        case .chooseTicket?:
            if wish?.isWhenAway == true { exchange.removeHonouredPreferences() }
            replaceTokens()
        case .findDuplicate?: exchange.findDuplicate()
        case BodyStep.none?: break
        case nil: return false
        }
        return true
    }

    private typealias BodyStep = ExchangeMachine.BodyStep

    private func replaceTokens() {
        guard tokens?.isBodySuspect == true, let body = exchange.request.body else { return replaceTokens(in: nil) }
        let max = TokenLimits().bodyByteCountMax
        guard body.receivedByteCount <= max else { return failUnsent(Problem(.bodyTooLong())) }
        Task { [self, exchange] in
            let bytes = await body.collect(upTo: max)
            loop.eventLoop.execute {
                guard exchange.phase == .collecting(for: .ticket) else { return }
                if let bytes { self.replaceTokens(in: bytes) } else { self.failUnsent(.bodyUnreadable) }
            }
        }
    }

    /// - Parameter body: The body to look for tokens in. Nil: it has no tokens.
    private func replaceTokens(in body: ByteBuffer?) {
        do throws(TokenError) {
            let found = try TicketTokens.found(
                in: exchange.request, body: body, uuid: RequestUUID.text(using: &loop.generator))
            exchange.tokensWereReplaced(in: found.request)
            hasTokens = found.hasTokens
            // The tickets that a token needs have to be done first.
            for parent in found.parents where !exchange.order.after.contains(parent) { exchange.order.after.append(parent) }
            replaced = found.body.map {
                CapturedBody(.inline($0), trailers: exchange.trailers, limits: loop.rules.body, spool: loop.spool)
            }
            // An equal request may be on its way already, of a client that waits for the response first. The store is asked for
            // the key too, before it takes the ticket: while it has one, others that come are compared with that one.
            if digest == nil { acceptAtOnce() } else { exchange.findDuplicate() }
        } catch {
            failUnsent(Problem(error))
        }
    }

    /// Makes the body outlive the process, and asks for the ticket.
    func acceptAtOnce() {
        exchange.machine.acceptanceBegan()
        let id = EntryID(using: &loop.generator)
        persist(keptBody, id) { [self, exchange] stored in
            guard exchange.phase == .accepting else { return }
            guard let stored else {
                exchange.client?.bodyCannotBeKept(of: exchange)
                return
            }
            loop.engine.post(.accept(acceptance(id, stored), exchange))
        }
    }

    private func acceptedAtOnce(_ result: AcceptanceResult) {
        switch result {
        case .accepted(let id, let standing):
            exchange.keySearch?.end(.ticket(id))
            exchange.client?.answer(response(id, standing), exchange)
        case .duplicate(let id, _):
            exchange.keySearch?.end(.ticket(id))
            answerAgain(id)
        case .keyReused, .refused, .draining, .unknownParent, .notStored, .gone:
            guard var problem = Problem(result) else { return }
            if case .unknownParent(let id) = result, !namedParents.contains(id) {
                problem.detail = "A token names an unknown ticket (\(id))."
            }
            // If it is not known whether the ticket is in the store, that is the outcome of the others too.
            if !result.abandonsBody {
                exchange.keySearch?.end(KeyOutcome(OwnResponse(problem, identity: loop.rules.identity)))
            }
            failUnsent(problem)
        }
    }
}
