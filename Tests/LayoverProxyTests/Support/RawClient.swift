import LayoverTLS
import LayoverTestSupport
import NIOCore
import NIOPosix

/// A client that chooses every byte itself.
final class RawClient: Sendable {
    enum Ending: Sendable {
        case closed, reset
        /// TLS ended without a close_notify.
        case cut
    }

    struct Received: Sendable {
        var bytes: [UInt8] = []
        var totalCount = 0
        var ending: Ending?
    }

    let received: Watched<Received>
    private let channel: any Channel

    private init(channel: any Channel, received: Watched<Received>) {
        self.channel = channel
        self.received = received
    }

    /// - Parameter tls: The TLS handler. Default (nil): no TLS.
    static func connect(
        port: Int, readsByItself: Bool = true, receiveBuffer: CInt? = nil, tls: (@Sendable (any EventLoop) -> TLSChannelHandler)? = nil
    ) async throws -> RawClient {
        try await make(readsByItself, tls) { bootstrap in
            if let receiveBuffer { _ = bootstrap.channelOption(.socketOption(.so_rcvbuf), value: Int(receiveBuffer)) }
            return bootstrap.connect(host: "127.0.0.1", port: port)
        }
    }

    /// Takes over a connected descriptor.
    static func adopt(
        _ descriptor: CInt, readsByItself: Bool = true, tls: (@Sendable (any EventLoop) -> TLSChannelHandler)? = nil
    ) async throws -> RawClient {
        try await make(readsByItself, tls) { $0.withConnectedSocket(descriptor) }
    }

    private static func make(
        _ readsByItself: Bool, _ tls: (@Sendable (any EventLoop) -> TLSChannelHandler)?,
        _ connect: (ClientBootstrap) -> EventLoopFuture<any Channel>
    ) async throws -> RawClient {
        let received = Watched(Received())
        let bootstrap = ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelOption(.allowRemoteHalfClosure, value: true)
            .channelOption(.autoRead, value: readsByItself)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    if let tls { try channel.pipeline.syncOperations.addHandler(tls(channel.eventLoop)) }
                    try channel.pipeline.syncOperations.addHandler(Receiving(into: received))
                }
            }
        return RawClient(channel: try await connect(bootstrap).get(), received: received)
    }

    // MARK: Sending

    func send(_ text: String) async throws { try await send(text.latin1) }

    func send(_ bytes: [UInt8]) async throws {
        try await channel.writeAndFlush(ByteBuffer(bytes: bytes)).get()
    }

    /// Writes without waiting until the proxy takes it.
    func sendWithoutWaiting(_ bytes: [UInt8]) { channel.writeAndFlush(ByteBuffer(bytes: bytes), promise: nil) }

    /// FIN: nothing more will be sent, but answers are still read.
    func closeOutput() async throws { try await channel.close(mode: .output).get() }

    func close() { channel.close(promise: nil) }

    /// FIN, without a close_notify of TLS.
    func cutOutput() async throws {
        channel.triggerUserOutboundEvent(TLSOutputCut(), promise: nil)
        try await closeOutput()
    }

    /// RST.
    func reset() async throws {
        let channel = self.channel
        channel.triggerUserOutboundEvent(TLSOutputCut(), promise: nil)
        try await channel.eventLoop.flatSubmit {
            (channel as? any SocketOptionProvider)?.setSoLinger(linger(l_onoff: 1, l_linger: 0))
                ?? channel.eventLoop.makeSucceededVoidFuture()
        }.get()
        channel.close(promise: nil)
    }

    /// From now on takes whatever comes.
    func startReading() async throws { try await channel.setOption(.autoRead, value: true).get() }

    /// Takes one portion of what there is.
    func readOnce() { channel.read() }

    func stopReading() async throws { try await channel.setOption(.autoRead, value: false).get() }

    // MARK: Receiving

    /// - Parameter count: Bytes that must have come at least. Saves reading a large response again and again.
    func answer(_ what: String = "an answer", toHead: Bool = false, after count: Int = 0) async throws -> Answer {
        try await received.take(what) {
            guard $0.totalCount >= count || $0.ending != nil else { return nil }
            return Answer(takingFrom: &$0.bytes, toHead: toHead, isEnded: $0.ending != nil)
        }
    }

    /// The next bytes, exactly as many.
    func bytes(_ count: Int) async throws -> [UInt8] {
        try await received.take("\(count) bytes") { received in
            guard received.bytes.count >= count else { return nil }
            defer { received.bytes.removeFirst(count) }
            return Array(received.bytes.prefix(count))
        }
    }

    func text(_ count: Int) async throws -> String { Answer.text(try await bytes(count)[...]) }

    /// How the connection ended, and what came before and was not taken.
    func ending() async throws -> (Ending, rest: String) {
        try await received.take("the end of the connection") { received in
            received.ending.map { ($0, Answer.text(received.bytes[...])) }
        }
    }
}

private final class Receiving: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let received: Watched<RawClient.Received>

    init(into received: Watched<RawClient.Received>) { self.received = received }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let bytes = unwrapInboundIn(data).withUnsafeReadableBytes { Array($0) }
        received.update {
            $0.bytes += bytes
            $0.totalCount += bytes.count
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event as? TLSInputEnd == .connection { end(.cut) }
        if case ChannelEvent.inputClosed = event { end(.closed) }
    }

    func channelInactive(context: ChannelHandlerContext) { end(.closed) }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        end(.reset)
        context.close(promise: nil)
    }

    private func end(_ ending: RawClient.Ending) {
        received.update { $0.ending = $0.ending ?? ending }
    }
}
