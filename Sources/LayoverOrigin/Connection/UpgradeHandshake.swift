import Glibc
import LayoverCore
package import LayoverEngine
package import LayoverHTTP
import LayoverTLS
package import NIOCore
import Synchronization

/// The request that asks for another protocol, and its response, on a connection of their own (RFC 9110 section 7.8).
///
/// With a 101 the connection is handed over as it is. Any other response is passed on like one that a worker reports, and the
/// connection is closed behind it. Confined to its loop.
package final class UpgradeHandshake: ChannelInboundHandler, RemovableChannelHandler {
    package typealias InboundIn = ByteBuffer
    package typealias OutboundOut = ByteBuffer

    /// The exchange that the attempt is for. All calls come on the loop of the connection.
    package struct Owner {
        /// Gets the events of the response.
        let receiver: any UpstreamReceiver
        /// Whether more of the response is to be read. Where it is not, `readMore` says when it is.
        let mayRead: () -> Bool
        /// Several events may have come before; no more follow at once.
        let batchEnded: () -> Void
        /// The origin has agreed. Gets the head, the connection, and the bytes that came behind the head. Throws if it cannot take the
        /// connection over. The handshake leaves the pipeline behind the call.
        let switched: (ResponseHead, any Channel, ByteBuffer) throws -> Void
        /// The handshake is over, and its connection is closed.
        let ended: (UpgradeHandshake) -> Void
        /// Whether an address is no address of this machine any more.
        let isAddressGone: (SocketAddress) -> Bool

        package init(
            receiver: any UpstreamReceiver, mayRead: @escaping () -> Bool, batchEnded: @escaping () -> Void,
            switched: @escaping (ResponseHead, any Channel, ByteBuffer) throws -> Void, ended: @escaping (UpgradeHandshake) -> Void,
            isAddressGone: @escaping (SocketAddress) -> Bool
        ) {
            self.receiver = receiver
            self.mayRead = mayRead
            self.batchEnded = batchEnded
            self.switched = switched
            self.ended = ended
            self.isAddressGone = isAddressGone
        }
    }

    /// Nil once it was told how the handshake ended.
    private var owner: Owner?
    private let attempt: UpstreamAttempt
    private let eventLoop: any EventLoop
    private var decoder: ResponseDecoder
    /// Whether some byte of a response came.
    private var hasBegunResponse = false
    /// Whether the final head came.
    private var isAnswered = false
    private var input = ByteBuffer()
    private var channel: (any Channel)?
    private var isReading = false
    /// Both ends of the connection. A channel that is closed does not report them.
    private var localAddress: String?
    private var remoteAddress: String?
    /// Bytes of the request that were handed to the channel; 0 before.
    private var sentByteCount = 0
    private var timeout: Scheduled<Void>?
    private var peerSilence = PeerSilence()
    /// The next look at whether the origin is dead.
    private var peerCheck: Scheduled<Void>?
    /// Whether the connection's TLS ended without a close_notify: what ends with the connection may be cut off then.
    private var isCut = false

    /// - Parameter limits: Limits on the response.
    package init(of attempt: UpstreamAttempt, on eventLoop: any EventLoop, limits: FramingLimits, owner: Owner) {
        self.attempt = attempt
        self.eventLoop = eventLoop
        self.owner = owner
        decoder = ResponseDecoder(limits: limits)
        decoder.reset(isHeadRequest: false, allowsUpgrade: true)
    }

    /// Sends the request. Its owner is told what comes of it.
    ///
    /// - Parameter rest: Bytes that the origin has sent already.
    package func begin(on channel: any Channel, _ rest: ByteBuffer) {
        self.channel = channel
        (localAddress, remoteAddress) = (channel.localAddress?.ipAddress, channel.remoteAddress?.ipAddress)
        do {
            try channel.pipeline.syncOperations.addHandler(self)
        } catch {
            return fail(.lost(nil))
        }
        guard channel.isActive else { return fail(.lost(nil)) }
        guard rest.readableBytes == 0 else {
            return fail(.other(FailureReason(.httpProtocolError, "The origin sent bytes before the request.")))
        }
        var head = ByteBuffer()
        // The connection carries nothing else, so it does not matter whether the request authenticates it.
        RequestHeadWriter.write(attempt.request, into: &head)
        // The channel does not report how many bytes the kernel took before a write failed, so all of them count.
        sentByteCount = head.readableBytes
        attempt.hasBegunSending.store(true, ordering: .releasing)
        startTimeout(attempt.request.timeouts.firstByte)
        schedulePeerCheck()
        // With a read under way, the channel reads what has come before it closes for a failed write (`BaseSocketChannel.flushNow`).
        readMore()
        channel.writeAndFlush(head, promise: nil)
    }

    /// - Parameter limit: Longest wait for the next bytes; nil: there is no limit.
    private func startTimeout(_ limit: Duration?) {
        timeout?.cancel()
        timeout = nil
        guard let limit else { return }
        let bound = NIOLoopBound(self, eventLoop: eventLoop)
        timeout = eventLoop.scheduleTask(in: TimeAmount(limit)) { bound.value.timedOut() }
    }

    private func timedOut() { fail(.timedOut) }

    // MARK: The connection

    private func schedulePeerCheck() {
        let bound = NIOLoopBound(self, eventLoop: eventLoop)
        let interval = PeerSilence.interval(limit: attempt.request.timeouts.deadPeer)
        peerCheck = eventLoop.scheduleTask(in: TimeAmount(interval)) { bound.value.checkPeer() }
    }

    /// Asks the kernel whether the origin is dead: then no response comes, and no end of the connection either.
    private func checkPeer() {
        guard owner != nil, let options = channel as? any SocketOptionProvider else { return }
        let now = Duration.nanoseconds(Int64(clamping: eventLoop.now.uptimeNanoseconds))
        options.getTCPInfo().assumeIsolated().whenSuccess { info in
            guard self.owner != nil else { return }
            if self.peerSilence.isDead(.init(info), now: now, limit: self.attempt.request.timeouts.deadPeer) {
                return self.fail(.lost(IOError(errnoCode: ETIMEDOUT, reason: "the peer is dead")))
            }
            self.schedulePeerCheck()
        }
    }

    /// The network has changed. Ends the attempt if the address of this machine that the connection uses is gone.
    package func endIfAddressIsGone() {
        guard let owner, let address = channel?.localAddress, owner.isAddressGone(address) else { return }
        fail(.addressGone)
    }

    /// The response is not wanted any more. The owner is told what is known of the request once the call has returned.
    package func cancel() {
        guard let owner else { return }
        let (failure, attempt) = (Failure.judged(.cancelled, progress: progress), attempt)
        self.owner = nil
        end()
        let bound = NIOLoopBound(owner.receiver, eventLoop: eventLoop)
        eventLoop.execute { bound.value.receive(.failed(failure), of: attempt) }
    }

    /// Goes on reading once the client has taken what came before. A response that is withheld is read no further.
    package func readMore() {
        guard !isReading, let channel, let owner, owner.mayRead() else { return }
        isReading = true
        if isAnswered { startTimeout(attempt.request.timeouts.idle) }
        channel.read()
    }

    // MARK: Channel events

    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        // Until this handler has left the pipeline, the tunnel stands behind it.
        guard owner != nil else { return context.fireChannelRead(data) }
        var bytes = unwrapInboundIn(data)
        if bytes.readableBytes > 0 { hasBegunResponse = true }
        input.writeBuffer(&bytes)
        do throws(FramingError) {
            try decode(context)
        } catch {
            fail(.malformed(error, isInHead: !isAnswered))
        }
    }

    package func channelReadComplete(context: ChannelHandlerContext) {
        isReading = false
        // While the client does not take what came, nothing is waited for.
        if isAnswered { startTimeout(nil) }
        guard let owner else { return context.fireChannelReadComplete() }
        owner.batchEnded()
        readMore()
    }

    package func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event as? TLSInputEnd == .connection { isCut = true }
        if case ChannelEvent.inputClosed = event { closed() }
        context.fireUserInboundEventTriggered(event)
    }

    package func channelInactive(context: ChannelHandlerContext) {
        closed()
        context.fireChannelInactive()
    }

    /// A reset: what ends with the connection has not ended then.
    package func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if let error = error as? TLSError { fail(.notSecured(error)) } else { fail(.lost(error)) }
        context.fireErrorCaught(error)
    }

    private func closed() {
        guard owner != nil else { return }
        if decoder.endsWithConnection, !isCut {
            tell(.end(trailers: nil))
            return end()
        }
        fail(.lost(nil))
    }

    // MARK: The response

    private func decode(_ context: ChannelHandlerContext) throws(FramingError) {
        while owner != nil, let event = try decoder.next(&input) {
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
        noteFacts()
        if head.status == 101 { return Self.agrees(head) ? handOver(head, context) : fail(.other(.otherProtocol)) }
        isAnswered = true
        tell(.head(head, sendings: 1))
    }

    /// Whether a 101 agrees to what was asked for: with one Upgrade field that names nothing but the protocol (RFC 9110 section 7.8: a
    /// server must not switch to a protocol that the client did not ask for). HTTP/1.0 has no upgrades.
    private static func agrees(_ head: ResponseHead) -> Bool {
        let fields = head.fields()
        let values = fields.values(.upgrade)
        return head.minorVersion > 0 && values.count == 1 && fields.equalsIgnoringCase(values[0], "websocket")
    }

    /// The dial reported the connection before anything was sent.
    private func noteFacts() {
        guard attempt.wantsConnectionFacts else { return }
        var facts =
            attempt.connectionFacts
            ?? ConnectionFacts(localAddress: localAddress, remoteAddress: remoteAddress, reusedConnection: false, bytesSent: 0)
        facts.bytesSent = Int64(sentByteCount)
        attempt.connectionFacts = facts
    }

    private func handOver(_ head: ResponseHead, _ context: ChannelHandlerContext) {
        guard let owner else { return }
        self.owner = nil
        peerCheck?.cancel()
        let rest = input
        input = ByteBuffer()
        do {
            try owner.switched(head, context.channel, rest)
        } catch {
            self.owner = owner
            return fail(.other(FailureReason(.proxyInternalError, "The connection could not become a tunnel.")))
        }
        context.pipeline.syncOperations.removeHandler(self, promise: nil)
    }

    // MARK: The end

    private func tell(_ event: UpstreamEvent) { owner?.receiver.receive(event, of: attempt) }

    private func fail(_ cause: FailureCause) {
        guard owner != nil else { return }
        tell(.failed(.judged(cause, progress: progress)))
        end()
    }

    /// The key `http2` helps no upgrade, so the failure must not name it: TLS with the origin does not count here.
    private var progress: DirectProgress {
        DirectProgress(
            isSecuring: false, isOriginSecure: false, bytesSent: Int64(sentByteCount), mayHaveSentMore: false, isSent: sentByteCount > 0,
            hasBegunResponse: hasBegunResponse, isAnswered: isAnswered, isResponseOver: false, isReused: false,
            localAddress: localAddress, remoteAddress: remoteAddress)
    }

    /// Tells nothing more, and lets go of the connection.
    private func end() {
        startTimeout(nil)
        peerCheck?.cancel()
        owner?.batchEnded()
        owner?.ended(self)
        owner = nil
        channel?.close(promise: nil)
        channel = nil
    }
}
