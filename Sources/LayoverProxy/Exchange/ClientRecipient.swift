import LayoverCore
import LayoverEngine
import LayoverHTTP
import LayoverOrigin
import NIOCore

/// The client of an exchange: it sends the request, and gets the response. Confined to its loop.
///
/// Its connection holds it, and it holds the exchange as long as the connection needs it.
final class ClientRecipient {
    let loop: ProxyLoop
    let response: ClientResponse
    /// The request as it came. Released early, because it holds on to the bytes around it.
    private var head: RequestHead?
    /// Nil once the connection does not need it any more.
    private(set) var exchange: Exchange?
    private var hasSentContinue = false
    private(set) var isGone = false
    /// Whether the disk had no room for the body, and is to be tried again.
    fileprivate var isWaitingForRoom = false

    /// - Parameter isConnected: Whether the client has its 200 for CONNECT already.
    init(_ connection: ClientConnection, loop: ProxyLoop, head: RequestHead, plan: ForwardPlan, isConnected: Bool = false) {
        var facts = ClientFacts(head, isIntercepted: connection.intercepted != nil, isConnected: isConnected)
        if let use = plan.baseURL {
            facts.addresses = RouteAddresses(use, target: plan.request.target, ownBase: connection.ownBase(for: head))
        }
        response = ClientResponse(on: connection, loop: loop, facts)
        self.loop = loop
        self.head = head
        let exchange = Exchange(
            loop: loop, plan.request,
            ExchangeMachine(
                for: .client, AttemptRules(policy: plan.policy),
                phase: .collecting(for: plan.isAcceptedAtOnce ? .ticket : .attempt), ticket: plan.ticketMoment),
            for: .client(self), route: plan.route, wish: plan.wish, hasIdempotencyKey: plan.hasIdempotencyKey, order: plan.order)
        if let cache = loop.cache { exchange.cacheUse = CacheUse(cache, plan.request, plan.policy) }
        if let wish = plan.ticket {
            exchange.conversion = TicketConversion(of: exchange, wish, base: connection.ownBase(for: head), plan.digest)
        }
        self.exchange = exchange
        if plan.request.framing != .none { exchange.bodyIsCaptured(by: makeBody(for: exchange)) }
    }

    var connection: ClientConnection? { response.connection }
    var facts: ClientFacts { response.facts }
    /// Whether bytes of the request are still to come.
    var isReceivingRequest: Bool { response.isReceivingRequest }

    /// The client's connection is gone, or is not used for the exchange any more.
    func hasLeft() {
        isGone = true
        response.stop()
    }

    /// Takes from the head what people are shown, and releases it.
    func takeUserAgent() -> String? {
        defer { head = nil }
        return head?.fields.string(.userAgent)
    }

    // MARK: The first step

    /// An attempt at once, unless something is to be read or looked for before.
    func begin() {
        guard let exchange else { return }
        switch exchange.phase {
        case .collecting(.ticket) where exchange.request.isAnnounced(over: loop.rules.body.byteCountMax):
            bodyCannotBeKept(of: exchange)
        case .collecting(.ticket): sendContinue(in: exchange.phase)
        case .collecting where exchange.conversion?.readsBodyFirst() == true: sendContinue(in: exchange.phase)
        case .collecting: exchange.findDuplicate()
        // A request without a body may have come far already.
        default: break
        }
    }

    // MARK: The body

    private func makeBody(for exchange: Exchange) -> CapturedBody {
        var length: Int?
        if case .length(let count) = exchange.request.framing { length = count }
        // All of it is kept although it must not be sent twice: a person may want to, or a limiter may refuse it.
        let policy = exchange.machine.rules.policy
        let isWanted =
            policy.maybeAppliedRule() == .ask || policy.retriesRefused || exchange.conversion != nil
            || exchange.machine.adoptsOnLeave(exchange.request.purpose, keepsTickets: loop.rules.keepsTickets)
        let loop = self.loop
        return CapturedBody(
            // An origin may refuse the stream of HTTP/2 once all of it has left (RFC 9113 section 8.7).
            length: length, mayBeSentTwice: exchange.request.mayBeSentTwice || isWanted || exchange.request.offersHTTP2,
            limits: loop.rules.body,
            spool: loop.spool,
            clientResumed: { [weak exchange] in
                loop.eventLoop.execute { [weak exchange] in exchange?.client?.connection?.resumeBody() }
            },
            stuck: { [weak exchange] in
                loop.eventLoop.execute { [weak exchange] in exchange.map { $0.client?.bodyIsStuck(of: $0) } }
            })
    }

    /// How long after the disk has refused what waits it is tried again. Default: 5 s.
    static let roomPause: TimeAmount = .seconds(5)

    /// Nothing reports that there is room again, so it is tried. A body over `limits.bodyMax` waits for the upstream alone.
    private func bodyIsStuck(of exchange: Exchange) {
        switch exchange.machine.bodyIsStuck(hasTokens: exchange.conversion?.isBodySuspect == true) {
        case .refuse: return bodyCannotBeKept(of: exchange)
        case .judge: return exchange.judgeCollected()
        case .findDuplicate: exchange.findDuplicate()
        case .wait: break
        case .none: return
        }
        guard !isWaitingForRoom, !exchange.phase.isEnded, exchange.request.body?.keepingFailure != nil else { return }
        isWaitingForRoom = true
        let bound = NIOLoopBound(WaitForRoom(client: self, exchange: exchange), eventLoop: loop.eventLoop)
        loop.eventLoop.scheduleTask(in: Self.roomPause) { bound.value.end() }
    }

