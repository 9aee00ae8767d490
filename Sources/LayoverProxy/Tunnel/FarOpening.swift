import LayoverCore
import LayoverEngine
import LayoverTLS
import NIOCore

/// Makes of a dialled socket the connection that a tunnel or an upgrade goes over.
///
/// A dial brings a bare connection: to the origin, or to a parent proxy that speaks HTTP. The steps are what is left to do on it before
/// the first byte for the origin may leave. Without any, the connection stands as it is. Each failure here is `neverSent`, and the
/// exchange gets it as that of the attempt. It is the last handler of the channel until the connection stands. Confined to its loop.
final class FarOpening: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer

    private enum Step {
        case secureParentProxy(ParentProxy)
        /// `ParentProxyConnect` asks for a connection to the origin.
        case connect(ParentProxy)
        case secureOrigin
    }

    /// Nil once it has come to an end.
    private var exchange: Exchange?
    private let attempt: UpstreamAttempt
    private let loop: ProxyLoop
    private let readyBy: NIODeadline
    private let stands: (any Channel, ByteBuffer) -> Void
    private var channel: (any Channel)?
    private var remoteAddress: String?
    /// Those to come.
    private var steps: [Step]
    /// The one under way.
    private var step: Step?
    /// Not nil while the parent proxy is asked.
    private var asking: ParentProxyConnect?
    /// Bytes that came behind the response of the parent proxy.
    private var input = ByteBuffer()

    /// - Parameter stands: Gets the connection and the bytes that came on it already.
    init(of exchange: Exchange, _ attempt: UpstreamAttempt, loop: ProxyLoop, stands: @escaping (any Channel, ByteBuffer) -> Void) {
        self.exchange = exchange
        self.attempt = attempt
        self.loop = loop
        self.stands = stands
        readyBy = exchange.run.readyBy
        steps = Self.steps(for: attempt.request)
    }

    private static func steps(for request: UpstreamRequest) -> [Step] {
        var steps: [Step] = []
        if let parentProxy = request.parentProxy, request.parentProxyUse == .reach {
            if parentProxy.isSecure { steps.append(.secureParentProxy(parentProxy)) }
            steps.append(.connect(parentProxy))
        }
        if request.purpose == .upgrade, request.origin.scheme == .https { steps.append(.secureOrigin) }
        return steps
    }

    func begin(on socket: DialledSocket) {
        remoteAddress = socket.remoteAddress
        socket.openChannel(on: loop.eventLoop, handler: self) { result in
            switch result {
            case .success(let channel):
                guard self.exchange != nil else { return channel.close(promise: nil) }
                self.channel = channel
                self.proceed()
            case .failure: self.lost()
            }
        }
    }

    /// The exchange does not want the connection any more. It is told once the call has returned.
    func cancel() {
        guard let exchange else { return }
        let attempt = self.attempt
        end()
        let bound = NIOLoopBound(exchange, eventLoop: loop.eventLoop)
        loop.eventLoop.execute { bound.value.receive(.failed(.abortedByProxy), of: attempt) }
    }

    // MARK: The steps

    private func proceed() {
        guard let exchange, let channel else { return }
        guard !steps.isEmpty else {
            self.exchange = nil
            exchange.run.opening = nil
            stands(channel, input)
            return channel.pipeline.syncOperations.removeHandler(self, promise: nil)
        }
        let next = steps.removeFirst()
        step = next
        switch next {
        case .secureParentProxy(let parentProxy): secure(parentProxy.gate, channel)
        case .connect(let parentProxy): connect(through: parentProxy, channel)
        case .secureOrigin: secure(attempt.request.origin, channel)
        }
    }

    private func secure(_ peer: Origin, _ channel: any Channel) {
        guard let settings = loop.clientTLS else { return notSecured(TLSError(.unusable, "there are no settings for it")) }
        let tls = TLSClientHandler(
            settings, host: peer.host, port: peer.port, cache: loop.tlsSessions, first: input,
            handshakeTimeMax: max(.zero, readyBy - loop.eventLoop.now))
        input = ByteBuffer()
        do {
            try channel.pipeline.syncOperations.addHandler(tls, position: .before(self))
        } catch {
            lost()
        }
    }

    private func connect(through parentProxy: ParentProxy, _ channel: any Channel) {
        let asking = ParentProxyConnect(
            to: attempt.request.origin, through: parentProxy, remoteAddress: remoteAddress, readyBy: readyBy
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

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        // Until this handler has left the pipeline, the receiver of the connection stands behind it.
        guard exchange != nil else { return context.fireChannelRead(data) }
        var bytes = unwrapInboundIn(data)
        input.writeBuffer(&bytes)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        if exchange == nil { context.fireChannelReadComplete() }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard exchange != nil else { return context.fireUserInboundEventTriggered(event) }
        if event is TLSEstablished {
            proceed()
        } else if case ChannelEvent.inputClosed = event {
            lost()
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        lost()
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard exchange != nil else { return context.fireErrorCaught(error) }
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
        var failure = Failure(
            phase: .connecting, kind: .connectionTerminated, evidence: .neverSent,
            message: "The connection was closed as soon as it was open.", remoteAddress: remoteAddress)
        switch step {
        case .secureParentProxy?, .secureOrigin?: failure.phase = .securing
        case .connect?, nil: break
        }
        return failure
    }

    private func fail(_ failure: Failure) {
        guard let exchange else { return }
        end()
        exchange.receive(.failed(failure), of: attempt)
        exchange.client?.connection?.flushNow()
    }

    /// Tells nothing more, and lets go of the connection.
    private func end() {
        asking?.cancel()
        asking = nil
        if exchange?.run.opening === self { exchange?.run.opening = nil }
        exchange = nil
        channel?.close(promise: nil)
        channel = nil
    }
}
