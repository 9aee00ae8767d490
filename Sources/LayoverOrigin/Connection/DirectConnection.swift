import LayoverCore
import LayoverEngine
import LayoverHTTP
import LayoverTLS
import LayoverText
import NIOCore

#if canImport(Glibc)
import Glibc
#endif

/// One connection to an origin, and the attempt that it carries at the moment.
///
/// An idle connection is read from, so that its end is seen at once. During an attempt, reading pauses while the permit is awaited, while
/// the recipient is behind, and after a response that is complete before its request. The next attempt begins only when the request
/// before it and the response to that request have passed completely.
///
/// `@unchecked Sendable`: confined to its event loop; calls from elsewhere switch to it.
final class DirectConnection: ChannelInboundHandler, @unchecked Sendable {
    typealias InboundIn = ByteBuffer

    let worker: DirectWorker
    /// The receiver of the requests: the origin, or a parent proxy that forwards them.
    let peer: Origin
    /// The parent proxy through which it goes. Others, or the same with other credentials, must not use it.
    private let parentProxy: ParentProxy?
    let remoteAddress: String?
    /// Whether the peer is on this machine.
    let isToLoopback: Bool
    /// The exceptions under which it was opened: its address may be one that a request without them must not reach.
    private let allowAddresses: [String]
    private let generation: Int
    /// `timeouts.deadPeer` of the request that it was opened for.
    let deadPeer: Duration
    var peerSilence = PeerSilence()
    /// The channel's; of use only while the channel is active.
    let descriptor: CInt
    /// Whether the parent proxy is the peer.
    let isToParentProxy: Bool
    private(set) var context: ChannelHandlerContext?
    /// Writes that the channel has not handed to the kernel yet: nothing may overtake them.
    private(set) var channelWriteCount = 0

    /// Nil where bytes go as they are.
    var tls: TLSClientSession?
    /// When the TLS handshake must be complete; nil if no handshake is under way.
    var securedBy: NIODeadline?
    // Flags are beside fields that leave them room.
    private(set) var isOpen = true
    var isInputClosed = false
    private var isReading = false
    /// When what has come of the handshake is worked on.
    private(set) lazy var handshakeTurn = TLSHandshakeTurn(worker.handshakeTurns)

    /// Nil between two attempts.
    private(set) var attempt: UpstreamAttempt?
    /// Attempts that it has carried, the one under way included.
    private(set) var attemptCount = 0
    /// Since when it has been idle; nil while the pool does not have it. The pool sets it.
    var idleSince: NIODeadline?
    /// Whether the response before was an error to a request with a body. The origin may have sent it without reading the body, and be
    /// about to close: many do, and not all of them say so.
    var mayBeAboutToClose = false
    /// The client that the connection is for, because a request authenticated it as a whole; nil: it is for all clients.
    var boundClient: Int?
    /// The client of the last attempt.
    private(set) var latestClient: Int?
    /// Whether the client of the last attempt has left, or there was none.
    var hasClientLeft = false

    var sending = RequestSending()
    var receiving = ResponseReceiving()
    var decoder: ResponseDecoder
    var input = ByteBuffer()

    init(_ socket: DialledSocket, to request: UpstreamRequest, on worker: DirectWorker) {
        self.worker = worker
        peer = request.peer
        parentProxy = request.parentProxy
        isToParentProxy = request.parentProxyUse == .forward
        remoteAddress = socket.remoteAddress
        isToLoopback = socket.remoteAddress.flatMap { NetworkAddress($0) }?.isLoopback == true
        descriptor = socket.descriptor
        allowAddresses = request.allowAddresses
        generation = worker.generation
        deadPeer = request.timeouts.deadPeer
        decoder = ResponseDecoder(limits: worker.options.responseLimits)
    }

    // MARK: Use

    /// Whether an attempt may use this connection of the pool.
    ///
    /// - Parameter oldest: The connection must not have been idle since an earlier time. Nil: it may be idle for any time.
    func mayCarry(_ attempt: UpstreamAttempt, idleSince oldest: NIODeadline?) -> Bool {
        if !attempt.request.mayBeSentTwice, mayBeAboutToClose { return false }
        if parentProxy != attempt.request.parentProxy { return false }
        if let oldest, let idleSince, idleSince < oldest { return false }
        let allowed = attempt.request.allowAddresses
        if allowAddresses.isEmpty || allowAddresses == allowed { return true }
        guard let remoteAddress else { return false }
        return worker.options.addressGuard.refusal(of: remoteAddress, port: attempt.request.endpoint.port, allow: allowed) == nil
    }

    /// Begins an attempt.
    ///
    /// - Returns: False: it is closed, nothing was sent, and the attempt needs another one.
    func begin(_ attempt: UpstreamAttempt) -> Bool {
        guard isOpen, attemptCount == 0 || isQuiet else {
            close()
            return false
        }
        adopt(attempt)
        attemptCount += 1
        latestClient = attempt.presentClient
        hasClientLeft = latestClient == nil
        sending = RequestSending()
        receiving = ResponseReceiving()
        decoder.reset(isHeadRequest: attempt.request.method == "HEAD")
        if let permit = attempt.permit {
            ask(permit)
            return true
        }
        return sendHead(of: attempt)
    }

