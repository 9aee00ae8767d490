import LayoverEngine
import LayoverTLS
import NIOCore
package import NIOPosix
import Synchronization

/// The listener of the proxy port: accepts connections and gives each to one of the loops.
package struct ProxyServer: Sendable {
    /// Where to listen.
    package enum Address: Sendable {
        /// Port 0 asks for a free one.
        case tcp(host: String, port: Int)
        /// `mode`: permissions of the socket file; nil leaves the umask's.
        case unix(path: String, mode: UInt16?)
        /// A socket that is bound and listens already; it is closed with the listener.
        case descriptor(CInt, isTCP: Bool)
    }

    /// Connections that may wait to be accepted. The kernel lowers it to `net.core.somaxconn`.
    private static let backlog = 4096
    /// Bytes that may wait for a client before the upstream is slowed down.
    static let waterMark = ChannelOptions.Types.WriteBufferWaterMark(
        low: 64 << 10, high: 256 << 10)

    package let loops: [ProxyLoop]
    private let group: MultiThreadedEventLoopGroup
    private let channel: any Channel

    /// The port that the proxy listens on; nil: it listens on a Unix socket.
    package var localPort: Int? { channel.localAddress?.port }

    /// Binds the listener, so that the port is ours. Connections wait in the kernel until `accept` is called.
    package static func bind(
        to address: Address, group: MultiThreadedEventLoopGroup, loops: [ProxyLoop]
    ) async throws -> ProxyServer {
        let byLoop = Dictionary(
            uniqueKeysWithValues: loops.map { (ObjectIdentifier($0.eventLoop), $0) })
        let bootstrap = ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: CInt(backlog))
            .serverChannelOption(.autoRead, value: false)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.autoRead, value: false)
            .childChannelOption(.allowRemoteHalfClosure, value: true)
            .childChannelOption(.writeBufferWaterMark, value: waterMark)
            .childChannelOption(.maxMessagesPerRead, value: 4)
            .childChannelOption(
                .recvAllocator,
                value: AdaptiveRecvByteBufferAllocator(minimum: 1024, initial: 2048, maximum: 256 << 10)
            )
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    guard let loop = byLoop[ObjectIdentifier(channel.eventLoop)] else { return }
                    let pipeline = channel.pipeline.syncOperations
                    if let identity = loop.identity {
                        let eventLoop = loop.eventLoop
                        let tls = TLSServerHandler(turns: loop.handshakeTurns) { _ in eventLoop.makeSucceededFuture(identity) }
                        try pipeline.addHandler(tls)
                    }
                    try pipeline.addHandler(ClientConnection(loop: loop, isSecure: loop.identity != nil))
                }
            }
        let channel: any Channel
        let ofTCP = {
            bootstrap.childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
                .childChannelOption(.socketOption(.so_keepalive), value: 1)
        }
        switch address {
        case .tcp(let host, let port): channel = try await ofTCP().bind(host: host, port: port).get()
        case .descriptor(let socket, let isTCP):
            channel = try await (isTCP ? ofTCP() : bootstrap).withBoundSocket(socket).get()
        case .unix(let path, let mode):
            channel = try await bindUnix(bootstrap, path: path, mode: mode)
        }
        let address = OwnAddress(channel.localAddress)
        for loop in loops { try await loop.listens(at: address).get() }
        return ProxyServer(loops: loops, group: group, channel: channel)
    }

    /// Takes connections from now on, those that came since `bind` first. Once all that a request needs is there: the workers
    /// of the loops, the tickets of an earlier run, and the addresses of our own that must not be reached.
    package func accept() async throws { try await channel.setOption(.autoRead, value: true).get() }

    /// Connections of clients on all loops.
    package var openConnectionCount: Int { loops.reduce(0) { $0 + $1.metrics.openConnectionCount.current } }

    /// Stops accepting, lets exchanges under way finish, and closes what is left when the time is over.
    ///
    /// When it returns, the engine has been told what every attempt came to.
    package func drain(within limit: Duration) async {
        try? await channel.close()
        await wait(for: loops.map { $0.drain() }, within: limit)
        let told = loops.map { $0.cutOff() }
        for future in told { try? await future.get() }
        var workers: [any UpstreamWorker] = []
        for loop in loops { workers += (try? await loop.shutDown().get()) ?? [] }
        let ended = NIOThreadPool.singleton.runIfActive(eventLoop: group.any()) { [workers] in
            for worker in workers { worker.waitUntilEnded() }
        }
        await wait(for: [ended], within: Self.lastWordsMax)
        await wait(for: loops.map { $0.drain() }, within: Self.lastWordsMax)
    }

    /// Longest wait for the ends of attempts that were cut off, and then for the loops to become idle. Default: 5 s each.
    private static let lastWordsMax: Duration = .seconds(5)

    private func wait(for futures: [EventLoopFuture<Void>], within limit: Duration) async {
        let eventLoop = group.any()
        let isOver = eventLoop.makePromise(of: Void.self)
        EventLoopFuture.andAllComplete(futures, on: eventLoop).cascade(to: isOver)
        let alarm = eventLoop.scheduleTask(in: TimeAmount(limit)) { isOver.succeed() }
        try? await isOver.futureResult.get()
        alarm.cancel()
    }
}

/// Counts client connections of all loops: those by HTTP/1.1, tunnels, and each stream of HTTP/2. Touched once when one opens and once when
/// it closes.
package final class ConnectionLimit: Sendable {
    package let countMax: Int
    private let count = Atomic<Int>(0)

    package init(countMax: Int) { self.countMax = countMax }

    /// Those that are open. One that is refused counts until it is closed.
    package var openCount: Int { count.load(ordering: .relaxed) }

    func opened() -> Bool { count.add(1, ordering: .relaxed).newValue <= countMax }

    func closed() { count.subtract(1, ordering: .relaxed) }
}

/// Counts the bytes of responses that wait for clients that speak HTTP/2, on all loops, against `limits.unsentTotal`.
///
/// Touched when a part of a response is written and when the kernel has taken it; never for clients that speak HTTP/1.1, whose connection
/// holds one response at a time.
package final class UnsentTotal: Sendable {
    package let byteCountMax: Int
    private let waiting = Atomic<Int>(0)

    package init(byteCountMax: Int = 256 << 20) { self.byteCountMax = byteCountMax }

    func add(_ count: Int) { waiting.add(count, ordering: .relaxed) }

    package var byteCount: Int { waiting.load(ordering: .relaxed) }

    /// Bytes that may wait in addition; negative where more wait than allowed.
    var rest: Int { byteCountMax - byteCount }
}
