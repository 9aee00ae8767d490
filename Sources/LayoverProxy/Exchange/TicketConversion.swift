import LayoverCore
import LayoverEngine
import LayoverHTTP
import LayoverReplay
import NIOCore

/// The parts of a ticket that an exchange makes: its tokens, its body on the disk, the order to the engine, and the response to its client.
/// The class decides nothing (`Exchange+Tickets`).
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

    func startTimer() {
        guard timer == nil, let wait = wish?.wait else { return }
        timer = loop.eventLoop.scheduleTask(in: TimeAmount(wait)) { [weak exchange] in exchange?.askForTicket() }
    }

    func stopTimers() { timer?.cancel() }

    func read(_ bytes: ByteBuffer) {
        digest?.update(bytes)
        tokens?.read(bytes)
    }

    // MARK: From hold to ticket

    /// Makes the body outlive the process.
    ///
    /// - Parameter then: Gets what the engine is asked for, on the loop. Nil: the disk does not take the body. It keeps the exchange alive.
    func store(_ body: CapturedBody?, as id: EntryID, then: @escaping (Acceptance?) -> Void) {
        guard let body else { return then(acceptance(id, .none)) }
        // Called on the loop, where it came from.
        nonisolated(unsafe) let then = then
        body.persist(as: "\(id).request") { [self, exchange] stored in
            exchange.loop.eventLoop.execute { then(stored.map { self.acceptance(id, $0) }) }
        }
    }

    /// In the same rhythm as a body is tried again.
    func askAgainLater() {
        timer?.cancel()
        timer = loop.eventLoop.scheduleTask(in: ClientRecipient.roomPause) { [weak exchange] in exchange?.askForTicket() }
    }

    // MARK: The acceptance

    /// What the engine is asked for.
    private func acceptance(_ id: EntryID, _ body: StoredBody) -> Acceptance {
        let request = exchange.request
        var new = NewEntry(of: exchange, id: id, AttemptTally(exchange.machine.attempts.counts))
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

    func response(_ id: EntryID, _ view: TicketView?) -> OwnResponse {
        response(id, TicketDocument(id: id, view: view) { [loop] in loop.wall($0) })
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
                exchange.answer(self.response(id, .acceptedBefore(id, result) { [loop = self.loop] in loop.wall($0) }))
            }
        }
    }

    /// The problem of a request that was to be accepted at once.
    func problem(_ result: AcceptanceResult) -> Problem? {
        guard var problem = Problem(result) else { return nil }
        if case .unknownParent(let id) = result, !namedParents.contains(id) {
            problem.detail = "A token names an unknown ticket (\(id))."
        }
        return problem
    }

    // MARK: Accepted at once

    /// The body that the ticket has.
    var bodyToStore: CapturedBody? { replaced ?? exchange.request.body }

    /// Whether the body may have tokens, by its type.
    var mayHaveTokens: Bool { tokens != nil }

    /// Whether the body may have tokens, as far as it has come.
    var isBodySuspect: Bool { tokens?.isBodySuspect == true }

    /// The result of a replacement of tokens.
    enum Replaced {
        case found(TicketTokens.Found)
        /// The request cannot become a ticket.
        case failed(Problem)
    }

    /// Replaces the tokens whose value is known.
    ///
    /// - Parameter then: Called on the loop, at once if the body has none. It keeps the exchange alive.
    func replaceTokens(then: @escaping (Replaced) -> Void) {
        guard tokens?.isBodySuspect == true, let body = exchange.request.body else { return then(replaceTokens(in: nil)) }
        let max = TokenLimits().bodyByteCountMax
        guard body.receivedByteCount <= max else { return then(.failed(Problem(.bodyTooLong()))) }
        nonisolated(unsafe) let then = then
        Task { [self, exchange] in
            let bytes = await body.collect(upTo: max)
            exchange.loop.eventLoop.execute { then(bytes.map { self.replaceTokens(in: $0) } ?? .failed(.bodyUnreadable)) }
        }
    }

    /// - Parameter body: The body to look for tokens in. Nil: it has no tokens.
    private func replaceTokens(in body: ByteBuffer?) -> Replaced {
        do throws(TokenError) {
            let found = try TicketTokens.found(
                in: exchange.request, body: body, uuid: RequestUUID.text(using: &loop.generator))
            hasTokens = found.hasTokens
            replaced = found.body.map {
                CapturedBody(.inline($0), trailers: exchange.trailers, limits: loop.configuration.body, spool: loop.spool)
            }
            return .found(found)
        } catch {
            return .failed(Problem(error))
        }
    }
}
