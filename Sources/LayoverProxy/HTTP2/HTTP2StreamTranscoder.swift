import LayoverHTTP
import LayoverTLS
import NIOCore
import NIOHPACK
import NIOHTTP2

/// Makes a stream of HTTP/2 look like a connection of HTTP/1.1 that carries one request: everything that is done for requests is done in
/// one place. Confined to its event loop.
///
/// The end of the stream is the end of the request, and not of the client: only RST_STREAM, or the end of the connection, says that it has
/// left.
final class HTTP2StreamTranscoder: ChannelDuplexHandler {
    typealias InboundIn = HTTP2Frame.FramePayload
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = HTTP2Frame.FramePayload

    private enum Request {
        case head
        /// The bytes that are to come. Nil: the body is chunked.
        case body(bytesLeft: Int?)
        case ended
        /// The request is malformed, and the stream is reset.
        case failed
    }

    private var request = Request.head
    /// The last bytes of a request with `content-length`, until END_STREAM proves that there are no more: until then it may turn out to be
    /// malformed, and must not be complete (RFC 9113 section 8.1.1).
    private var heldBack: ByteBuffer?
    /// The head of a request that expects a 100, until it is known whether its body came with it: as it is, and for a body that is there.
    private var heldHead: (expecting: ByteBuffer, withBody: ByteBuffer)?
    private let malformed: (_ reason: String) -> Void
    private let unsendable: (_ field: String) -> Void
    private let headByteCountMax: Int
    /// `HTTP2Session.number` of the connection that the stream is on.
    let sessionNumber: Int
    private let unsent: HTTP2UnsentBytes?
    /// Whether the response waits for room. The account of its session sets it.
    var isWaitingForRoom = false
    /// Bytes of the response, in HTTP/1.1, that are not decoded yet.
    private var output = ByteBuffer()
    private var decoder: ResponseDecoder
    private var isResponseEnded = false
    /// Whether RST_STREAM was sent.
    private var isReset = false
    /// Not written yet, because the end of the stream may come with it.
    private var pendingHead: HPACKHeaders?
    private var pendingData: ByteBuffer?
    /// Bytes of bodies that the client's windows, or the kernel, have no room for yet.
    private(set) var unsentByteCount = 0
    /// Told once nothing is unsent.
    private var waiting: [EventLoopPromise<Void>] = []
    /// The reset that is sent once nothing is unsent.
    private var plannedReset: HTTP2ErrorCode?
    /// Whether the exchange has failed although its response may be complete.
    private var isCut = false
    private var context: ChannelHandlerContext?

