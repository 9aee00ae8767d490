import LayoverCore
import LayoverEngine
import LayoverHTTP
import LayoverOrigin
import NIOCore

/// The client of an exchange: it sends the request, and gets the response. It decides nothing. Confined to its loop.
final class ClientRecipient {
    let loop: ProxyLoop
    let response: ClientResponse
    /// The request as it came. Released early, because it holds on to the bytes around it.
    private var head: RequestHead?
    /// Whether no 100 is sent any more: one was sent, or the client sends its body without.
    private var hasSentContinue = false
    private(set) var isGone = false
    /// Whether the disk had no room for the body, and is to be tried again.
    fileprivate var isWaitingForRoom = false

    /// - Parameter isConnected: Whether the client has its 200 for CONNECT already.
    init(_ connection: ClientConnection, head: RequestHead, plan: ForwardPlan, isConnected: Bool) {
        var facts = ClientFacts(head, isIntercepted: connection.intercepted != nil, isConnected: isConnected)
        if let use = plan.baseURL {
            facts.addresses = RouteAddresses(use, target: plan.request.target, ownBase: connection.ownBase(for: head))
        }
        loop = connection.loop
        response = ClientResponse(on: connection, loop: connection.loop, facts)
        self.head = head
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

    // MARK: Responses of the proxy itself

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

    /// The origin takes no more of the request.
    func requestIsUnwanted() {
        response.isRequestUnwanted = true
        connection?.resumeBody()
    }

    /// A piece of the body has come.
    func sendsBody() { hasSentContinue = true }

    func write(_ response: OwnResponse) {
        guard let connection else { return loop.metrics.ownResponseCount.increment() }
        connection.answer(response, to: facts, isComplete: !isReceivingRequest)
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

/// Facts about a request head that are needed for answering it.
struct ClientFacts {
    var isHead: Bool
    var isHTTP10: Bool
    var keepAlive: Bool
    var expectsContinue: Bool
    /// Whether `Expect: 100-continue` was passed on although there is no body: a 100 is the origin's answer to it.
    var passesContinueOn: Bool
    var isOnOwnOrigin: Bool
    /// Whether the client had its 200 for CONNECT before the origin was asked: another response would be read as the tunnel's.
    var isConnected: Bool
    /// What the origin's addresses are for a client that uses the base URL of a route; nil for all others.
    var addresses: RouteAddresses?

    /// - Parameter isIntercepted: Whether all paths of the connection are those of an origin.
    init(_ head: RequestHead, isIntercepted: Bool = false, isConnected: Bool = false) {
        isHead = head.method == .head
        isHTTP10 = head.version == .http10
        // Bytes behind a CONNECT are the tunnel's; after a refusal they must not be read as requests.
        keepAlive = head.keepAlive && head.method != .connect
        expectsContinue = head.expectsContinue
        passesContinueOn = head.passesExpectOn
        isOnOwnOrigin = head.isOnOwnOrigin && !isIntercepted
        self.isConnected = isConnected
    }

    /// The head of an origin's response as this client gets it, without the fields that the proxy adds.
    func passedOn(_ head: ByteBuffer) -> ByteBuffer {
        guard isOnOwnOrigin else { return head }
        return OwnOrigin.guarding(addresses?.rewriting(head) ?? head)
    }
}

/// How a response is framed for the client (RFC 9112 section 6.3).
enum ClientFraming {
    /// No body.
    case none
    case length
    case chunked
    /// Ends when the connection does.
    case close
}
