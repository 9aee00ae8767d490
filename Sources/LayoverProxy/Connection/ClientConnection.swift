import LayoverCore
import LayoverEngine
import LayoverHTTP
import LayoverTLS
import NIOCore

/// One client's connection: reads requests, one at a time, and writes their responses in order.
///
/// What the client pipelines waits in `input` until the response before is complete. Confined to its
/// event loop.
final class ClientConnection: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    enum Phase {
        /// Reading a head, or waiting for one.
        case idle
        /// An exchange is under way.
        case exchanging
        /// The last response is written; what still comes in is thrown away until the client closes too,
        /// so that our closing does not destroy the response on its way (RFC 9112 section 9.6).
        case lingering
        /// Becoming a tunnel: bytes that come in are the tunnel's.
        case handingOver
        case closed
    }

    /// Bytes that a client may send ahead of its turn before we stop reading. A head stays in the
    /// input until it is complete, so it must fit. Default: 64 KiB.
    private var inputByteCountMax: Int { max(64 << 10, loop.configuration.framing.headByteCountMax) }
    /// How long a connection lingers while the client sends nothing. Default: 5 s.
    static let lingerSilenceMax: TimeAmount = .seconds(5)
    /// How long a connection lingers at most, once the client has taken its response. Default: 30 s.
    static let lingerMax: TimeAmount = .seconds(30)

    let loop: ProxyLoop
    /// The connection's place among all connections of its loop, from 1. The loop sets it.
    var number = 0
    /// Number of the connection that its client has: of the whole connection where this is a stream.
    var clientNumber: Int { stream?.sessionNumber ?? number }
    var phase = Phase.idle
    var decoder: RequestDecoder
    var input = ByteBuffer()
    var exchange: (any ConnectionTask)?
    var addressCache = RequestAddressCache()
    var context: ChannelHandlerContext?
    /// Small writes gathered until the next flush.
    var outgoing = ByteBuffer()
    var isInFlushList = false
    /// Not nil once the client has closed its sending side.
    var halfClosed: HalfClosedClient?
    /// Whether the client has closed its sending side.
    var isInputClosed: Bool { halfClosed != nil }
    /// When the client is to have done something; nil while it is our turn.
    var deadline: NIODeadline?
    // Flags are behind optional times, where they take no room: a held client costs little memory.
    /// Whether a read is under way.
    private var isReading = false
    /// Whether the exchange wants no more body bytes for now.
    var isBodyPaused = false
    /// Until when the client may go on sending while the connection lingers.
    var lingerEndsAt = NIODeadline.uptimeNanoseconds(0)
    /// All bytes that were written on the connection.
    var writtenByteCount = 0
    /// Bytes that waited for the client at the last tick.
    var untakenByteCount = 0
    /// Bytes that the kernel had taken at the last tick.
    var takenByteCount = 0
    /// When the client is to have taken some of them; nil while none wait.
    var stallDeadline: NIODeadline?
    /// Whether `process` is at work.
    var isProcessing = false
    /// Whether the time of the head that is being read is running.
    var isHeadTimed = false
    private(set) var isLoopback = false
    private var isCounted = false
    /// Whether the connection is a stream over `limits.connections`, whose request is refused.
    private(set) var isOverLimit = false
    /// The record of the exchange under way for the access log; nil: the exchange is not logged.
    var access: AccessRecord?
    private(set) var clientAddress = "unknown"
    /// Facts about the client's connection to an origin that is intercepted and ends here. Nil: the client takes us for a proxy.
    var intercepted: InterceptedConnection?
    /// The transcoder of a stream of HTTP/2; nil: this connection is no stream.
    var stream: HTTP2StreamTranscoder? { intercepted?.stream }
    /// Whether the handshake with the client of an intercepted connection, or of a listener with TLS, is complete.
    private var isSecured = false
    /// A CONNECT that is intercepted, until the first bytes of the client are there.
    var peek: InterceptionPeek?

    /// Whether the client is this process, which needs no user.
    let isOwn: Bool
    /// Whether the client speaks TLS to the proxy.
    let isSecure: Bool
    /// The user whose CONNECT opened the tunnel or the intercepted connection. Nil: no user did.
    var user: UserCount?

    init(loop: ProxyLoop, intercepted: InterceptedConnection? = nil, isOwn: Bool = false, isSecure: Bool = false) {
        self.loop = loop
        self.intercepted = intercepted
        self.isOwn = isOwn
        self.isSecure = isSecure
        user = intercepted?.user
        decoder = RequestDecoder(limits: loop.configuration.framing, isHTTP2: intercepted?.stream != nil)
    }

    /// The loop goes by another configuration from now on. What was cleared for the address before is looked at anew.
    func adoptedConfiguration() {
        addressCache = RequestAddressCache()
        exchange?.reroute()
    }

    // MARK: Channel events

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        if context.channel.isActive { becameActive() }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
    }

    func channelActive(context: ChannelHandlerContext) {
        becameActive()
    }

    private func becameActive() {
        guard let context, !isCounted else { return }
        isCounted = true
        loop.connections.opened(self)
        readClientAddress(context.channel.remoteAddress)
        // One inside an intercepted CONNECT has been counted as the connection around it.
        if intercepted == nil || stream != nil, !loop.connectionLimit.opened() {
            // The client of a stream would not understand a response that comes before its request.
            guard stream != nil else { return refuseConnection() }
            isOverLimit = true
        }
        if loop.isDraining { return closeNow() }
        deadline = loop.coarseNow + loop.timeouts.idle
        readMore()
    }

    func channelInactive(context: ChannelHandlerContext) {
        guard phase != .closed else { return }
        phase = .closed
        endPeek()
        finishAccess(.clientGone)
        // Before `loop.closed`, which ends a drain if nothing is left to wait for: the exchange may go on without its client.
        exchange?.clientLeft()
        exchange = nil
        loop.closed(self)
        loop.connectionLimit.closed()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = unwrapInboundIn(data)
        if phase == .lingering {
            if !isInputClosed { deadline = min(loop.coarseNow + Self.lingerSilenceMax, lingerEndsAt) }
            return
        }
        if input.readableBytes == 0 {
            input = bytes
        } else {
            input.writeBuffer(&bytes)
        }
        if peek != nil { return firstBytesCame() }
        if phase != .handingOver { process() }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        isReading = false
        if input.readableBytes == 0 { input = ByteBuffer() }
        readMore()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case ChannelEvent.inputClosed = event {
            // A client that accepts the certificate sends a request before it closes. Without one, the client may have rejected it.
            if isSecured { intercepted?.verdict.rejected(nil) }
            inputClosed()
        } else if let established = event as? TLSEstablished {
            isSecured = true
            secured(established)
        } else if let refusal = event as? HTTP2Refusal {
            refuse(refusal.error, sendsBody: !refusal.isHead)
        } else {
            context.fireUserInboundEventTriggered(event)
        }
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if isWritable { exchange?.clientTookBytes() }
    }

    /// A reset by the client, for the most part. NIO closes the channel by itself.
    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if let error = error as? TLSError { intercepted?.verdict.rejected(error) }
        context.close(promise: nil)
    }

    /// Whether the client speaks HTTP/1.1 over TLS that ends here: a response that only the end of TLS delimits ends for it as at the
    /// origin.
    var mirrorsEnd: Bool { intercepted != nil && stream == nil }

    /// Asks for more bytes, unless the client is far enough ahead.
    func readMore() {
        guard !isReading, !isBodyPaused, !isInputClosed, phase != .closed,
            input.readableBytes < inputByteCountMax
        else { return }
        isReading = true
        context?.read()
    }

    /// Whether bytes that the client sends stay with the kernel, its FIN included.
    var isNotRead: Bool {
        phase == .exchanging && !isInputClosed && (isBodyPaused || input.readableBytes >= inputByteCountMax)
    }

    /// The client's own socket. A stream has none.
    var peerSocket: PeerSocket.State { stream == nil ? loop.askForPeerSocket(self) : .unknown }

    /// The URL of Layover without a path, for this client: the public URL, or the host by which the client reached Layover.
    /// Empty: the host is unknown.
    func ownBase(for head: RequestHead) -> String {
        if let base = loop.configuration.publicBase { return base }
        if intercepted == nil, case .origin = head.target, let range = head.hostRange { return "\(scheme)://" + head.fields.string(range) }
        return reachedAt.map { "\(scheme)://\($0.authority)" } ?? ""
    }

    /// The scheme of Layover's own URLs for this client.
    private var scheme: String { isSecure ? "https" : "http" }

    /// Where the client reached us.
    var reachedAt: OwnAddress? { OwnAddress(context?.channel.localAddress) ?? (isOwn ? loop.listensAt : nil) }

    private func readClientAddress(_ address: SocketAddress?) {
        clientAddress = isOwn ? "layover" : address?.ipAddress ?? "unix"
        switch address {
        case .v4: isLoopback = clientAddress.hasPrefix("127.")
        case .v6: isLoopback = clientAddress == "::1" || clientAddress.hasPrefix("::ffff:127.")
        case .unixDomainSocket, nil: isLoopback = true
        }
    }
}

extension ChannelHandlerContext {
    /// Closes once all that was written before has left for the kernel. NIO's own `close` throws it away;
    /// closing the output only waits for it, but not if the other side closes meanwhile.
    func closeWhenWritten(_ mode: CloseMode = .all) {
        writeAndFlush(NIOAny(ByteBuffer())).assumeIsolated().whenComplete { _ in
            self.close(mode: mode, promise: nil)
        }
    }
}
