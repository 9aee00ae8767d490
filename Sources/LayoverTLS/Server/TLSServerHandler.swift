package import NIOCore

/// Serves TLS on a channel: ciphertext on the side of the network, plaintext on the other.
///
/// - Handshake: begins by itself when the channel is active, reads by itself, also with `autoRead` off, and is suspended from the
///   client's first message until `choose` has found a context. Then comes the event `TLSEstablished`.
/// - Reading: nothing is decrypted before somebody has asked by `read()`. What one read of the channel brought is the most that is held.
/// - Writing: plaintext is encrypted when it is flushed, and only as long as the channel is writable; what is larger waits here as it
///   is. So a writer that goes by the channel's `isWritable` is never ahead by more than that channel's limit and one piece.
/// - End of input: `ChannelEvent.inputClosed`, once, for a close_notify or the end of the connection; `inputEnd` tells them apart.
/// - Own end: `close(mode: .output)` sends all that was written, a close_notify, and closes the channel's output.
/// - Failure: the alert is sent, `errorCaught` gets the `TLSError`, and the channel is closed.
///
/// Confined to its event loop.
package final class TLSServerHandler: ChannelDuplexHandler, RemovableChannelHandler {
    package typealias InboundIn = ByteBuffer
    package typealias InboundOut = ByteBuffer
    package typealias OutboundIn = ByteBuffer
    package typealias OutboundOut = ByteBuffer

    private enum Phase {
        /// Waits for the channel to be active.
        case inactive
        case handshaking(TLSServerSession)
        /// Waits for `choose`.
        case choosing(TLSServerSession)
        case established(TLSServerSession)
        /// After a failure, or the end of the channel.
        case ended
    }

    private let choose: (TLSClientHello) -> EventLoopFuture<TLSServerContext>
    private let handshakeTimeMax: TimeAmount
    private var begun: TLSServerSession?
    private var phase = Phase.inactive
    private var context: ChannelHandlerContext?
    private var deadline: Scheduled<Void>?
    /// Bytes of the network that are not decrypted yet.
    private var ciphertext = ByteBuffer()
    private var sending = PlaintextQueue()
    /// Whether somebody asked for bytes and got none yet.
    private var isReadWanted = false
    /// Whether bytes were passed on since the channel's read began.
    private var hasDelivered = false
    private var isDelivering = false
    /// Whether the channel has a read under way whose `channelReadComplete` is to come.
    private var isInRead = false
    /// How the client ended its sending side. Nil: it has not.
    package private(set) var inputEnd: TLSInputEnd?

    /// - Parameters:
    ///   - begun: A session that has got the client's first bytes already. Nil: the handler makes one.
    ///   - handshakeTimeMax: The handshake fails when it is not complete by then. Default: 30 s.
    ///   - choose: Finds the context for a client, on any event loop. An error ends the handshake (internal_error).
    package init(
        _ begun: TLSServerSession? = nil, handshakeTimeMax: TimeAmount = .seconds(30),
        choose: @escaping (TLSClientHello) -> EventLoopFuture<TLSServerContext>
    ) {
        (self.begun, self.handshakeTimeMax, self.choose) = (begun, handshakeTimeMax, choose)
    }

    // MARK: Life

    package func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        if context.channel.isActive { start() }
    }

    package func handlerRemoved(context: ChannelHandlerContext) {
        end(ChannelError.ioOnClosedChannel)
        self.context = nil
    }

    package func channelActive(context: ChannelHandlerContext) {
        context.fireChannelActive()
        start()
    }

    private func start() {
        guard case .inactive = phase, let context else { return }
        do throws(TLSError) {
            let session = if let begun { begun } else { try TLSServerSession() }
            begun = nil
            phase = .handshaking(session)
        } catch {
            return fail(error)
        }
        deadline = context.eventLoop.assumeIsolated().scheduleTask(in: handshakeTimeMax) { [weak self] in
            self?.fail(TLSError(.timeout, "the handshake took too long"))
        }
        proceed()
        if case .handshaking = phase { context.read() }
    }

    package func channelInactive(context: ChannelHandlerContext) {
        switch phase {
        case .handshaking(let session), .choosing(let session): fail(closed(session))
        case .established:
            deliver()
            if inputEnd == nil { inputEnd = .connection }
        case .inactive, .ended: break
        }
        end(ChannelError.ioOnClosedChannel)
        context.fireChannelInactive()
    }

    package func errorCaught(context: ChannelHandlerContext, error: any Error) {
        switch phase {
        // The network's failure is the reason; that the connection is closed then says nothing about the client.
        case .handshaking, .choosing: end(error)
        case .inactive, .established, .ended: break
        }
        context.fireErrorCaught(error)
    }

    private func closed(_ session: TLSServerSession) -> TLSError {
        TLSError(.closed(isCertificateSent: session.isCertificateSent), "the connection was closed")
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
        if session.isContextAwaited {
            ask(for: session)
        } else if session.isEstablished {
            established(session)
        }
    }

    private func ask(for session: TLSServerSession) {
        guard let context else { return }
        phase = .choosing(session)
        choose(session.hello).hop(to: context.eventLoop).assumeIsolated().whenComplete { [weak self] result in
            guard let self, case .choosing = self.phase else { return }
            self.phase = .handshaking(session)
            switch result {
            case .success(let chosen): session.use(chosen)
            case .failure(let error): return self.refuse(session, error)
            }
            self.proceed()
            if case .handshaking = self.phase { self.context?.read() }
        }
    }

    private func refuse(_ session: TLSServerSession, _ error: any Error) {
        session.refuse()
        var failure = TLSError(.unusable, "there is no certificate: \(error)")
        do throws(TLSError) {
            try session.handshake()
        } catch {
            failure.alertSent = error.alertSent
        }
        fail(failure)
    }

    private func established(_ session: TLSServerSession) {
        phase = .established(session)
        deadline?.cancel()
        deadline = nil
        let event = TLSEstablished(
            applicationProtocol: session.applicationProtocol, serverName: session.hello.serverName, isResumed: session.isResumed)
        context?.fireUserInboundEventTriggered(event)
        encrypt()
        context?.flush()
        if isReadWanted { deliver() }
    }

    // MARK: Reading

    package func read(context: ChannelHandlerContext) {
        isReadWanted = true
        guard case .established(let session) = phase else { return }
        if !isInRead, !isDelivering, ciphertext.readableBytes > 0 || session.hasIncoming {
            deliver()
            guard !hasDelivered else { return channelReadComplete(context: context) }
        }
        context.read()
    }

    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = unwrapInboundIn(data)
        isInRead = true
        switch phase {
        case .inactive, .ended: return
        case .handshaking, .choosing, .established:
            // Most often there is nothing before them.
            if ciphertext.readableBytes == 0 { ciphertext = bytes } else { ciphertext.writeBuffer(&bytes) }
        }
        proceed()
        if case .established = phase, isReadWanted || hasDelivered { deliver() }
    }

    package func channelReadComplete(context: ChannelHandlerContext) {
        isInRead = false
        switch phase {
        case .handshaking: return context.read()
        case .inactive, .choosing, .ended: return
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
        guard case .established(let session) = phase, !isDelivering, inputEnd == nil, let context else { return }
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
        // What was decrypted before a failure still counts.
        if plaintext.readableBytes > 0 {
            isReadWanted = false
            hasDelivered = true
            context.fireChannelRead(wrapInboundOut(plaintext))
        }
        if let failure { return fail(failure) }
        if session.isEnded { inputEnded(.closeNotify) }
    }

    package func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard case ChannelEvent.inputClosed = event else { return context.fireUserInboundEventTriggered(event) }
        switch phase {
        case .handshaking(let session), .choosing(let session): fail(closed(session))
        case .established:
            deliver()
            inputEnded(.connection)
        case .inactive, .ended: break
        }
    }

    private func inputEnded(_ end: TLSInputEnd) {
        guard inputEnd == nil, let context else { return }
        inputEnd = end
        ciphertext = ByteBuffer()
        if hasDelivered, !isInRead {
            hasDelivered = false
            context.fireChannelReadComplete()
        }
        context.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
    }

    // MARK: Writing

    package func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if case .ended = phase {
            promise?.fail(ChannelError.ioOnClosedChannel)
            return
        }
        guard sending.append(unwrapOutboundIn(data), promise) else { return }
        // Counted by the channel's `isWritable` as if it had been passed on at once.
        if sending.isLarge { encrypt() }
    }

    package func flush(context: ChannelHandlerContext) {
        sending.flush()
        encrypt()
        context.flush()
    }

    package func channelWritabilityChanged(context: ChannelHandlerContext) {
        encrypt()
        context.flush()
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

    /// Sends what TLS itself has to say.
    private func sendOutgoing() {
        guard let context else { return }
        switch phase {
        case .handshaking(let session), .choosing(let session), .established(let session):
            guard session.hasOutgoing else { return }
            var bytes = context.channel.allocator.buffer(capacity: 4 << 10)
            session.takeOutgoing(into: &bytes)
            context.writeAndFlush(wrapOutboundOut(bytes), promise: nil)
        case .inactive, .ended: return
        }
    }

    package func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        switch mode {
        case .input: context.close(mode: .input, promise: promise)
        case .output:
            guard case .established = phase else { return context.close(mode: .output, promise: promise) }
            sending.endOutput(promise)
            encrypt()
            context.flush()
        case .all:
            if case .established(let session) = phase {
                session.end()
                sendOutgoing()
            }
            end(ChannelError.ioOnClosedChannel)
            context.close(mode: .all, promise: promise)
        }
    }

    private func endOutput(_ session: TLSServerSession) {
        guard let context else { return }
        let promise = sending.takeOutputEnd()
        session.end()
        sendOutgoing()
        context.close(mode: .output, promise: promise)
    }
}
