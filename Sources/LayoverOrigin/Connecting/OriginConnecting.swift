package import LayoverCore
package import LayoverEngine
package import LayoverTLS
package import NIOCore

/// Makes the connection to an origin ready on a dialled socket, step by step.
///
/// A dial brings a bare connection: to the origin, or to a parent proxy that speaks HTTP. The steps are what is left to do on it before
/// the first byte for the origin may leave. Without any, the connection is ready as it is. Each failure here is `neverSent`. It is the
/// last handler of the channel until the connection is ready. Confined to its loop.
package final class OriginConnecting: ChannelInboundHandler, RemovableChannelHandler {
    package typealias InboundIn = ByteBuffer

    package enum Outcome {
        /// The connection is ready. `rest`: bytes of the origin that have come already. This handler leaves the pipeline behind the call.
        case ready(any Channel, rest: ByteBuffer)
        case failed(Failure)
    }

    private enum Step {
        case secureParentProxy(ParentProxy)
        /// `ParentProxyConnect` asks for a connection to the origin.
        case connect(ParentProxy)
        case secureOrigin
    }

    /// Gets the outcome. Nil once it was called.
    private var ended: ((OriginConnecting, Outcome) -> Void)?
    private let request: UpstreamRequest
    private let eventLoop: any EventLoop
    private let tls: TLSClientContext?
    private let sessions: TLSSessionCache
    private let readyBy: NIODeadline
    private var channel: (any Channel)?
    private var remoteAddress: String?
    /// The steps to come.
    private var steps: [Step]
    /// The step under way.
    private var step: Step?
    /// Not nil while the parent proxy is asked.
    private var asking: ParentProxyConnect?
    /// Bytes that came behind the response of the parent proxy.
    private var input = ByteBuffer()

    /// - Parameters:
    ///   - request: What the connection is for: a dial or an upgrade.
    ///   - tls: Settings of TLS with the origin and the parent proxy. Nil: a step that needs TLS fails.
    ///   - readyBy: When the connection must be ready.
    ///   - ended: Called once.
    package init(
        for request: UpstreamRequest, on eventLoop: any EventLoop, tls: TLSClientContext?, sessions: TLSSessionCache, readyBy: NIODeadline,
        ended: @escaping (OriginConnecting, Outcome) -> Void
    ) {
        self.request = request
        self.eventLoop = eventLoop
        self.tls = tls
        self.sessions = sessions
        self.readyBy = readyBy
        self.ended = ended
        steps = Self.steps(for: request)
    }

    /// Whether a connection that was dialled for a request is not ready as it is.
    static func isNeeded(for request: UpstreamRequest) -> Bool { !steps(for: request).isEmpty }

    private static func steps(for request: UpstreamRequest) -> [Step] {
        var steps: [Step] = []
        if let parentProxy = request.parentProxy, request.parentProxyUse == .reach {
            if parentProxy.isSecure { steps.append(.secureParentProxy(parentProxy)) }
            steps.append(.connect(parentProxy))
        }
        if request.purpose == .upgrade, request.origin.scheme == .https { steps.append(.secureOrigin) }
        return steps
    }

    package func begin(on socket: DialledSocket) {
        remoteAddress = socket.remoteAddress
        socket.openChannel(on: eventLoop, handler: self) { result in
            switch result {
            case .success(let channel):
                guard self.ended != nil else { return channel.close(promise: nil) }
                self.channel = channel
                self.proceed()
            case .failure(let error): self.fail(.lostBeforeSending(error, remoteAddress: socket.remoteAddress))
            }
        }
    }

    /// Closes the connection. There is no outcome.
    func abandon() { end() }

    /// Closes the connection. The outcome is a failure, which is told once the call has returned.
    package func cancel() {
        guard let ended else { return }
        end()
        let bound = NIOLoopBound((self, ended), eventLoop: eventLoop)
        eventLoop.execute { bound.value.1(bound.value.0, .failed(.abortedByProxy)) }
    }

    // MARK: The steps

    private func proceed() {
        guard let ended, let channel else { return }
        guard !steps.isEmpty else {
            self.ended = nil
            ended(self, .ready(channel, rest: input))
            return channel.pipeline.syncOperations.removeHandler(self, promise: nil)
        }
        let next = steps.removeFirst()
        step = next
        switch next {
        case .secureParentProxy(let parentProxy): secure(parentProxy.gate, channel)
        case .connect(let parentProxy): connect(through: parentProxy, channel)
        case .secureOrigin: secure(request.origin, channel)
        }
    }

    private func secure(_ peer: Origin, _ channel: any Channel) {
        guard let tls else { return notSecured(TLSError(.unusable, "there are no settings for it")) }
        let handler = TLSClientHandler(
            tls, host: peer.host, port: peer.port, cache: sessions, first: input, handshakeTimeMax: max(.zero, readyBy - eventLoop.now))
        input = ByteBuffer()
        do {
            try channel.pipeline.syncOperations.addHandler(handler, position: .before(self))
        } catch {
            lost()
        }
    }

    private func connect(through parentProxy: ParentProxy, _ channel: any Channel) {
        let asking = ParentProxyConnect(
            to: request.origin, through: parentProxy, fields: request.fields, remoteAddress: remoteAddress, readyBy: readyBy
        ) { outcome in self.answered(outcome) }
        self.asking = asking
        do {
            try channel.pipeline.syncOperations.addHandler(asking, position: .before(self))
        } catch {
            lost()
        }
    }

    private func answered(_ outcome: ParentProxyConnect.Outcome) {
        asking = nil
        switch outcome {
        case .open(_, let rest):
            input = rest
            proceed()
        case .failed(let failure): fail(failure)
        case .lost(let error): if let error = error as? TLSError { notSecured(error) } else { lost() }
        }
    }

    // MARK: Channel events

    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        // Until this handler has left the pipeline, the receiver of the connection stands behind it.
        guard ended != nil else { return context.fireChannelRead(data) }
        var bytes = unwrapInboundIn(data)
        input.writeBuffer(&bytes)
    }

    package func channelReadComplete(context: ChannelHandlerContext) {
        if ended == nil { context.fireChannelReadComplete() }
    }

    package func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard ended != nil else { return context.fireUserInboundEventTriggered(event) }
        if event is TLSEstablished {
            proceed()
        } else if case ChannelEvent.inputClosed = event {
            lost()
        }
    }

    package func channelInactive(context: ChannelHandlerContext) {
        lost()
        context.fireChannelInactive()
    }

    package func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard ended != nil else { return context.fireErrorCaught(error) }
        if let error = error as? TLSError { notSecured(error) } else { lost() }
        context.close(promise: nil)
    }

    // MARK: The end

    private func notSecured(_ error: TLSError) {
        var failure = failure
        failure.isLastingRefusal = error.isLastingRefusal
        switch step {
        case .secureParentProxy?, .connect?:
            // By TLS 1.3 an alert may come after the handshake, for instance because the proxy misses a certificate of ours.
            failure.phase = .securing
            (failure.kind, failure.message) = error.handshakeFailure(with: "parent proxy")
            failure = failure.ofParentProxy
        case .secureOrigin?, nil:
            (failure.kind, failure.message) = error.handshakeFailure()
        }
        fail(failure)
    }

    private func lost() {
        switch step {
        case .secureParentProxy?, .secureOrigin?: notSecured(.closedInHandshake)
        case .connect?: fail(failure.closedByParentProxy)
        case nil: fail(failure)
        }
    }

    /// The failure at the step that is under way: nothing was sent.
    private var failure: Failure {
        let isSecuring =
            switch step {
            case .secureParentProxy?, .secureOrigin?: true
            case .connect?, nil: false
            }
        var failure = Failure.lostBeforeSending(nil, remoteAddress: remoteAddress)
        if isSecuring { failure.phase = .securing }
        return failure
    }

    private func fail(_ failure: Failure) {
        guard let ended else { return }
        end()
        ended(self, .failed(failure))
    }

    /// Tells nothing more, and lets go of the connection.
    private func end() {
        // First: a connection that is closed says so at once.
        ended = nil
        asking?.cancel()
        asking = nil
        channel?.close(promise: nil)
        channel = nil
    }
}

extension AttemptTimeouts {
    /// When the connection of an attempt that begins now must be ready: name, TCP, TLS with a parent proxy, CONNECT and TLS with the origin
    /// included.
    package func readyBy(from now: NIODeadline) -> NIODeadline { now + TimeAmount(connect) }
}
