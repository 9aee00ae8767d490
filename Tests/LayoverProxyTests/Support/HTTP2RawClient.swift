import LayoverCore
import LayoverTestSupport
import NIOCore
import NIOHPACK
import NIOPosix
import Testing

@testable import LayoverProxy

/// A client that sends HTTP/2 frame by frame, and the session of the proxy that it is connected to, without TLS between them.
final class HTTP2RawClient {
    struct Frame: Equatable {
        var kind: UInt8
        var flags: UInt8
        var stream: UInt32
        var payload: [UInt8]

        /// The number that begins at a byte of the payload.
        func number(at index: Int) -> UInt32 { payload[index..<(index + 4)].reduce(0) { $0 << 8 | UInt32($1) } }
    }

    enum Kind {
        static let data: UInt8 = 0
        static let headers: UInt8 = 1
        static let reset: UInt8 = 3
        static let settings: UInt8 = 4
        static let ping: UInt8 = 6
        static let goaway: UInt8 = 7
        static let windowUpdate: UInt8 = 8
    }

    static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)

    private let raw: RawClient
    private let listener: any Channel
    private var encoder = HPACKEncoder(allocator: ByteBufferAllocator())
    private var decoder = HPACKDecoder(allocator: ByteBufferAllocator())
    /// Frames that came while another one was waited for.
    private var others: [Frame] = []

    private init(raw: RawClient, listener: any Channel) { (self.raw, self.listener) = (raw, listener) }

    /// - Parameter settings: The numbers and values of the client's SETTINGS. Nil: neither the preface nor SETTINGS
    ///   are sent.
    static func connect(to proxy: TestProxy, settings: [(UInt16, UInt32)]? = []) async throws -> HTTP2RawClient {
        let loop = proxy.loop
        let listener = try await ServerBootstrap(group: loop.eventLoop)
            .childChannelOption(.autoRead, value: false)
            .childChannelOption(.allowRemoteHalfClosure, value: true)
            .childChannelOption(.writeBufferWaterMark, value: ProxyServer.waterMark)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(SessionStart(loop)) }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let client = HTTP2RawClient(raw: try await RawClient.connect(port: listener.localAddress?.port ?? 0), listener: listener)
        if let settings {
            let payload = settings.flatMap { id, value in Self.bytes(of: id) + Self.bytes(of: value) }
            try await client.send(Self.preface + Self.frame(Kind.settings, payload: payload))
        }
        return client
    }

    func close() async throws {
        raw.close()
        try await listener.close()
    }

    // MARK: Sending

    static func bytes<Number: FixedWidthInteger>(of number: Number) -> [UInt8] { withUnsafeBytes(of: number.bigEndian) { Array($0) } }

    static func frame(_ kind: UInt8, flags: UInt8 = 0, stream: UInt32 = 0, payload: [UInt8] = []) -> [UInt8] {
        bytes(of: UInt32(payload.count)).dropFirst() + [kind, flags] + bytes(of: stream) + payload
    }

    func send(_ bytes: [UInt8]) async throws { try await raw.send(bytes) }

    /// - Parameter endsStream: True if no body follows.
    func head(
        _ stream: UInt32, _ method: String = "GET", _ path: String = "/", _ more: [(String, String)] = [], endsStream: Bool = true
    ) throws -> [UInt8] {
        let fields = HPACKHeaders([(":method", method), (":scheme", "https"), (":authority", "o.test"), (":path", path)] + more)
        var block = ByteBuffer()
        try encoder.encode(headers: fields, to: &block)
        return Self.frame(Kind.headers, flags: endsStream ? 5 : 4, stream: stream, payload: Array(block.readableBytesView))
    }

    func request(
        _ stream: UInt32, _ method: String = "GET", _ path: String = "/", _ more: [(String, String)] = [], endsStream: Bool = true
    ) async throws {
        try await send(head(stream, method, path, more, endsStream: endsStream))
    }

    func data(_ stream: UInt32, _ text: String, endsStream: Bool = true) async throws {
        try await send(Self.frame(Kind.data, flags: endsStream ? 1 : 0, stream: stream, payload: Array(text.utf8)))
    }

    // MARK: Receiving

    private func next() async throws -> Frame {
        let head = try await raw.bytes(9)
        let count = Int(head[0]) << 16 | Int(head[1]) << 8 | Int(head[2])
        let stream = head[5...].reduce(0) { $0 << 8 | UInt32($1) }
        return Frame(kind: head[3], flags: head[4], stream: stream, payload: count == 0 ? [] : try await raw.bytes(count))
    }

    /// The next frame of a kind, whatever comes before it.
    func frame(_ kind: UInt8, of stream: UInt32? = nil) async throws -> Frame {
        let isWanted = { (frame: Frame) in frame.kind == kind && (stream ?? frame.stream) == frame.stream }
        if let index = others.firstIndex(where: isWanted) { return others.remove(at: index) }
        while true {
            let frame = try await next()
            if isWanted(frame) { return frame }
            others.append(frame)
        }
    }

    /// The fields of the response on a stream. Responses are to be asked for in the order in which they come: that is the order of their
    /// header blocks.
    func responseFields(_ stream: UInt32) async throws -> HPACKHeaders {
        var block = ByteBuffer(bytes: try await frame(Kind.headers, of: stream).payload)
        return try decoder.decodeHeaders(from: &block)
    }

    /// The body of the response on a stream, to its end.
    func body(_ stream: UInt32) async throws -> String {
        var bytes: [UInt8] = []
        while true {
            let frame = try await frame(Kind.data, of: stream)
            bytes += frame.payload
            if frame.flags & 1 != 0 { return String(decoding: bytes, as: UTF8.self) }
        }
    }

    /// How the connection ended, and what came before.
    func ending() async throws -> RawClient.Ending { try await raw.ending().0 }
}

/// Runs a proxy for one test, and a client that is connected to it by HTTP/2.
func withHTTP2Client(
    connectionCountMax: Int = 10_000, settings: [(UInt16, UInt32)]? = [], _ test: (TestProxy, HTTP2RawClient) async throws -> Void
) async throws {
    try await withProxy(connectionCountMax: connectionCountMax) { proxy in
        let client = try await HTTP2RawClient.connect(to: proxy, settings: settings)
        try await test(proxy, client)
        try await client.close()
    }
}

/// Begins the session on the open connection, as the connection in an intercepted CONNECT does.
private final class SessionStart: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let loop: ProxyLoop

    init(_ loop: ProxyLoop) { self.loop = loop }

    func channelActive(context: ChannelHandlerContext) {
        _ = loop.connectionLimit.opened()
        let verdict = CertificateVerdict(of: "o.test", client: "127.0.0.1", loop: loop)
        let origin = Origin(scheme: .https, host: "o.test", port: 443)
        do {
            try HTTP2Session.begin(on: context.channel, loop: loop, verdict: verdict) { [loop] transcoder in
                var inside = InterceptedConnection(origin: origin, user: nil, verdict: verdict)
                inside.stream = transcoder
                return ClientConnection(loop: loop, intercepted: inside)
            }
        } catch {
            context.close(promise: nil)
        }
    }
}
