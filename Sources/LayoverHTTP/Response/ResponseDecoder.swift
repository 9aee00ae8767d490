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
        /// So many bytes of the body are missing. Left at 0, with `end`.
        case length(Int)
        /// Left by the end of the connection.
        case untilClose
        /// Left by the last chunk and its trailers.
        case chunks
        /// Only `reset` leaves it.
        case complete
        /// Only `reset` leaves it.
        case failed(FramingError)
    }

    private let limits: FramingLimits
    private var state = State.complete
    private var assembler: ResponseHeadAssembler
    private var lines = LineCursor()
    private var chunks: ResponseBodyDecoder

    package init(limits: FramingLimits = .init()) {
        self.limits = limits
        assembler = ResponseHeadAssembler(limits: limits)
        chunks = ResponseBodyDecoder(.chunked, limits: limits)
    }

    /// Prepares for the response to the next request.
    ///
    /// - Parameters:
    ///   - isHeadRequest: Whether the request's method is HEAD: no body follows.
    ///   - allowsUpgrade: Whether a 101 may come; otherwise nobody asked for it: an error.
    package mutating func reset(isHeadRequest: Bool, allowsUpgrade: Bool = false) {
        state = .head
        lines.reset()
        assembler.reset(isHeadRequest: isHeadRequest, allowsUpgrade: allowsUpgrade)
    }

    /// Whether the final head is still to come.
    package var isInHead: Bool { if case .head = state { true } else { false } }

    /// Whether all of the response was decoded.
    package var isComplete: Bool { if case .complete = state { true } else { false } }

    /// Whether the end of the connection is that of the response.
    package var endsWithConnection: Bool { if case .untilClose = state { true } else { false } }

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
            if !head.isInterim { begin(head.framing) }
            return .head(head)
        case .length(0):
            return complete()
        case .length(let missing):
            guard let bytes = takeBody(&input, atMost: missing) else { return nil }
            state = .length(missing - bytes.readableBytes)
            return .body(bytes)
        case .untilClose:
            return takeBody(&input, atMost: .max).map { .body($0) }
        case .chunks:
            switch try chunks.next(&input) {
            case .body(let bytes): return .body(bytes)
            case .end(let trailers): return complete(trailers)
            case nil: return nil
            }
        case .complete:
            return nil
        case .failed(let error):
            throw error
        }
    }

    private mutating func begin(_ framing: ResponseFraming) {
        switch framing {
        case .none: state = .length(0)
        case .length(let byteCount): state = .length(byteCount)
        case .untilClose: state = .untilClose
        case .chunked:
            state = .chunks
            chunks = ResponseBodyDecoder(.chunked, limits: limits)
        }
    }

    private mutating func complete(_ trailers: ByteBuffer? = nil) -> Event {
        state = .complete
        return .end(trailers: trailers)
    }

    /// Hands over what is there of the body, without copying it.
    private func takeBody(_ input: inout ByteBuffer, atMost missing: Int) -> ByteBuffer? {
        let byteCount = min(missing, input.readableBytes, limits.bodyEventByteCountMax)
        return byteCount > 0 ? input.readSlice(length: byteCount) : nil
    }

    /// Reads the lines that are there, each once. Nil: more bytes are needed.
    private mutating func takeHead(_ input: inout ByteBuffer) throws(FramingError) -> ResponseHead? {
        let head = try input.withReadableBytes { bytes throws(FramingError) -> ResponseHead? in
            var lineStart = lines.lineStart
            let endMax = lineStart + assembler.byteCountLeft
            while try lines.nextLine(in: bytes, endMax: endMax, tooLong: .headTooLarge) != nil {
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
