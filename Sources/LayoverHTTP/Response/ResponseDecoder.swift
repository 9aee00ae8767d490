package import NIOCore

/// Decodes the responses of one upstream connection from its bytes as they arrive, and finds where each ends.
///
/// Each response yields the heads of its interim responses and its own, any number of `body`, then `end`. What the events say
/// does not depend on how the bytes were cut into reads, except where one body event ends and the next begins. Nothing is
/// read past the end of a response before `reset`: what stands there belongs to nobody (RFC 9112 section 6.3). Nothing is read past an
/// error either: `next` throws the same again until `reset`. Every error has status 502.
///
/// The bytes of a line that is not complete stay in `input`, so a caller must keep what `next` leaves there and append what
/// arrives.
///
/// - SeeAlso: RFC 9112.
package struct ResponseDecoder: Sendable {
    package enum Event: Sendable {
        /// An interim head, or the final one.
        case head(ResponseHead)
        /// Never empty.
        case body(ByteBuffer)
        /// `trailers`: field lines, each with its CRLF; nil when there are none.
        case end(trailers: ByteBuffer?)
    }

    private enum State: Sendable {
        /// Left by the final head.
        case head
        /// Left by the end of the body: to `complete`.
        case body
        /// Only `reset` leaves it.
        case complete
        /// Only `reset` leaves it.
        case failed(FramingError)
    }

    private let limits: FramingLimits
    private var state = State.complete
    private var assembler: ResponseHeadAssembler
    private var lines = LineCursor()
    private var body: ResponseBodyDecoder

    package init(limits: FramingLimits = .init()) {
        self.limits = limits
        assembler = ResponseHeadAssembler(limits: limits)
        body = ResponseBodyDecoder(.none, limits: limits)
    }

    /// Prepares for the response to the next request.
    ///
    /// - Parameters:
    ///   - isHeadRequest: Whether the request's method is HEAD: no body follows.
    ///   - isConnect: Whether the request's method is CONNECT: no body follows a success (RFC 9110 section 9.3.6).
    ///   - allowsUpgrade: Whether a 101 may come; otherwise nobody asked for it: an error.
    package mutating func reset(isHeadRequest: Bool, isConnect: Bool = false, allowsUpgrade: Bool = false) {
        state = .head
        lines.reset()
        assembler.reset(isHeadRequest: isHeadRequest, isConnect: isConnect, allowsUpgrade: allowsUpgrade)
    }

    /// Whether the final head is still to come.
    package var isInHead: Bool { if case .head = state { true } else { false } }

    /// Whether all of the response was decoded.
    package var isComplete: Bool { if case .complete = state { true } else { false } }

    /// Whether the response ends when the connection ends.
    package var endsWithConnection: Bool { if case .body = state { body.endsWithConnection } else { false } }

    /// Takes as much of `input` as one event needs. Nil: more bytes are needed, or the response is complete.
    package mutating func next(_ input: inout ByteBuffer) throws(FramingError) -> Event? {
        do throws(FramingError) {
            return try step(&input)
        } catch {
            let failure = FramingError(status: 502, reason: error.reason)
            state = .failed(failure)
            throw failure
        }
    }

    private mutating func step(_ input: inout ByteBuffer) throws(FramingError) -> Event? {
        switch state {
        case .head:
            guard let head = try takeHead(&input) else { return nil }
            if !head.isInterim {
                body = ResponseBodyDecoder(head.framing, limits: limits)
                state = .body
            }
            return .head(head)
        case .body:
            switch try body.next(&input) {
            case .body(let bytes): return .body(bytes)
            case .end(let trailers):
                state = .complete
                return .end(trailers: trailers)
            case nil: return nil
            }
        case .complete:
            return nil
        case .failed(let error):
            throw error
        }
    }

    /// Refuses bytes that cannot become a status line, such as those of another protocol: the end of a line may never come.
    private static func checkBeginning(_ bytes: UnsafeRawBufferPointer) throws(FramingError) {
        let name: StaticString = "HTTP/"
        if (0..<min(bytes.count, name.utf8CodeUnitCount)).allSatisfy({ bytes[$0] == name.utf8Start[$0] }) { return }
        switch bytes[0] {
        // Every HTTP/2 connection of a server begins with a SETTINGS frame of stream 0 (RFC 9113 sections 3.4, 4.1 and 6.5).
        case 0:
            let type = bytes.dropFirst(3).prefix(6)
            guard type.elementsEqual([4, 0, 0, 0, 0, 0].prefix(type.count)) else { throw .isNoHTTP }
            if bytes.count >= 9 { throw .isHTTP2 }
        // An alert of TLS (RFC 8446 section 5.1).
        case 0x15 where bytes.count == 1: return
        case 0x15 where bytes[1] == 3: throw .isTLS
        default: throw .isNoHTTP
        }
    }

    /// The refusal of bytes in the place of a status line, where another reader has found that they begin none.
    package static func refusal(ofBeginning bytes: UnsafeRawBufferPointer) -> FramingError {
        do throws(FramingError) {
            if !bytes.isEmpty { try checkBeginning(bytes) }
        } catch {
            return error
        }
        return .isNoHTTP
    }

    /// Reads the lines that are there, each once. Nil: more bytes are needed.
    private mutating func takeHead(_ input: inout ByteBuffer) throws(FramingError) -> ResponseHead? {
        let head = try input.withReadableBytes { bytes throws(FramingError) -> ResponseHead? in
            var lineStart = lines.lineStart
            if lineStart == 0, assembler.isAtStatusLine, !bytes.isEmpty { try Self.checkBeginning(bytes) }
            let endMax = lineStart + assembler.byteCountLeft
            while try lines.nextLineFeed(in: bytes, endMax: endMax, tooLong: .headTooLarge) != nil {
                let line = UnsafeRawBufferPointer(rebasing: bytes[lineStart..<lines.lineStart])
                lineStart = lines.lineStart
                if let head = try assembler.take(line: line) { return head }
            }
            return nil
        }
        input.moveReaderIndex(forwardBy: lines.lineStart)
        lines.skipReadLines()
        return head
    }
}
