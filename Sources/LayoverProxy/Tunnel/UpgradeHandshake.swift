import LayoverCore
import LayoverEngine
import LayoverHTTP
import LayoverTLS
import NIOCore
import Synchronization

/// The request that asks for another protocol, and its response, on a connection of their own (RFC 9110 section 7.8).
///
/// With a 101 the connection is handed over as it is. Any other response is passed on like one that a worker reports, and the
/// connection is closed behind it. Confined to its loop.
final class UpgradeHandshake: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private var exchange: Exchange?
    private let attempt: UpstreamAttempt
    private let loop: ProxyLoop
    private var decoder: ResponseDecoder
    /// Whether the final head came.
    private var isAnswered = false
    private var input = ByteBuffer()
    private var channel: (any Channel)?
    private var isReading = false
    /// Whether the request has been handed to the kernel.
    private var isSent = false
    private var timeout: Scheduled<Void>?
    private var peerSilence = PeerSilence()
    /// The next look at whether the origin is dead.
    private var peerCheck: Scheduled<Void>?
    /// Whether the connection's TLS ended without a close_notify: what ends with the connection may be cut off then.
    private var isCut = false

    init(of exchange: Exchange, _ attempt: UpstreamAttempt, loop: ProxyLoop) {
        self.exchange = exchange
        self.attempt = attempt
        self.loop = loop
        decoder = ResponseDecoder(limits: loop.rules.framing)
        decoder.reset(isHeadRequest: false, allowsUpgrade: true)
    }

    /// Sends the request. What comes of it the exchange is told.
    ///
    /// - Parameter rest: What the origin has sent already.
    func begin(on channel: any Channel, _ rest: ByteBuffer) {
        self.channel = channel
        do {
            try channel.pipeline.syncOperations.addHandler(self)
        } catch {
            return fail(.connectionTerminated)
        }
        guard rest.readableBytes == 0 else { return fail(.httpProtocolError, "The origin sent bytes before the request.") }
        isSent = true
        attempt.hasBegunSending.store(true, ordering: .releasing)
        startTimeout(attempt.request.timeouts.firstByte)
        schedulePeerCheck()
        // With a read under way, the channel reads what has come before it closes for a failed write (`BaseSocketChannel.flushNow`).
        readMore()
        channel.writeAndFlush(requestHead, promise: nil)
    }

    /// - Parameter limit: Longest wait for the next bytes; nil: there is no limit.
    private func startTimeout(_ limit: Duration?) {
        timeout?.cancel()
        timeout = nil
        guard let limit else { return }
        let bound = NIOLoopBound(self, eventLoop: loop.eventLoop)
        timeout = loop.eventLoop.scheduleTask(in: TimeAmount(limit)) { bound.value.fail(.connectionReadTimeout) }
    }

    // MARK: The connection

    private func schedulePeerCheck() {
        let bound = NIOLoopBound(self, eventLoop: loop.eventLoop)
        let interval = PeerSilence.interval(limit: attempt.request.timeouts.deadPeer)
        peerCheck = loop.eventLoop.scheduleTask(in: TimeAmount(interval)) { bound.value.checkPeer() }
    }

    /// Asks the kernel whether the origin is dead: then no response comes, and no end of the connection either.
    private func checkPeer() {
        guard exchange != nil, let options = channel as? any SocketOptionProvider else { return }
        let now = Duration.nanoseconds(Int64(clamping: loop.eventLoop.now.uptimeNanoseconds))
        options.getTCPInfo().assumeIsolated().whenSuccess { info in
            guard self.exchange != nil else { return }
            if self.peerSilence.isDead(.init(info), now: now, limit: self.attempt.request.timeouts.deadPeer) {
                return self.fail(.connectionReadTimeout, "The origin acknowledged nothing for too long.")
            }
            self.schedulePeerCheck()
        }
    }

    /// The network has changed. Ends the attempt if the address of this machine that the connection uses is gone.
    func endIfAddressIsGone() {
        guard exchange != nil, let address = channel?.localAddress, loop.isAddressGone(address) else { return }
        fail(isAnswered ? .httpResponseIncomplete : .connectionTerminated, LocalAddress.goneMessage)
    }

    private var requestHead: ByteBuffer {
        let request = attempt.request
        var out = ByteBuffer(string: "\(request.method) \(request.target) HTTP/1.1\r\n")
        request.writeFields(into: &out)
        out.writeString("\r\n")
        return out
    }

    /// The exchange does not want the response any more. It is told what is known of the request once the call has returned.
    func cancel() {
        guard let exchange else { return }
        let (failure, attempt) = (failure(.connectionTerminated), attempt)
        self.exchange = nil
        end()
        let bound = NIOLoopBound(exchange, eventLoop: loop.eventLoop)
        loop.eventLoop.execute { bound.value.receive(.failed(failure), of: attempt) }
    }

    /// Goes on reading once the client has taken what came before.
    func readMore() {
        guard !isReading, let channel, let exchange, exchange.client?.connection?.isWritable != false else { return }
        isReading = true
        if isAnswered { startTimeout(attempt.request.timeouts.idle) }
        channel.read()
    }

    // MARK: Channel events

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        // Until this handler has left the pipeline, the tunnel stands behind it.
        guard exchange != nil else { return context.fireChannelRead(data) }
        var bytes = unwrapInboundIn(data)
        input.writeBuffer(&bytes)
        do throws(FramingError) {
            try decode(context)
        } catch {
            fail(isAnswered ? .httpResponseTransferCoding : .httpProtocolError, "\(error.reason)")
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        isReading = false
        // While the client does not take what came, nothing is waited for.
        if isAnswered { startTimeout(nil) }
        guard let exchange else { return context.fireChannelReadComplete() }
        exchange.client?.connection?.flushNow()
        readMore()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event as? TLSInputEnd == .connection { isCut = true }
        if case ChannelEvent.inputClosed = event { closed() }
        context.fireUserInboundEventTriggered(event)
    }

    func channelInactive(context: ChannelHandlerContext) {
        closed()
        context.fireChannelInactive()
    }

    /// A reset: what ends with the connection has not ended then.
    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if let error = error as? TLSError, error.isLastingRefusal { refused(error) } else { fail(.connectionTerminated) }
        context.fireErrorCaught(error)
    }

    /// By TLS 1.3 the origin may refuse Layover's part of the handshake after the request was sent. The attempt counts as `neverSent`.
    private func refused(_ error: TLSError) {
        var failure = failure(.tlsAlertReceived)
        failure.phase = .securing
        failure.evidence = .neverSent
        failure.isLastingRefusal = true
        failure.message = error.handshakeFailure().message
        guard exchange != nil else { return }
        tell(.failed(failure))
        end()
    }

    private func closed() {
        guard exchange != nil else { return }
        if decoder.endsWithConnection, !isCut {
            tell(.end(trailers: nil))
            return end()
        }
        fail(.connectionTerminated)
    }

    // MARK: The response

    private func decode(_ context: ChannelHandlerContext) throws(FramingError) {
        while exchange != nil, let event = try decoder.next(&input) {
            switch event {
            case .head(let head): take(head, context)
            case .body(let bytes):
                attempt.bytesOutstanding.add(bytes.readableBytes, ordering: .relaxed)
                tell(.body(bytes))
            case .end(let trailers):
                tell(.end(trailers: trailers))
                end()
            }
        }
    }

    private func take(_ head: ResponseHead, _ context: ChannelHandlerContext) {
        if head.isInterim { return tell(.interim(head)) }
        startTimeout(nil)
        if head.status == 101 { return handOver(head, context) }
        isAnswered = true
        tell(.head(head, sendings: 1))
    }

    private func handOver(_ head: ResponseHead, _ context: ChannelHandlerContext) {
        guard let exchange else { return }
        self.exchange = nil
        peerCheck?.cancel()
        let far = TunnelRelay(deadPeer: attempt.request.timeouts.deadPeer)
        do {
            try context.pipeline.syncOperations.addHandler(far)
        } catch {
            self.exchange = exchange
            return fail(.proxyInternalError)
        }
        let rest = input
        input = ByteBuffer()
        exchange.client?.response.switchProtocols(head, to: far, context.channel, rest: rest, of: exchange)
        context.pipeline.syncOperations.removeHandler(self, promise: nil)
    }

    // MARK: The end

    private func tell(_ event: UpstreamEvent) { exchange?.receive(event, of: attempt) }

    /// - Parameter reason: What was wrong, as a sentence. Nil: the connection broke, or a time-out passed.
    private func fail(_ kind: FailureKind, _ reason: String? = nil) {
        guard exchange != nil else { return }
        tell(.failed(failure(kind, reason)))
        end()
    }

    private func failure(_ kind: FailureKind, _ reason: String? = nil) -> Failure {
        var failure = Failure(
            phase: .awaitingResponse, kind: kind, evidence: isSent ? .maybeApplied : .neverSent,
            message: "The connection was closed before a response arrived.",
            bytesSent: isSent ? Int64(requestHead.readableBytes) : 0)
        var limit = "timeouts.firstByte"
        if isAnswered {
            failure.phase = .receiving
            failure.evidence = .answered
            failure.message = "The connection was closed before the response was complete."
            limit = "timeouts.idle"
        }
        if kind == .connectionReadTimeout { failure.message = "The origin sent nothing within \(limit)." }
        if let reason { failure.message = reason }
        return failure
    }

    /// Tells nothing more, and lets go of the connection.
    private func end() {
        startTimeout(nil)
        peerCheck?.cancel()
        exchange?.client?.connection?.flushNow()
        if exchange?.run.handshake === self { exchange?.run.handshake = nil }
        exchange = nil
        channel?.close(promise: nil)
        channel = nil
    }
}