    /// - Parameters:
    ///   - headByteCountMax: Of a request: `limits.headerBytes`.
    ///   - sessionNumber: `HTTP2Session.number` of its connection.
    ///   - unsent: The account of the stream's session. Nil: there is no account.
    ///   - unsendable: Told which field of a response cannot be sent, and why the stream is reset.
    ///   - malformed: Told why the stream is reset.
    init(
        headByteCountMax: Int = 64 << 10, sessionNumber: Int = 0, unsent: HTTP2UnsentBytes? = nil,
        unsendable: @escaping (_ field: String) -> Void = { _ in },
        malformed: @escaping (_ reason: String) -> Void = { _ in }
    ) {
        (self.headByteCountMax, self.sessionNumber, self.unsent) = (headByteCountMax, sessionNumber, unsent)
        (self.unsendable, self.malformed) = (unsendable, malformed)
        decoder = ResponseDecoder(limits: .ofKnownHead)
    }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
        unsent?.forget(self)
        for promise in waiting { promise.fail(ChannelError.ioOnClosedChannel) }
        waiting = []
    }

    // MARK: The request

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        do throws(HTTP2RequestHead.Malformed) {
            switch unwrapInboundIn(data) {
            case .headers(let headers): try receive(headers.headers, endsStream: headers.endStream, context)
            case .data(let data): try receive(data, context)
            default: break
            }
        } catch {
            let isFirst = if case .head = request { true } else { false }
            request = .failed
            heldBack = nil
            heldHead = nil
            guard isFirst, let answer = error.answer else {
                malformed(error.reason)
                return reset(.protocolError)
            }
            decoder.reset(isHeadRequest: error.isHead)
            context.fireUserInboundEventTriggered(HTTP2Refusal(error: answer, isHead: error.isHead))
        }
    }

    private func receive(_ fields: HPACKHeaders, endsStream: Bool, _ context: ChannelHandlerContext) throws(HTTP2RequestHead.Malformed) {
        switch request {
        case .head:
            let head = try HTTP2RequestHead(fields, endsStream: endsStream, byteCountMax: headByteCountMax)
            decoder.reset(isHeadRequest: head.isHead)
            request =
                switch head.body {
                case .none: endsStream ? .ended : .body(bytesLeft: 0)
                case .length(let count): .body(bytesLeft: count)
                case .chunked: .body(bytesLeft: nil)
                }
            guard head.expectsContinue, !endsStream, head.body != .length(0) else { return pass(head.bytes, context) }
            heldHead = (head.bytes, try HTTP2RequestHead(fields, endsStream: endsStream, keepsExpect: false).bytes)
        case .body(let bytesLeft):
            guard endsStream else { throw .init("trailers do not end the stream") }
            passHeldHead(isBodyThere: true, context)
            try end(bytesLeft, trailers: fields, context)
        case .ended, .failed: break
        }
    }

    /// All frames have been passed on that came together.
    func channelReadComplete(context: ChannelHandlerContext) {
        passHeldHead(isBodyThere: false, context)
        context.fireChannelReadComplete()
    }

    /// Where the body is there, its client waits for nothing, and the origin need not be waited for.
    private func passHeldHead(isBodyThere: Bool, _ context: ChannelHandlerContext) {
        guard let head = heldHead else { return }
        heldHead = nil
        context.fireChannelRead(wrapInboundOut(isBodyThere ? head.withBody : head.expecting))
    }

    private func receive(_ data: HTTP2Frame.FramePayload.Data, _ context: ChannelHandlerContext) throws(HTTP2RequestHead.Malformed) {
        guard case .body(let bytesLeft) = request, case .byteBuffer(let bytes) = data.data else { return }
        if bytes.readableBytes > 0 || data.endStream { passHeldHead(isBodyThere: true, context) }
        if bytes.readableBytes > 0 {
            if let bytesLeft {
                guard bytes.readableBytes <= bytesLeft else { throw .init("the body is longer than content-length") }
                request = .body(bytesLeft: bytesLeft - bytes.readableBytes)
                pass(bytes, context)
            } else {
                var chunk = ByteBuffer()
                chunk.reserveCapacity(bytes.readableBytes + 16)
                chunk.writeString(String(bytes.readableBytes, radix: 16) + "\r\n")
                chunk.writeImmutableBuffer(bytes)
                chunk.writeStaticString("\r\n")
                context.fireChannelRead(wrapInboundOut(chunk))
            }
        }
        if data.endStream, case .body(let left) = request { try end(left, trailers: nil, context) }
    }

    private func end(
        _ bytesLeft: Int?, trailers: HPACKHeaders?, _ context: ChannelHandlerContext
    ) throws(HTTP2RequestHead.Malformed) {
        guard let bytesLeft else {
            var end = ByteBuffer(string: "0\r\n")
            for (name, value, _) in trailers ?? [:] {
                guard !name.hasPrefix(":") else { throw .init("a pseudo-header field is in the trailers") }
                try HTTP2Fields.check(name, value)
                end.writeString("\(name): \(value)\r\n")
            }
            end.writeStaticString("\r\n")
            request = .ended
            return context.fireChannelRead(wrapInboundOut(end))
        }
        // Trailers have no place behind a body of a known length (RFC 9110 section 6.5.1 allows to discard them).
        guard bytesLeft == 0 else { throw .init("the body is shorter than content-length") }
        request = .ended
        if let heldBack { context.fireChannelRead(wrapInboundOut(heldBack)) }
        heldBack = nil
    }

    /// Passes bytes on, unless they may be the last ones.
    private func pass(_ bytes: ByteBuffer, _ context: ChannelHandlerContext) {
        if case .body(bytesLeft: 0) = request { heldBack = bytes } else { context.fireChannelRead(wrapInboundOut(bytes)) }
    }

    // MARK: The response

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard !isReset else {
            promise?.fail(ChannelError.ioOnClosedChannel)
            return
        }
        var bytes = unwrapOutboundIn(data)
        if output.readableBytes == 0 { output = bytes } else { output.writeBuffer(&bytes) }
        do throws(FramingError) {
            while !isReset, let event = try decoder.next(&output) {
                switch event {
                case .head(let head): write(head)
                case .body(let bytes):
                    sendPending()
                    pendingData = bytes
                case .end(let trailers): end(trailers: trailers)
                }
            }
        } catch {
            // Layover writes only well-formed responses, so this is not expected. The client must not take the response for complete.
            reset(.internalError)
        }
        if let promise { waiting.append(promise) }
    }

    func flush(context: ChannelHandlerContext) {
        sendPending()
        context.flush()
        nothingMayBeUnsent()
    }

    private func write(_ head: ResponseHead) {
        sendPending()
        var fields = HPACKHeaders([(":status", String(head.status))])
        let block = head.fields()
        var length: Int?
        if case .length(let count) = head.framing { length = count }
        let isASCII = HTTP2Fields.isASCII(head)
        for range in block.ranges {
            if let count = length, let place = head.framingPlace, range.name.lowerBound >= place {
                fields.add(name: "content-length", value: String(count))
                length = nil
            }
            let name = block.string(range.name).lowercased()
            guard !HTTP2Fields.ofConnections.contains(name) else { continue }
            let value = block.string(range.value)
            // An origin's final response gets a 502 before it comes here; this is for all others.
            guard isASCII || HTTP2Fields.isUnchanged(value, from: block.slice(range.value).readableBytesView) else {
                unsendable(name)
                return reset(.internalError)
            }
            fields.add(name: name, value: value)
        }
        if let length { fields.add(name: "content-length", value: String(length)) }
        pendingHead = fields
        if head.isInterim { sendPending() }
    }

    private func end(trailers: ByteBuffer?) {
        isResponseEnded = true
        guard var lines = trailers, lines.readableBytes > 0 else { return sendPending(endsStream: true) }
        sendPending()
        var fields = HPACKHeaders()
        let bytes = lines.readableBytesView
        let text = lines.readString(length: lines.readableBytes) ?? ""
        guard HTTP2Fields.isUnchanged(text, from: bytes) else {
            unsendable("trailers")
            return reset(.internalError)
        }
        for line in text.split(separator: "\r\n") {
            guard let colon = line.firstIndex(of: ":") else { continue }
            let value = line[line.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
            fields.add(name: line[..<colon].lowercased(), value: String(value))
        }
        context?.write(wrapOutboundOut(.headers(.init(headers: fields, endStream: true))), promise: nil)
    }

    /// Hands on what waited for the end of the stream to come with it.
    private func sendPending(endsStream: Bool = false) {
        if let head = pendingHead {
            pendingHead = nil
            let isAll = endsStream && pendingData == nil
            context?.write(wrapOutboundOut(.headers(.init(headers: head, endStream: isAll))), promise: nil)
            if isAll { return }
        }
        guard let data = pendingData ?? (endsStream ? ByteBuffer() : nil) else { return }
        pendingData = nil
        send(data, endsStream: endsStream)
    }

    private func send(_ bytes: ByteBuffer, endsStream: Bool) {
        guard let context else { return }
        let count = bytes.readableBytes
        unsentByteCount += count
        unsent?.added(count)
        let promise = context.eventLoop.makePromise(of: Void.self)
        promise.futureResult.assumeIsolated().whenComplete { _ in
            self.unsentByteCount -= count
            self.unsent?.taken(count)
            self.nothingMayBeUnsent()
        }
        context.write(wrapOutboundOut(.data(.init(data: .byteBuffer(bytes), endStream: endsStream))), promise: promise)
    }

    private func nothingMayBeUnsent() {
        guard unsentByteCount == 0, pendingHead == nil, pendingData == nil else { return }
        let told = waiting
        waiting = []
        for promise in told { promise.succeed() }
        if let code = plannedReset { reset(code) }
    }

    /// Whether the session has room for more of the response. If not, the writability of the channel is told to change once it has.
    var hasRoom: Bool { unsent?.hasRoom(for: self) ?? true }

    func roomIsBack() { context?.fireChannelWritabilityChanged() }

    // MARK: The end

    func triggerUserOutboundEvent(context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?) {
        if event is TLSOutputCut { isCut = true }
        context.triggerUserOutboundEvent(event, promise: promise)
    }

    /// A response that is complete ends the stream by itself, once its client has sent all. Otherwise the stream is reset, by a code
    /// that tells the two apart (RFC 9113 section 8.1).
    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        if mode == .output, !isResponseEnded, decoder.endsWithConnection { end(trailers: nil) }
        flush(context: context)
        defer { promise?.succeed() }
        if isCut { return reset(.internalError) }
        if isResponseEnded {
            if case .ended = request, mode == .output { return }
            let isAllSent = unsentByteCount == 0 && pendingHead == nil && pendingData == nil
            guard isAllSent || mode != .output else {
                plannedReset = .noError
                return
            }
            // NO_ERROR would have the client take the part that it has for the whole.
            return reset(isAllSent ? .noError : .internalError)
        }
        switch request {
        case .failed: break
        // The request was not processed, so the client may send it again (section 8.7).
        case .head: reset(.refusedStream)
        case .body, .ended: reset(.internalError)
        }
    }

    private func reset(_ code: HTTP2ErrorCode) {
        plannedReset = nil
        isReset = true
        context?.writeAndFlush(wrapOutboundOut(.rstStream(code)), promise: nil)
    }
}
