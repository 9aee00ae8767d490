import LayoverCore
import LayoverEngine
import LayoverHTTP
import LayoverOrigin
import NIOCore

/// The client of an exchange: it sends the request, and gets the response: the origin's as it comes, one that was kept, or one of the
/// proxy itself. It decides nothing. Confined to its loop.
final class ClientRecipient {
    let loop: ProxyLoop
    private(set) weak var connection: ClientConnection?
    let facts: ClientFacts
    /// Whether the connection is a stream of HTTP/2.
    let isStream: Bool
    /// The request as it came. Released early, because it holds on to the bytes around it.
    private var head: RequestHead?
    /// Whether bytes of the request are still to come. If so, a response that comes at once may have to close.
    var isReceivingRequest: Bool
    /// Whether no 100 is sent any more: one was sent, or the client sends its body without.
    private var hasSentContinue = false
    private(set) var isGone = false
    /// Whether the disk had no room for the body, and is to be tried again.
    fileprivate var isWaitingForRoom = false
    /// Status of the origin's response; 0 before its head.
    private(set) var status = 0
    /// How the response is framed.
    private var framing = ClientFraming.none
    /// Whether the head announced the close (RFC 9112 section 9.6: then it must come).
    private var saysClose = false
    /// The part of a response that was passed on; nil if the response cannot be resumed.
    private var begun: ResponsePart?
    /// Bytes written to a client that does not take them yet.
    private(set) var untakenByteCount = 0
    /// The response that is being passed on, for those that have asked for the same.
    private var sharing: ResponseSharing?
    /// Whether all of the response was written while the request is still on its way to the origin.
    private var isComplete = false
    /// Whether all of the response has come, and its last piece is withheld until the request is on its way to the origin.
    private var isEndWithheld = false
    /// Whether the origin takes no more of the request.
    var isRequestUnwanted = false
    /// A response that does not come from the upstream.
    private var replay: (any BodyReplay)?

    /// - Parameter isConnected: Whether the client has its 200 for CONNECT already.
    init(_ connection: ClientConnection, head: RequestHead, plan: ForwardPlan, isConnected: Bool) {
        var facts = ClientFacts(head, isIntercepted: connection.intercepted != nil, isConnected: isConnected)
        if let use = plan.baseURL {
            facts.addresses = RouteAddresses(use, target: plan.request.target, ownBase: connection.ownBase(for: head))
        }
        self.connection = connection
        loop = connection.loop
        self.facts = facts
        self.head = head
        isReceivingRequest = head.framing.hasBody
        isStream = connection.stream != nil
    }

    // MARK: The request

    /// The client's connection is gone, or is not used for the exchange any more.
    func hasLeft() {
        isGone = true
        replay?.stop()
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
        guard !facts.isHTTP10, phase.isAttempting, begun == nil, let connection else { return }
        var out = facts.addresses?.rewriting(head.bytes) ?? head.bytes
        out.writeStaticString("\r\n")
        connection.write(out)
    }

    /// The origin takes no more of the request.
    func requestIsUnwanted() {
        isRequestUnwanted = true
        connection?.resumeBody()
    }

    /// A piece of the body has come.
    func sendsBody() { hasSentContinue = true }

    // MARK: The response

    /// Whether another request may follow on the connection.
    private var keepsAlive: Bool { !isReceivingRequest && mayKeepAlive }

    private var mayKeepAlive: Bool { facts.keepAlive && framing != .close && !loop.isDraining }

    /// Whether the client has all of the response, however the request ends.
    var isDelivered: Bool { isComplete && framing != .close }

    /// Whether nothing more is wanted of the origin than that it takes the rest of the request.
    var onlyNeedsRequestSent: Bool { isDelivered || isEndWithheld }

    func endIsWithheld() { isEndWithheld = true }

