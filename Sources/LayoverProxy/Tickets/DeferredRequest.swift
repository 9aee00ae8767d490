import LayoverCore
import LayoverEngine
import LayoverHTTP
import LayoverReplay
import NIOCore

/// A request that becomes a ticket before any attempt: its body is captured, it is stored, and its client is told.
///
/// Confined to its loop. `@unchecked Sendable`: the calls of others hop there.
final class DeferredRequest: ConnectionExchange, @unchecked Sendable {
    private let loop: ProxyLoop
    private weak var connection: ClientConnection?
    private let client: ClientFacts
    private var draft: TicketDraft
    private let applied: String
    private let base: String
    private var digest: PayloadDigest?
    private var tokens: TicketTokens
    /// The tickets that `Layover-After` names; others are named by tokens.
    private let namedParents: [EntryID]
    private var trailers: RequestFields?
    private var isDone = false
    /// Its place among those with its `Idempotency-Key`.
    private var claim: KeyClaim?
    /// When it stops waiting for the outcome of an equal request.
    private var joinTimer: Scheduled<Void>?
    /// Whether it waits for the outcome of an equal request.
    private var hasJoined = false
    /// Itself, while the store is asked for its key: it is to be accepted though its client leaves meanwhile.
    private var keptUntilDecided: DeferredRequest?
    /// The body in place of the captured one, once its tokens are replaced; nil: as it was captured.
    private var replaced: CapturedBody?
    /// The answer of the origin to an equal request, on its way to the client.
    private var given: SharedAnswerSending?
    private(set) var isReceivingRequest = true

    init(
        connection: ClientConnection, loop: ProxyLoop, head: RequestHead, plan: ForwardPlan, wish: TicketWish
    ) {
        self.connection = connection
        self.loop = loop
        client = ClientFacts(head)
        applied = wish.applied
        base = connection.ownBase(for: head)
        digest = plan.digest
        namedParents = plan.order.after
        tokens = TicketTokens(plan.request)
        draft = TicketDraft(
            request: plan.request, policy: plan.policy, route: plan.route, wish: plan.wish,
            order: plan.order, hasIdempotencyKey: plan.hasIdempotencyKey,
            createdAt: loop.engine.clock.now(), clientAddress: connection.clientAddress,
            userAgent: head.fields.string(.userAgent))
        if draft.request.framing != .none { draft.request.body = makeBody() }
    }

    /// Goes on with a request that was read to its end, and in whose body a token was found.
    init(takingOver exchange: ProxyExchange, of connection: ClientConnection, _ turn: TicketTurn) {
        self.connection = connection
        loop = exchange.loop
        client = exchange.client
        applied = turn.wish.now(isLater: true).applied
        base = turn.base
        digest = turn.digest
        tokens = turn.tokens ?? TicketTokens(exchange.request)
        namedParents = exchange.order.after
        trailers = exchange.trailers
        isReceivingRequest = exchange.isReceivingRequest
        draft = TicketDraft(
            request: exchange.request, policy: exchange.rules.policy, route: exchange.route, wish: exchange.wish,
            order: exchange.order, hasIdempotencyKey: exchange.hasIdempotencyKey, createdAt: exchange.createdAt,
            clientAddress: connection.clientAddress, userAgent: exchange.takeUserAgent())
    }

    private func makeBody() -> CapturedBody {
        var length: Int?
        if case .length(let count) = draft.request.framing { length = count }
        let loop = self.loop
        return CapturedBody(
            length: length, mayBeSentTwice: true, limits: loop.rules.body, spool: loop.spool,
            clientResumed: { [weak self] in
                loop.eventLoop.execute { [weak self] in self?.connection?.resumeBody() }
            },
            stuck: { [weak self] in loop.eventLoop.execute { [weak self] in self?.bodyIsTooLarge() } })
    }

    func begin() {
        if case .length(let count) = draft.request.framing, count > loop.rules.body.byteCountMax {
            return bodyIsTooLarge()
        }
        guard isReceivingRequest, client.expectsContinue, let connection else { return }
        connection.write(ByteBuffer(string: "HTTP/1.1 100 Continue\r\n\r\n"))
        connection.flushNow()
    }

    // MARK: The request