    func adopt(_ attempt: UpstreamAttempt) {
        self.attempt = attempt
        attempt.workerState = self
    }

    var isReused: Bool { attemptCount > 1 }

    /// Ends the attempt under way for this connection.
    func takeAttempt() -> UpstreamAttempt? {
        defer { attempt = nil }
        attempt?.workerState = nil
        sending.reader?.close()
        sending.reader = nil
        return attempt
    }

    /// Keeps it for a later attempt if it is of any use, and closes it otherwise. Not while it carries an attempt.
    ///
    /// - Parameter isClean: Whether nothing of the exchange before is left on it.
    func retire(isClean: Bool) {
        guard isOpen, isClean, !isInputClosed, input.readableBytes == 0, generation == worker.generation else { return close() }
        worker.pool.holdForReuse(self)
    }

    /// Closes the connection. If its attempt was not taken before (`takeAttempt`), `channelInactive` deals with the attempt.
    func close() {
        if isOpen { sayEnd() }
        forget()
        context?.close(promise: nil)
    }

    private func forget() {
        guard isOpen else { return }
        isOpen = false
        worker.closed(self)
    }

    // MARK: Channel events

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        let most = worker.options.readByteCountMax
        // One read a turn, so that what is read ahead of a slow recipient stays bounded.
        try? context.channel.syncOptions?.setOption(.maxMessagesPerRead, value: 1)
        try? context.channel.syncOptions?.setOption(
            .recvAllocator, value: AdaptiveRecvByteBufferAllocator(minimum: 1024, initial: 2048, maximum: most))
        if context.channel.isActive { becameActive() }
    }

    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    func channelActive(context: ChannelHandlerContext) { becameActive() }

    private func becameActive() {
        guard isOpen else { return }
        worker.opened(self)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = unwrapInboundIn(data)
        if tls != nil { return receiveSecured(bytes) }
        // No request is under way: these bytes are no response to the next one.
        guard attempt != nil, !(sending.awaitsPermit && isReused) else { return close() }
        if input.readableBytes == 0 { input = bytes } else { input.writeBuffer(&bytes) }
        if sending.hasBegun { receive() }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        isReading = false
        if input.readableBytes == 0 { input = ByteBuffer() }
        worker.batchEnded()
        readMore()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard case ChannelEvent.inputClosed = event else { return context.fireUserInboundEventTriggered(event) }
        takeHandshakeTurn()
        isInputClosed = true
        inputEnded()
        worker.batchEnded()
    }

    /// NIO closes the channel behind it.
    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        broke(error)
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        broke(nil)
        context.fireChannelInactive()
    }

    private func broke(_ error: (any Error)?) {
        takeHandshakeTurn()
        forget()
        if attempt != nil { lost(error) }
    }

    /// Leaves bytes to the channel, which sends them when the kernel takes more.
    ///
    /// - Parameter sent: Called once the kernel has them; not if the connection breaks before.
    func writeLater(_ bytes: ByteBuffer, sent: @escaping @Sendable () -> Void = {}) {
        channelWriteCount += 1
        context?.writeAndFlush(NIOAny(bytes)).whenComplete { result in
            switch result {
            case .success:
                self.channelWriteCount -= 1
                sent()
            // Comes before the end of the channel.
            case .failure(let error): self.sending.channelBrokenBy = error as? IOError
            }
        }
    }

    /// Asks for more bytes, unless the recipient is behind. The end is noticed all the same.
    func readMore() {
        guard isOpen, !isReading, !isInputClosed, !receiving.isPaused && !receiving.isOver || attempt == nil, !sending.awaitsPermit
        else { return }
        isReading = true
        context?.read()
    }
}

// MARK: Whether the peer is there

extension DirectConnection {
    /// Ends the attempt if the peer is dead. An idle connection is left to keep-alive, and a handshake has a limit of its own.
    func checkPeer(now: NIODeadline) {
        guard let attempt, !isSecuring, isOpen, context?.channel.isActive == true else { return }
        guard let facts = PeerSilence.Facts(of: descriptor) else { return }
        let now = Duration.nanoseconds(Int64(clamping: now.uptimeNanoseconds))
        guard peerSilence.isDead(facts, now: now, limit: attempt.request.timeouts.deadPeer) else { return }
        lost(IOError(errnoCode: ETIMEDOUT, reason: "the peer is dead"))
    }

    /// The network has changed. What was sent and received until now counts.
    func endIfAddressIsGone() {
        guard attempt != nil, isOpen, context?.channel.isActive == true, LocalAddress.isGone(from: descriptor) else { return }
        // After an error response the rest of the request is not missed.
        if receiving.isOver, receiving.isError { finish(trailers: nil) } else { failOnceTaken(.addressGone) }
    }
}
