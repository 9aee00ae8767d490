import LayoverCore
import LayoverEngine
import LayoverHTTP
import LayoverTLS
import Logging
import NIOCore
import NIOHTTP2

/// The connection of a client that speaks HTTP/2, and the streams on it. Confined to its event loop.
///
/// Each stream has a `ClientConnection` of its own behind a transcoder. The connection is read all the time; what a stream does not take is
/// bounded by its window.
final class HTTP2Session: ChannelInboundHandler {
    typealias InboundIn = HTTP2Frame

    private let loop: ProxyLoop
    private let verdict: CertificateVerdict
    private let end: HTTP2ConnectionEnd
    private var context: ChannelHandlerContext?

    private init(loop: ProxyLoop, verdict: CertificateVerdict, end: HTTP2ConnectionEnd) {
        (self.loop, self.verdict, self.end) = (loop, verdict, end)
    }

    /// Puts HTTP/2 at the end of a pipeline.
    ///
    /// - Parameter makeConnection: Makes the connection for a stream.
    static func begin(
        on channel: any Channel, loop: ProxyLoop, verdict: CertificateVerdict,
        makeConnection: @escaping (HTTP2StreamTranscoder) -> ClientConnection
    ) throws {
        let limits = HTTP2Limits(headByteCountMax: loop.rules.framing.headByteCountMax)
        let management = NIOHTTP2ServerConnectionManagementHandler(
            eventLoop: loop.eventLoop,
            configuration: .init(maxIdleTime: loop.timeouts.idle, maxAge: nil, maxGraceTime: nil, keepalive: nil))
        let accept = NIOLoopBound(verdict, eventLoop: loop.eventLoop)
        let bound = NIOLoopBound(loop, eventLoop: loop.eventLoop)
        let make = NIOLoopBound(makeConnection, eventLoop: loop.eventLoop)
        let end = HTTP2ConnectionEnd()
        let session = HTTP2Session(loop: loop, verdict: verdict, end: end)
        let events = HTTP2StreamEvents(
            session: NIOLoopBound(session, eventLoop: loop.eventLoop), management: management.http2StreamDelegate)
        let streams = NIOHTTP2Handler(
            mode: .server, eventLoop: loop.eventLoop, connectionConfiguration: limits.connection, streamConfiguration: limits.stream,
            streamDelegate: events
        ) { channel in
            channel.eventLoop.makeCompletedFuture {
                accept.value.accepted()
                let transcoder = HTTP2StreamTranscoder { reason in
                    bound.value.metrics.refusedRequestCount.increment()
                    bound.value.logger.info("a malformed request by HTTP/2 was refused", metadata: ["reason": "\(reason)"])
                }
                try channel.pipeline.syncOperations.addHandlers([transcoder, make.value(transcoder)])
            }
        }
        let pipeline = channel.pipeline.syncOperations
        try pipeline.addHandlers([HTTP2SettingsInForce(), end, streams, management, session])
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        loop.connections.opened(self)
        context.read()
    }

    /// Reads on: what streams do not take waits for them, within their windows.
    func channelReadComplete(context: ChannelHandlerContext) { context.read() }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        // Frames of the connection as a whole: whatever they ask for has been done.
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        // A client that sends nothing more can take no window updates back: it has left.
        if case ChannelEvent.inputClosed = event {
            verdict.rejected(nil)
            context.close(promise: nil)
        } else {
            context.fireUserInboundEventTriggered(event)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // One stream's, which has been reset (RFC 9113 section 5.4.2).
        if error is any NIOHTTP2Error, !end.isSaid { return }
        if let error = error as? TLSError { verdict.rejected(error) }
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        loop.connections.closed(self)
        loop.connectionLimit.closed()
        context.fireChannelInactive()
        self.context = nil
    }

    // MARK: Streams

    func streamOpened(_ id: HTTP2StreamID) { end.lastStream = max(end.lastStream, UInt32(Int(id))) }

    func streamClosed() {}

    // MARK: The end

    /// Takes no further streams (GOAWAY), and closes once those that are open have ended.
    func drain() { context?.channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent()) }

    func closeNow() { context?.close(promise: nil) }
}

/// What one connection by HTTP/2 may ask for. The defaults of the library are for servers whose streams end soon.
struct HTTP2Limits {
    /// Streams that may be open on a connection: each may be held for a long time. Default: 2048.
    static let streamCountMax = 2048
    /// Bytes of a body that may be on their way on a stream that does not take them. Default: 128 KiB.
    static let streamWindow = 128 << 10
    /// The same for the connection as a whole. Default: 8 MiB.
    static let connectionWindow = 8 << 20
    /// RST_STREAM frames, stream errors, PING, SETTINGS and PRIORITY frames, and other strange things within 30 s, each, after which the
    /// connection is closed. Clients reset what they wait for no more, many streams at once. Default: 10 000.
    static let oddityCountMax = 10_000
    /// Most bytes of a DATA or HEADERS frame (RFC 9113 section 4.2).
    private static let frameByteCountMax = 16 << 10

    let connection: NIOHTTP2Handler.ConnectionConfiguration
    let stream: NIOHTTP2Handler.StreamConfiguration

    /// - Parameter headByteCountMax: Of a request's head. Longer ones are answered by 431, up to four times as much.
    init(headByteCountMax: Int) {
        let listByteCountMax = 4 * headByteCountMax
        var connection = NIOHTTP2Handler.ConnectionConfiguration()
        connection.initialSettings = [
            .init(parameter: .maxConcurrentStreams, value: Self.streamCountMax),
            .init(parameter: .initialWindowSize, value: Self.streamWindow),
            .init(parameter: .maxHeaderListSize, value: listByteCountMax),
        ]
        // The transcoder checks them, and answers by stream.
        connection.headerBlockValidation = .disabled
        connection.contentLengthValidation = .disabled
        connection.maximumSequentialEmptyDataFrames = 100
        connection.maximumSequentialContinuationFrames = listByteCountMax / Self.frameByteCountMax + 2
        connection.maximumRecentlyResetStreams = Self.streamCountMax
        connection.maximumConnectionGlitches = Self.oddityCountMax
        connection.targetWindowSize = Self.connectionWindow
        connection.controlFrameRateLimit.maximumCount = Self.oddityCountMax
        self.connection = connection
        var stream = NIOHTTP2Handler.StreamConfiguration()
        stream.targetWindowSize = Self.streamWindow
        stream.outboundBufferSizeHighWatermark = 256 << 10
        stream.outboundBufferSizeLowWatermark = 64 << 10
        stream.streamResetFrameRateLimit.maximumCount = Self.oddityCountMax
        stream.streamErrorRateLimit.maximumCount = Self.oddityCountMax
        self.stream = stream
    }
}