    func begin(_ head: ResponseHead, of exchange: Exchange) {
        share(head, of: exchange)
        guard let connection else { return }
        connection.responds(head.status, from: .origin)
        status = head.status
        framing = Self.framing(of: head, for: facts, mirrorsEnd: connection.mirrorsEnd)
        if framing == .length { begun = ResponsePart(head) }
        // A client may stop sending at `Connection: close` (RFC 9112 section 9.6). So a request that is still arriving is a reason for
        // `close` only if the origin takes no more of it.
        saysClose = !mayKeepAlive || isReceivingRequest && isRequestUnwanted
        var out = facts.passedOn(head.bytes)
        writeOwnFields(after: head, of: exchange, into: &out)
        connection.write(out)
    }

    private static func framing(of head: ResponseHead, for client: ClientFacts, mirrorsEnd: Bool) -> ClientFraming {
        switch head.framing {
        case .none: .none
        case .length: .length
        case .untilClose where mirrorsEnd: .close
        case .chunked, .untilClose: client.isHTTP10 ? .close : .chunked
        }
    }

    func writeOwnFields(after head: ResponseHead, of exchange: Exchange, into out: inout ByteBuffer) {
        out.writeBytes(loop.planner.viaLine)
        writeStatus(of: exchange, into: &out)
        let end = out.readableBytes
        switch framing {
        case .none, .close: break
        case .length:
            out.writeStaticString("Content-Length: ")
            out.writeDecimal(head.contentLength ?? 0)
            out.writeStaticString("\r\n")
        case .chunked: out.writeStaticString("Transfer-Encoding: chunked\r\n")
        }
        // The head of a response on our own web origin has been rewritten, so the place is not known.
        if let place = head.framingPlace, !facts.isOnOwnOrigin { out.moveTail(from: end, to: place) }
        if saysClose { out.writeStaticString("Connection: close\r\n") }
        out.writeStaticString("\r\n")
    }

    /// `Proxy-Status` of a response that was waited for.
    func writeStatus(of exchange: Exchange, into out: inout ByteBuffer) {
        guard exchange.entry != nil else { return }
        let tenths = Int(((loop.engine.clock.now() - exchange.createdAt).inSeconds * 10).rounded())
        out.writeString(
            "Proxy-Status: \(loop.configuration.identity); details=\"attempts=\(exchange.machine.attempts.attemptCount) "
                + "waited=\(tenths / 10).\(tenths % 10)s\"\r\n")
    }

    /// - Returns: How many bytes count as taken now.
    func receive(_ bytes: ByteBuffer, isDelivering: Bool) -> Int {
        sharing?.capture.append(bytes)
        begun?.came(bytes.readableBytes)
        // Where no body can follow, the client would take one for its next response.
        guard let connection, isDelivering, framing != .none else { return taken(bytes.readableBytes) }
        if framing == .chunked {
            writeChunk(bytes, on: connection)
        } else {
            connection.write(bytes)
        }
        if connection.isWritable { return taken(bytes.readableBytes) }
        untakenByteCount += bytes.readableBytes
        return 0
    }

    private func writeChunk(_ bytes: ByteBuffer, on connection: ClientConnection) {
        var out = ByteBuffer()
        if bytes.readableBytes < 4096 {
            ChunkWriter.writeChunk(bytes, into: &out)
            connection.write(out)
        } else {
            ChunkWriter.writeChunkHead(byteCount: bytes.readableBytes, into: &out)
            connection.write(out)
            connection.write(bytes)
            connection.write(ByteBuffer(staticString: "\r\n"))
        }
    }

    /// The client has caught up.
    ///
    /// - Returns: How many earlier bytes count as taken now.
    func tookBytes() -> Int {
        replay?.goOn()
        defer { untakenByteCount = 0 }
        return taken(untakenByteCount)
    }

    private func taken(_ count: Int) -> Int { sharing?.clientTook(count) ?? count }

    /// All of the response has come, and the request is still on its way to the origin.
    func complete(trailers: ByteBuffer?) {
        guard let connection, !isComplete else { return }
        isComplete = true
        begun = nil
        writeEnd(trailers, on: connection)
    }

    func finish(trailers: ByteBuffer?) {
        guard let connection else { return }
        if !isComplete { writeEnd(trailers, on: connection) }
        connection.exchangeFinished(keepsAlive: keepsAlive && !saysClose)
    }