    func receivedBody(_ bytes: ByteBuffer) -> Bool {
        guard !isDone, let body = draft.request.body else { return true }
        digest?.update(bytes)
        tokens.read(bytes)
        return body.append(bytes)
    }

    func finishedRequest(trailers: FieldBlock?) {
        isReceivingRequest = false
        if isDone { return }
        if let forwarded = trailers?.forwardedTrailers { self.trailers = forwarded }
        draft.request.body?.finish(trailers: self.trailers)
        looksForTokens()
    }

    /// All of the body is there.
    func looksForTokens() {
        guard tokens.isBodySuspect, let body = draft.request.body else { return replaceTokens(in: nil) }
        let max = TokenLimits().bodyByteCountMax
        guard body.receivedByteCount <= max else { return fail(Problem(.bodyTooLong())) }
        Task { [self] in
            let bytes = await body.collect(upTo: max)
            loop.eventLoop.execute {
                if let bytes { self.replaceTokens(in: bytes) } else { self.fail(.bodyUnreadable) }
            }
        }
    }

    /// - Parameter body: Nil where it has no tokens.
    private func replaceTokens(in body: ByteBuffer?) {
        guard !isDone else { return }
        do throws(TokenError) {
            let found = try TicketTokens.found(
                in: draft.request, body: body, uuid: RequestUUID.text(using: &loop.generator))
            draft.take(found)
            replaced = found.body.map {
                CapturedBody(.inline($0), trailers: trailers, limits: loop.rules.body, spool: loop.spool)
            }
            reserveKey()
        } catch {
            fail(Problem(error))
        }
    }

    /// An equal request may be on its way already, of a client that waits for the answer first. The store is asked for the
    /// key too, before it takes the ticket: while it has one, others that come are compared with that one.
    private func reserveKey() {
        guard let digest else { return keep() }
        let claim = KeyClaim(engine: loop.engine)
        self.claim = claim
        keptUntilDecided = self
        claim.ask(key: digest.key, payload: digest.mark.payload, looks: true, by: self)
    }

    /// The body that the ticket has.
    private var keptBody: CapturedBody? { replaced ?? draft.request.body }

    /// Makes the body outlive us, and asks for the ticket.
    private func keep() {
        let id = EntryID(using: &loop.generator)
        guard let body = keptBody else { return accept(id, .none) }
        body.persist(as: "\(id).request") { [self] stored in
            loop.eventLoop.execute {
                if let stored { self.accept(id, stored) } else { self.bodyIsTooLarge() }
            }
        }
    }

    private func accept(_ id: EntryID, _ body: StoredBody) {
        loop.engine.post(
            .accept(
                draft.acceptance(
                    id: id, body: body, trailers: trailers, mark: digest?.mark, counts: AttemptCounts(),
                    notAfter: loop.credentialExpiry(of: draft.request)),
                self))
    }

    private func bodyIsTooLarge() {
        let max = loop.rules.body.byteCountMax
        let isOverMax = (draft.request.body?.receivedByteCount ?? 0) > max || isAnnouncedOverMax
        fail(
            isOverMax
                ? .bodyOverMax(max)
                : Problem(notKept: keptBody?.keepingFailure))
    }

    private var isAnnouncedOverMax: Bool {
        if case .length(let count) = draft.request.framing { return count > loop.rules.body.byteCountMax }
        return false
    }

    func requestBroke(status: Int, detail: String) {
        fail(Problem(status: status, kind: "malformed", detail: detail, error: .httpRequestError))
    }

    func requestBodyStalled() {
        fail(
            Problem(
                status: 408, kind: "request_body_timeout",
                detail: "No byte of the request body arrived within timeouts.clientIdle.", error: .httpRequestError))
    }

    // MARK: The answer

    private func fail(_ problem: Problem) {
        // Nothing of it was ever sent, so one that waits for its outcome goes in its place.
        claim?.end(nil)
        draft.request.body?.breakOff()
        answer(OwnResponse(problem, identity: loop.rules.identity))
    }

    private func answer(_ response: OwnResponse) {
        guard !isDone else { return }
        isDone = true
        joinTimer?.cancel()
        claim?.end(KeyOutcome(response))
        loop.settled(self)
        connection?.answer(response, to: client, isComplete: !isReceivingRequest)
    }

    // MARK: The client

    func clientTookBytes() { given?.goOn() }