    /// The request becomes no ticket, and nothing of it was sent.
    func bodyCannotBeKept(of exchange: Exchange) {
        let max = loop.rules.body.byteCountMax
        let isOverMax = exchange.request.isAnnounced(over: max) || (exchange.request.body?.receivedByteCount ?? 0) > max
        failUnsent(isOverMax ? .bodyOverMax(max) : Problem(notKept: exchange.conversion?.keptBody?.keepingFailure), of: exchange)
    }

    /// Nothing of it was ever sent, so one that waits for its outcome goes in its place.
    func failUnsent(_ problem: Problem, of exchange: Exchange) {
        exchange.keySearch?.end(nil)
        exchange.request.body?.breakOff()
        fail(problem, exchange)
    }

    /// Lets a client go on that waits for it, once (RFC 9110 section 10.1.1).
    func sendContinue(in phase: ExchangePhase) {
        guard facts.expectsContinue, !hasSentContinue, isReceivingRequest, let connection,
            !phase.isDelivering, !phase.isEnded
        else { return }
        hasSentContinue = true
        connection.write(ByteBuffer(string: "HTTP/1.1 100 Continue\r\n\r\n"))
        connection.flushNow()
    }

    func passOn(interim head: ResponseHead, in phase: ExchangePhase) {
        if head.status == 100, !facts.passesContinueOn { return sendContinue(in: phase) }
        // HTTP/1.0 knows no interim responses (RFC 9110 section 15.2). Inside a body that goes on, a head would be taken for bytes of it.
        // mutant: head-in-body
        guard !facts.isHTTP10, phase.isAttempting, !response.hasBegun, let connection else { return }
        var out = facts.addresses?.rewriting(head.bytes) ?? head.bytes
        out.writeStaticString("\r\n")
        connection.write(out)
    }
}

extension ClientRecipient: ConnectionExchange {
    var isDelivered: Bool { response.isDelivered }

    func receivedBody(_ bytes: ByteBuffer) -> Bool {
        // The rest of a request that was refused early is thrown away, so that its client gets to read the response.
        guard let exchange, !exchange.phase.isEnded, !response.isRequestUnwanted else { return true }
        hasSentContinue = true
        exchange.conversion?.read(bytes)
        return exchange.request.body?.append(bytes) ?? true
    }

    func finishedRequest(trailers: FieldBlock?) {
        response.isReceivingRequest = false
        guard let exchange else { return }
        if response.isRequestUnwanted {
            // A part of it was thrown away.
            exchange.request.body?.breakOff()
        } else {
            exchange.trailers = trailers?.forwardedTrailers
            exchange.request.body?.finish(trailers: exchange.trailers)
            requestCompleted(exchange)
        }
        if exchange.phase.isEnded { connection?.exchangeFinished(keepsAlive: false) }
    }

    private func requestCompleted(_ exchange: Exchange) {
        if exchange.conversion?.bodyIsRead() == true || exchange.keySearch?.requestCompleted() == true { return }
        // What waits was told of while its body was still on the way. Told before it asks for a ticket.
        if let entry = exchange.entry, let body = exchange.request.body {
            loop.engine.post(
                BodyCompleted(of: entry, byteCount: body.receivedByteCount, isReplayable: body.summary == .captured))
        }
        exchange.judgeCollected()
        if let conversion = exchange.conversion, exchange.machine.isTicketDue { conversion.ask() }
    }

    func requestBroke(status: Int, detail: String) {
        exchange?.requestBroke(
            Problem(status: status, kind: "malformed", detail: detail, error: .httpRequestError))
    }

    func requestBodyStalled() {
        exchange?.requestBroke(
            Problem(
                status: 408, kind: "request_body_timeout",
                detail: "No byte of the request body arrived within timeouts.requestBody.", error: .httpRequestError))
    }

    /// The origin takes no more of the request.
    func requestIsUnwanted() {
        response.isRequestUnwanted = true
        connection?.resumeBody()
    }

    func clientTookBytes() {
        guard let exchange else { return }
        exchange.run.handshake?.readMore()
        exchange.run.taken(response.tookBytes())
    }

    func reroute() { exchange?.reroute() }

    func abandonIfFresh() {
        if let exchange, exchange.entry == nil { exchange.abandonIfConnecting() }
    }

    func endIfAddressIsGone() { exchange?.run.handshake?.endIfAddressIsGone() }

    func wentOffline(cuts: Bool) { exchange?.wentOffline(cuts: cuts) }

    func clientClosedInput() { exchange?.clientClosedInput() }

    func clientLeft() { exchange?.clientLeft() }

    func released() { exchange = nil }

    func cutOff() -> Bool { exchange?.cutOff() ?? true }

    /// Nothing of one that waits for its key was ever sent, so that can be said.
    func finalResponseIsOverdue() {
        if let exchange, exchange.machine.awaitsKey { exchange.answerCutOff() }
    }
}

/// A timer must not keep the body of a request that is over: others wait for its room.
private struct WaitForRoom {
    weak var client: ClientRecipient?
    weak var exchange: Exchange?

    func end() {
        client?.isWaitingForRoom = false
        if let exchange, !exchange.phase.isEnded { exchange.request.body?.roomMayBeBack() }
    }
}

extension UpstreamRequest {
    func isAnnounced(over max: Int) -> Bool {
        if case .length(let count) = framing { return count > max }
        return false
    }
}
