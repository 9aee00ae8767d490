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
        if let cache = loop.cache { exchange.isPrepared(with: CacheUse(cache, plan.request, plan.policy)) }
        if let wish = plan.ticket {
            exchange.isPrepared(with: TicketConversion(of: exchange, wish, base: connection.ownBase(for: head), plan.digest))
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

    func begin() { exchange?.requestBegan() }

    private func makeBody(for exchange: Exchange) -> CapturedBody {
        var length: Int?
        if case .length(let count) = exchange.request.framing { length = count }
        let loop = self.loop
        return CapturedBody(
            length: length, mayBeSentTwice: exchange.keepsBody, limits: loop.rules.body, spool: loop.spool,
            clientResumed: { [weak exchange] in
                loop.eventLoop.execute { [weak exchange] in exchange?.client?.connection?.resumeBody() }
            },
            stuck: { [weak exchange] in loop.eventLoop.execute { [weak exchange] in exchange?.bodyIsStuck() } })
    }

    /// How long after the disk has refused what waits it is tried again. Default: 5 s.
    static let roomPause: TimeAmount = .seconds(5)

    func waitForRoom(of exchange: Exchange) {
        guard !isWaitingForRoom else { return }
        isWaitingForRoom = true
        let bound = NIOLoopBound(WaitForRoom(client: self, exchange: exchange), eventLoop: loop.eventLoop)
        loop.eventLoop.scheduleTask(in: Self.roomPause) { bound.value.end() }
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

// MARK: - Responses of the proxy itself

extension ClientRecipient {
    /// Ends the exchange where the origin's response cannot be sent by HTTP/2 as it is: it is neither altered nor asked for again.
    ///
    /// - Returns: Whether it has ended.
    func refuses(_ head: ResponseHead, of exchange: Exchange) -> Bool {
        guard response.isStream, connection != nil, let field = HTTP2Fields.unsendable(in: head) else { return false }
        exchange.forgetOffered()
        exchange.run.cancel()
        exchange.fail(.unsendable(field, status: head.status))
        return true
    }

    func write(_ response: OwnResponse) {
        guard let connection else { return loop.metrics.ownResponseCount.increment() }
        connection.answer(response, to: facts, isComplete: !isReceivingRequest)
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
            exchange.requestCompleted(trailers: trailers?.forwardedTrailers)
        }
        if exchange.phase.isEnded { connection?.exchangeFinished(keepsAlive: false) }
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