    /// It has said all that it has to say, and still waits for our word; or it broke off.
    func clientClosedInput() {
        guard isReceivingRequest else { return }
        clientLeft()
        connection?.linger()
    }

    func clientLeft() {
        if isReceivingRequest { draft.request.body?.breakOff() }
        isDone = isDone || isReceivingRequest
        given?.stop()
        loop.settled(self)
    }

    /// The time to finish is over. What is being stored is waited for.
    func cutOff() -> Bool {
        if isReceivingRequest { fail(.cutOff(mayHaveBeenSent: false)) }
        return isDone
    }

    /// Nothing of one that has joined another was ever sent, so that can be said.
    func settlingIsOver() {
        if hasJoined { fail(.cutOff(mayHaveBeenSent: false)) }
    }

    func reroute() {}
    func abandonIfFresh() {}
}

extension DeferredRequest: AcceptingExchange {
    func acceptance(_ result: AcceptanceResult) {
        loop.eventLoop.execute { self.accepted(result) }
    }

    private func accepted(_ result: AcceptanceResult) {
        if result.abandonsBody { keptBody?.disown() }
        switch result {
        case .accepted(let id, let standing):
            claim?.end(.ticket(id))
            answer(.accepted(id, base: base, applied: applied, document: document(id, standing)))
        case .duplicate(let id, _):
            claim?.end(.ticket(id))
            lookAndAnswer(id)
        default:
            if var problem = Problem(result) {
                if case .unknownParent(let id) = result, !namedParents.contains(id) {
                    problem.detail = "A token names an unknown ticket (\(id))."
                }
                // Nobody knows whether it is in the store, so it is the outcome of the others too.
                if !result.abandonsBody { claim?.end(KeyOutcome(OwnResponse(problem, identity: loop.rules.identity))) }
                fail(problem)
            }
        }
    }

    private func lookAndAnswer(_ id: EntryID) {
        Task { [self] in
            let result = await TicketLook(engine: loop.engine, id: id).look()
            loop.eventLoop.execute { self.answerAgain(id, result) }
        }
    }

    private func answerAgain(_ id: EntryID, _ result: TicketLook.Result) {
        answer(
            .accepted(
                id, base: base, applied: applied, document: .acceptedBefore(id, result) { [loop] in loop.wall($0) }))
    }

    private func document(_ id: EntryID, _ standing: TicketStanding?) -> TicketDocument {
        TicketDocument(id: id, standing: standing) { [loop] in loop.wall($0) }
    }
}

extension DeferredRequest: KeyedExchange {
    func keyDecided(_ decision: KeyDecision) {
        loop.eventLoop.execute {
            self.keptUntilDecided = nil
            switch decision {
            case .go: self.goes()
            // Its client wants to be told of a ticket at once, so the one that goes is to become one.
            case .join: self.joins()
            case .offerTicket: break
            case .outcome(let outcome, let payload): self.use(outcome, payload)
            case .reused: self.fail(.keyReused)
            case .refused(let limit, let value): self.fail(.limit(limit, value))
            }
        }
    }

    private func goes() {
        guard !isDone else { return }
        hasJoined = false
        joinTimer?.cancel()
        keep()
    }

    private func joins() {
        hasJoined = true
        claim?.waitEnded()
        joinTimer = loop.eventLoop.scheduleTask(in: TimeAmount(draft.policy.holdMax)) { [weak self] in
            self?.fail(.equalRequestUnderWay)
        }
    }

    private func use(_ outcome: KeyOutcome, _ payload: [UInt8]) {
        hasJoined = false
        joinTimer?.cancel()
        guard digest?.mark.payload == payload else { return fail(.keyReused) }
        switch outcome {
        case .ticket(let id): lookAndAnswer(id)
        case .own(let status, let fields, let body): answer(OwnResponse(status: status, fields: fields, body: body))
        case .answer(let shared) where shared.isBodyLost: fail(.answerNotKept)
        case .answer(let shared): give(shared)
        }
    }

    private func give(_ shared: SharedAnswer) {
        guard !isDone else { return }
        isDone = true
        loop.settled(self)
        guard let connection else { return }
        let sending = SharedAnswerSending(shared, loop: loop, connection: connection, client: client)
        given = sending
        sending.begin()
    }
}
