package import NIOCore

/// Speaks TLS on a channel: ciphertext on the side of the network, plaintext on the other. What clients and servers have in common.
///
/// - Handshake: begins by itself when the channel is active, and reads by itself, also with `autoRead` off. Then comes the event
///   `TLSEstablished`.
/// - Reading: nothing is decrypted before a call of `read()`. What one read of the channel brought is the most that is held.
/// - Writing: plaintext is encrypted when it is flushed, and only as long as the channel is writable; what is larger waits here as it
///   is. So a writer that goes by the channel's `isWritable` is never ahead by more than that channel's limit and one piece.
/// - End of input: `ChannelEvent.inputClosed`, once, for a close_notify or the end of the connection; the event `TLSInputEnd` before it
///   tells them apart.
/// - Own end: `close(mode: .output)` sends all that was written, a close_notify, and closes the channel's output. After the outbound
///   event `TLSOutputCut` there is no close_notify.
/// - Failure: the alert is sent, `errorCaught` gets the `TLSError`, and the channel is closed.
///
/// Confined to its event loop.
package class TLSChannelHandler: ChannelDuplexHandler, RemovableChannelHandler {
    package typealias InboundIn = ByteBuffer
    package typealias InboundOut = ByteBuffer
    package typealias OutboundIn = ByteBuffer
    package typealias OutboundOut = ByteBuffer

    private enum Phase {
        /// Waits for the channel to be active.
        case inactive
        case handshaking(TLSSession)
        /// Waits for `resume`.
        case suspended(TLSSession)
        case established(TLSSession)
        /// After a failure, or the end of the channel.
        case ended
    }

    private let handshakeTimeMax: TimeAmount
    private let turn: TLSHandshakeTurn
    private var phase = Phase.inactive
    private(set) var context: ChannelHandlerContext?
    private var deadline: Scheduled<Void>?
    /// Bytes of the network that are not decrypted yet.
    private var ciphertext: ByteBuffer
    private var sending = PlaintextQueue()
    /// Whether `read()` was called and no bytes were passed on since.
    private var isReadWanted = false
    /// Whether bytes were passed on since the channel's read began.
    private var hasDelivered = false
    private var isDelivering = false
    /// Whether `TLSEstablished` is being passed on. Writes that are flushed during this time are sent after it. If such a write fails, the
    /// bytes that came before it can still be passed on.
    private var isAnnouncing = false
    /// Whether the channel has a read under way whose `channelReadComplete` is to come.
    private var isInRead = false
    /// Whether the peer has ended its sending side.
    private var isInputEnded = false
    /// Whether the output ends without a close_notify.
    private var isOutputCut = false

    /// - Parameters:
    ///   - first: Bytes that were read before this handler was added.
    ///   - handshakeTimeMax: The handshake fails when it is not complete by then.
    ///   - turns: When the work of the handshake is done. Nil: the work is done at once.
    init(first: ByteBuffer = ByteBuffer(), handshakeTimeMax: TimeAmount, turns: TLSHandshakeTurns? = nil) {
        (ciphertext, self.handshakeTimeMax, turn) = (first, handshakeTimeMax, TLSHandshakeTurn(turns))
    }

    // MARK: What each side has of its own

    /// The session of the connection that begins.
    func makeSession() throws(TLSError) -> TLSSession { throw TLSError(.unusable, "there is no side to speak for") }

    /// Whether the handshake must wait for `resume`, of which `suspended` then takes care.
    func mustSuspend(_ session: TLSSession) -> Bool { false }

    func suspended(_ session: TLSSession) {}

    /// The name that the client has asked for.
    func serverName(of session: TLSSession) -> String? { nil }

    // MARK: Life

    package final func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        if context.channel.isActive { start() }
    }

    package final func handlerRemoved(context: ChannelHandlerContext) {
        end(ChannelError.ioOnClosedChannel)
        self.context = nil
    }

    package final func channelActive(context: ChannelHandlerContext) {
        context.fireChannelActive()
        start()
    }

    private func start() {
        guard case .inactive = phase, let context else { return }
        do throws(TLSError) {
            phase = .handshaking(try makeSession())
        } catch {
            return fail(error)
        }
        deadline = context.eventLoop.assumeIsolated().scheduleTask(in: handshakeTimeMax) { [weak self] in
            self?.fail(TLSError(.timeout, "the handshake took too long"))
        }
        proceed()
        if case .handshaking = phase { context.read() }
    }

    package final func channelInactive(context: ChannelHandlerContext) {
        if deliverRest() { isInputEnded = true }
        end(ChannelError.ioOnClosedChannel)
        context.fireChannelInactive()
    }

    package final func errorCaught(context: ChannelHandlerContext, error: any Error) {
        switch phase {
        // The network's failure is the reason; that the connection is closed then says nothing about the peer.
        case .handshaking, .suspended: end(error)
        case .inactive, .established, .ended: break
        }
        context.fireErrorCaught(error)
    }

    private func fail(_ error: TLSError) {
        guard let context else { return }
        if case .ended = phase { return }
        sendOutgoing()
        end(error)
        context.fireErrorCaught(error)
        context.close(promise: nil)
    }

    private func end(_ error: any Error) {
        phase = .ended
        deadline?.cancel()
        deadline = nil
        ciphertext = ByteBuffer()
        sending.fail(error)
    }

    // MARK: Handshake

    private func proceedInTurn() {
        guard case .handshaking = phase, !turn.wait({ [weak self] in self?.turnCame() }) else { return }
        proceed()
    }

    private func turnCame() {
        proceed()
        if !isInRead, let context { channelReadComplete(context: context) }
    }

    private func proceed() {
        guard case .handshaking(let session) = phase else { return }
        do throws(TLSError) {
            try session.receive(ciphertext)
            ciphertext = ByteBuffer()
            try session.handshake()
        } catch {
            return fail(error)
        }
        sendOutgoing()
        if mustSuspend(session) {
            phase = .suspended(session)
            suspended(session)
        } else if session.isEstablished {
            established(session)
        }
    }

    /// Continues the handshake, if it is still suspended.
    ///
    /// - Parameters:
    ///   - failure: Why the handshake cannot succeed any more; the session has this failure too, and an alert for it. Nil: it can.
    ///   - prepare: Tells the session before.
    final func resume(failing failure: TLSError? = nil, _ prepare: () -> Void) {
        guard case .suspended(let session) = phase else { return }
        phase = .handshaking(session)
        prepare()
        guard var failure else {
            proceedInTurn()
            if !turn.isAwaited, case .handshaking = phase { context?.read() }
            return
        }
        do throws(TLSError) {
            try session.handshake()
        } catch {
            failure.alertSent = error.alertSent
        }
        fail(failure)
    }

    private func established(_ session: TLSSession) {
        phase = .established(session)
        deadline?.cancel()
        deadline = nil
        let event = TLSEstablished(
            applicationProtocol: session.applicationProtocol, serverName: serverName(of: session), isResumed: session.isResumed)
        // A handler may put others in its own place now. What came behind the handshake is for those, once it is gone.
        (isDelivering, isAnnouncing) = (true, true)
        context?.fireUserInboundEventTriggered(event)
        (isDelivering, isAnnouncing) = (false, false)
        // Where a read is wanted, the channel reads what has come before it closes for a failed write (`BaseSocketChannel.flushNow`).
        if isReadWanted { context?.read() }
        if let context { sendFlushed(context) }
        if isReadWanted { deliver() }
        if hasDelivered, !isInRead, let context { channelReadComplete(context: context) }
    }

    // MARK: Reading

    package final func read(context: ChannelHandlerContext) {
        // Nothing that may come behind the end is of use, and what is not read is bounded by the kernel.
        guard !isInputEnded else { return }
        isReadWanted = true
        guard case .established(let session) = phase else { return }
        if !isInRead, !isDelivering, ciphertext.readableBytes > 0 || session.hasIncoming {
            deliver()
            guard !hasDelivered else { return channelReadComplete(context: context) }
        }
        context.read()
    }

    package final func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isInputEnded else { return }
        var bytes = unwrapInboundIn(data)
        isInRead = true
        switch phase {
        case .inactive, .ended: return
        case .handshaking, .suspended, .established:
            if ciphertext.readableBytes == 0 { ciphertext = bytes } else { ciphertext.writeBuffer(&bytes) }
        }
        proceedInTurn()
        if case .established = phase, isReadWanted || hasDelivered { deliver() }
    }

    package final func channelReadComplete(context: ChannelHandlerContext) {
        isInRead = false
        switch phase {
        case .handshaking where !turn.isAwaited: return context.read()
        case .handshaking, .inactive, .suspended, .ended: return
        case .established: break
        }
        if hasDelivered {
            hasDelivered = false
            context.fireChannelReadComplete()
        } else if isReadWanted {
            context.read()
        }
    }

    /// Decrypts what has come and passes it on.
    private func deliver() {
        guard case .established(let session) = phase, !isDelivering, !isInputEnded, let context else { return }
        isDelivering = true
        defer { isDelivering = false }
        var plaintext = context.channel.allocator.buffer(capacity: ciphertext.readableBytes)
        var failure: TLSError?
        do throws(TLSError) {
            try session.read(taking: &ciphertext, into: &plaintext)
        } catch {
            failure = error
        }
        sendOutgoing()
        // Bytes that were decrypted before a failure still count.
        if plaintext.readableBytes > 0 {
            isReadWanted = false
            hasDelivered = true
            context.fireChannelRead(wrapInboundOut(plaintext))
        }
        if let failure { return fail(failure) }
        if session.isEnded { inputEnded(.closeNotify) }
    }

    package final func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard case ChannelEvent.inputClosed = event else { return context.fireUserInboundEventTriggered(event) }
        if deliverRest() { inputEnded(.connection) }
    }

    /// Takes what has come before the end of the input: it counts before that end does.
    ///
    /// - Returns: Whether the handshake was complete.
    private func deliverRest() -> Bool {
        if turn.end() { proceed() }
        switch phase {
        case .handshaking(let session), .suspended(let session): fail(.closed(session))
        case .established:
            deliver()
            return true
        case .inactive, .ended: break
        }
        return false
    }

    private func inputEnded(_ end: TLSInputEnd) {
        guard !isInputEnded, let context else { return }
        isInputEnded = true
        isReadWanted = false
        ciphertext = ByteBuffer()
        if hasDelivered, !isInRead {
            hasDelivered = false
            context.fireChannelReadComplete()
        }
        context.fireUserInboundEventTriggered(end)
        context.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
    }

    // MARK: Writing

    package final func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if case .ended = phase {
            promise?.fail(ChannelError.ioOnClosedChannel)
            return
        }
        guard sending.append(unwrapOutboundIn(data), promise) else { return }
        // Counted by the channel's `isWritable` as if it had been passed on at once.
        if sending.isLarge { encrypt() }
    }

    package final func flush(context: ChannelHandlerContext) {
        sending.flush()
        if !isAnnouncing { sendFlushed(context) }
    }

    private func sendFlushed(_ context: ChannelHandlerContext) {
        encrypt()
        context.flush()
    }

    package final func channelWritabilityChanged(context: ChannelHandlerContext) {
        sendFlushed(context)
        context.fireChannelWritabilityChanged()
    }

    /// Encrypts what was flushed as long as the channel takes it, in pieces.
    private func encrypt() {
        guard case .established(let session) = phase, let context, !sending.isTaking else { return }
        sending.isTaking = true
        defer { sending.isTaking = false }
        while context.channel.isWritable, let piece = sending.take() {
            var ciphertext = context.channel.allocator.buffer(capacity: piece.byteCount + PlaintextQueue.overheadByteCount)
            do throws(TLSError) {
                session.takeOutgoing(into: &ciphertext)
                try session.write(piece.bytes, into: &ciphertext)
            } catch {
                piece.promise?.fail(error)
                return fail(error)
            }
            context.write(wrapOutboundOut(ciphertext), promise: piece.promise)
            if !context.channel.isWritable { context.flush() }
        }
        if sending.isEmpty, sending.endsOutput { endOutput(session) }
    }

    /// Sends the bytes that TLS has produced and that wait to be sent.
    private func sendOutgoing() {
        guard let context else { return }
        switch phase {
        case .handshaking(let session), .suspended(let session), .established(let session):
            guard session.hasOutgoing else { return }
            var bytes = context.channel.allocator.buffer(capacity: 4 << 10)
            session.takeOutgoing(into: &bytes)
            context.writeAndFlush(wrapOutboundOut(bytes), promise: nil)
        case .inactive, .ended: return
        }
    }

    package final func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        switch mode {
        case .input: context.close(mode: .input, promise: promise)
        case .output:
            guard case .established = phase else { return context.close(mode: .output, promise: promise) }
            sending.endOutput(promise)
            sendFlushed(context)
        case .all:
            if isAnnouncing { sendFlushed(context) }
            if case .established(let session) = phase, !isOutputCut {
                session.end()
                sendOutgoing()
            }
            end(ChannelError.ioOnClosedChannel)
            context.close(mode: .all, promise: promise)
        }
    }

    package final func triggerUserOutboundEvent(context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?) {
        // The event goes on: there may be another TLS connection inside which this one is.
        if event is TLSOutputCut { isOutputCut = true }
        context.triggerUserOutboundEvent(event, promise: promise)
    }

    private func endOutput(_ session: TLSSession) {
        guard let context else { return }
        if !isOutputCut {
            session.end()
            sendOutgoing()
        }
        context.close(mode: .output, promise: sending.takeOutputEnd())
    }
}