    private func writeEnd(_ trailers: ByteBuffer?, on connection: ClientConnection) {
        guard framing == .chunked else { return }
        var out = ByteBuffer()
        ChunkWriter.writeLastChunk(trailers: trailers, into: &out)
        connection.write(out)
    }

    /// - Parameter isAccepted: Whether its route says that such a response is complete.
    func takesUnclosedEnd(isAccepted: Bool) -> Bool {
        guard let connection, connection.intercepted != nil else { return false }
        return connection.mirrorsEnd ? framing == .close : isAccepted && framing == .chunked
    }

    /// Ends as the connection to the origin did: without close_notify.
    func finishUnclosed() {
        if connection?.mirrorsEnd == true { connection?.cutOutput() }
        finish(trailers: nil)
    }

    /// The part of the response that the client has; nil if the response cannot be resumed.
    var part: ResponsePart? { sharing == nil && connection != nil ? begun : nil }

    /// After a complete response only a reset tells the client that its request was cut.
    func breakOff() { connection?.breakOff(isCloseDelimited: framing == .close || isComplete) }

    // MARK: For other requests with the same key

    /// Keeps a response that is being passed on, as others may have asked for the same.
    func share(_ head: ResponseHead, of exchange: Exchange) {
        guard exchange.machine.holdsKey else { return }
        sharing = ResponseSharing(head, loop: loop) { [weak self, weak exchange] count in
            if let both = self?.sharing?.captureTook(count) { exchange?.run.taken(both) }
        }
    }

    /// All of it has come.
    func takeShared() -> SharedResponse? {
        defer { sharing = nil }
        return sharing?.finished()
    }

    var isSharing: Bool { sharing != nil }

    // MARK: Other responses

    func write(_ response: OwnResponse) {
        guard let connection else { return loop.metrics.ownResponseCount.increment() }
        connection.answer(response, to: facts, isComplete: !isReceivingRequest)
    }

    /// What the origin answered to an equal request.
    func give(_ shared: SharedResponse) {
        guard let connection else { return }
        let sending = SharedResponseSending(shared, loop: loop, connection: connection, client: facts)
        replay = sending
        sending.begin()
    }

    /// A response from the cache.
    ///
    /// - Parameters:
    ///   - fields: Field lines that are added, each with its CRLF.
    ///   - done: Called on the loop, once, unless the client leaves before.
    func give(_ cached: CachedResponse, fields: String, done: @escaping (_ isWhole: Bool) -> Void) {
        guard let connection else { return }
        connection.responds(cached.head.status, from: .cache)
        framing = cached.body == nil ? .none : .length
        saysClose = !keepsAlive
        var out = facts.passedOn(cached.head.bytes)
        out.writeBytes(loop.planner.viaLine)
        out.writeString(fields)
        if let body = cached.body { out.writeString("Content-Length: \(body.byteCount)\r\n") }
        if saysClose { out.writeStaticString("Connection: close\r\n") }
        out.writeStaticString("\r\n")
        connection.write(out)
        guard let body = cached.body else { return gave(isWhole: true, done) }
        let sending = CachedBodySending(body, loop: loop, connection: connection) { [weak self] in self?.gave(isWhole: $0, done) }
        replay = sending
        sending.goOn()
        connection.flushNow()
    }

    private func gave(isWhole: Bool, _ done: (_ isWhole: Bool) -> Void) {
        replay = nil
        done(isWhole)
        connection?.replayEnded(isWhole: isWhole, keepsAlive: keepsAlive && !saysClose)
    }
}

/// Sends a body that does not come from the upstream, as fast as the client takes it.
protocol BodyReplay: AnyObject {
    func goOn()
    func stop()
}

extension CachedBodySending: BodyReplay {}
extension SharedResponseSending: BodyReplay {}

/// A timer must not keep the body of a request that is over: others wait for its room.
private struct WaitForRoom {
    weak var client: ClientRecipient?
    weak var exchange: Exchange?

    func end() {
        client?.isWaitingForRoom = false
        if let exchange, !exchange.phase.isEnded { exchange.request.body?.roomMayBeBack() }
    }
}
