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
///
/// Its deadlines are those of a connection by HTTP/1.1, looked at by the loop's tick: `timeouts.clientIdle` while no stream is open,
/// `timeouts.requestHead` from the first byte of a head to its last, `timeouts.clientStall` for responses that the client does not take.
/// After GOAWAY it is closed once no stream has been open for `endingMax`, whether the client has acknowledged or not.
final class HTTP2Session: ChannelInboundHandler {
    typealias InboundIn = HTTP2Frame
    typealias OutboundOut = HTTP2Frame

    /// How long a connection without streams stays open after GOAWAY: the client may have sent a request before it came. Default: 5 s.
    private static let endingMax: TimeAmount = .seconds(5)

    /// The connection's place among all connections of its loop, from 1. The loop sets it.
    var number = 0
    private let loop: ProxyLoop
    private let verdict: CertificateVerdict
    private let end = HTTP2ConnectionEnd()
    private let owed: HTTP2OwedFrame
    private let unsent: HTTP2UnsentBytes
    private var context: ChannelHandlerContext?
    private var openStreamCount = 0
    /// When the connection has been idle for too long, or after GOAWAY is closed. Nil: a stream is open.
    private var deadline: NIODeadline?
    /// Whether GOAWAY was sent.
    private var isEnding = false

    private init(loop: ProxyLoop, verdict: CertificateVerdict) {
        (self.loop, self.verdict) = (loop, verdict)
        owed = HTTP2OwedFrame { [unowned loop] in loop.coarseNow }
        unsent = HTTP2UnsentBytes(total: loop.unsentTotal, eventLoop: loop.eventLoop) { [unowned loop] in loop.coarseNow }
        deadline = loop.coarseNow + loop.timeouts.idle
    }

    /// Puts HTTP/2 at the end of a pipeline.
    ///
    /// - Parameter makeConnection: Makes the connection for a stream.
    static func begin(
        on channel: any Channel, loop: ProxyLoop, verdict: CertificateVerdict,
        makeConnection: @escaping (HTTP2StreamTranscoder) -> ClientConnection
    ) throws {
        let limits = HTTP2Limits(headByteCountMax: loop.configuration.framing.headByteCountMax)
        let management = NIOHTTP2ServerConnectionManagementHandler(
            eventLoop: loop.eventLoop,
            // The session has deadlines of its own. Timers of this handler would begin with an event that is past.
            configuration: .init(maxIdleTime: nil, maxAge: nil, maxGraceTime: nil, keepalive: nil))
        let accept = NIOLoopBound(verdict, eventLoop: loop.eventLoop)
        let bound = NIOLoopBound(loop, eventLoop: loop.eventLoop)
        let make = NIOLoopBound(makeConnection, eventLoop: loop.eventLoop)
        let session = HTTP2Session(loop: loop, verdict: verdict)
        let unsent = NIOLoopBound(session.unsent, eventLoop: loop.eventLoop)
        let boundSession = NIOLoopBound(session, eventLoop: loop.eventLoop)
        let events = HTTP2StreamEvents(
            session: boundSession, management: management.http2StreamDelegate)
        let streams = NIOHTTP2Handler(
            mode: .server, eventLoop: loop.eventLoop, connectionConfiguration: limits.connection, streamConfiguration: limits.stream,
            streamDelegate: events
        ) { channel in
            channel.eventLoop.makeCompletedFuture {
                accept.value.accepted()
                let transcoder = HTTP2StreamTranscoder(
                    headByteCountMax: bound.value.configuration.framing.headByteCountMax, sessionNumber: boundSession.value.number,
                    unsent: unsent.value,
                    unsendable: { field in
                        bound.value.logger.warning(
                            "a response could not be sent by HTTP/2: the value of a field is not UTF-8. By HTTP/1.1 it can.",
                            metadata: ["field": "\(field)"])
                    }
                ) { reason in
                    bound.value.metrics.refusedRequestCount.increment()
                    bound.value.logger.info("a malformed request by HTTP/2 was refused", metadata: ["reason": "\(reason)"])
                }
                try channel.pipeline.syncOperations.addHandlers([transcoder, make.value(transcoder)])
            }
        }
        let pipeline = channel.pipeline.syncOperations
        try pipeline.addHandlers([session.owed, HTTP2SettingsInForce(), session.end, streams, management, session])
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
        loop.closed(self)
        loop.connectionLimit.closed()
        context.fireChannelInactive()
        self.context = nil
    }

    // MARK: Streams

    func streamOpened(_ id: HTTP2StreamID) {
        end.lastStream = max(end.lastStream, UInt32(Int(id)))
        openStreamCount += 1
        deadline = nil
    }

    func streamClosed() {
        openStreamCount -= 1
        if openStreamCount == 0 { deadline = loop.coarseNow + (isEnding ? Self.endingMax : loop.timeouts.idle) }
    }

    // MARK: Time

    /// Once a second.
    func tick(now: NIODeadline) {
        unsent.goOn()
        if let since = owed.since, since + loop.timeouts.requestHead <= now { return owesTooLong() }
        guard let deadline, deadline <= now else { return }
        // Bytes of a response that still wait for the client are no idleness.
        if unsent.byteCount > 0, unsent.takenAt + loop.timeouts.stall > now {
            self.deadline = loop.coarseNow + Self.endingMax
        } else if isEnding {
            closeNow()
        } else {
            drain()
        }
    }

    private func owesTooLong() {
        loop.logger.info(
            "a connection by HTTP/2 was closed", metadata: ["reason": "the rest of a frame took longer than timeouts.requestHead"])
        let goaway = HTTP2Frame.FramePayload.goAway(
            lastStreamID: HTTP2StreamID(Int(end.lastStream)), errorCode: .enhanceYourCalm, opaqueData: nil)
        context?.writeAndFlush(wrapOutboundOut(HTTP2Frame(streamID: .rootStream, payload: goaway)), promise: nil)
        closeNow()
    }

    // MARK: The end

    /// Takes no further streams (GOAWAY), and closes once those that are open have ended.
    func drain() {
        guard !isEnding else { return }
        isEnding = true
        if openStreamCount == 0 { deadline = loop.coarseNow + Self.endingMax }
        context?.channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
    }

    func closeNow() { context?.close(promise: nil) }
}

/// Limits on what a client may ask of one connection by HTTP/2. The defaults of the library are for servers whose streams end soon.
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
        // Stream errors of the whole life of a connection. Those within 30 s are counted below.
        connection.maximumConnectionGlitches = .max
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

/// Reports the streams of a connection to its session and to the handler that announces the end of the connection.
struct HTTP2StreamEvents: NIOHTTP2StreamDelegate {
    let session: NIOLoopBound<HTTP2Session>
    let management: NIOHTTP2ServerConnectionManagementHandler.HTTP2StreamDelegate

    func streamCreated(_ id: HTTP2StreamID, channel: any Channel) {
        session.value.streamOpened(id)
        management.streamCreated(id, channel: channel)
    }

    func streamClosed(_ id: HTTP2StreamID, channel: any Channel) {
        session.value.streamClosed()
        management.streamClosed(id, channel: channel)
    }
}
