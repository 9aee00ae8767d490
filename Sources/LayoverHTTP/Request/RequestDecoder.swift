package import NIOCore

/// Decodes the requests of one connection from its bytes as they arrive.
///
/// Every request yields `head`, any number of `body`, then `end`. What the events say does not
/// depend on how the bytes were cut into reads, except where one body event ends and the next
/// begins. Nothing is read past an error: once `next` threw, it throws the same again for ever.
/// Nothing is read past a request whose `keepAlive` is false either: `next` returns nil then.
///
/// The bytes of a head, a chunk-size line or a trailer section stay in `input` until it is
/// complete, so a caller must keep what `next` leaves there and append what arrives.
///
/// - SeeAlso: RFC 9112.
package struct RequestDecoder: Sendable {
    package enum Event: Sendable {
        case head(RequestHead)
        /// Some bytes of the body, a slice of the input. Never empty.
        case body(ByteBuffer)
        /// The request is complete. Trailers only if there were any that may be forwarded.
        case end(trailers: FieldBlock?)
    }

    enum State: Sendable {
        /// Nothing of the next message was seen. Left by its first byte.
        case betweenMessages
        /// Left when the empty line was found.
        case head
        /// So many bytes of the body are missing. Left at 0, with `end`.
        case fixedBody(Int)
        /// Left at the end of the line: to `chunkData`, or to `trailers` after the last chunk.
        case chunkSize
        /// So many bytes of the chunk are missing. Left at 0.
        case chunkData(Int)
        /// The CRLF behind the data. Left to `chunkSize`.
        case chunkEnd
        /// Left when the empty line was found, with `end`.
        case trailers
        /// The last request is complete, or somebody else reads on. Never left.
        case stopped
        /// Never left.
        case failed(FramingError)
    }

    let limits: FramingLimits
    let isHTTP2: Bool
    var state = State.betweenMessages
    /// One empty line before a request is forgiven (RFC 9112 section 2.2).
    var hasSkippedEmptyLine = false
    var lines = LineCursor()
    var requestLine: RequestLine?
    var fieldScan = FieldBlockScan()
    /// Whether the connection ends with this request.
    var isLast = false
    /// Whether the decoder reads the body of a response. Some forms are accepted in a response that are refused in a request.
    var isResponse = false
    /// Bytes of chunk extensions of this message.
    var chunkExtensionByteCount = 0

    /// - Parameter isHTTP2: Whether the requests came by HTTP/2, and were written as ones of HTTP/1.1.
    package init(limits: FramingLimits = .init(), isHTTP2: Bool = false) {
        self.limits = limits
        self.isHTTP2 = isHTTP2
    }

    /// Whether the connection is idle as far as we can tell: all requests so far are complete, and
    /// nothing of another was seen.
    package var isBetweenMessages: Bool {
        if case .betweenMessages = state { true } else { false }
    }

    /// Whether some bytes of a head, but not all, were seen.
    package var isInHead: Bool {
        if case .head = state { true } else { false }
    }

    /// Stops decoding: from now on `next` returns nil and takes nothing. To be called after the
    /// head of a CONNECT or an upgrade, whose following bytes stay in the input for the tunnel.
    package mutating func endOfMessages() {
        if case .failed = state { return }
        state = .stopped
    }

    /// Takes as much of `input` as one event needs. Nil: more bytes are needed.
    package mutating func next(_ input: inout ByteBuffer) throws(FramingError) -> Event? {
        do throws(FramingError) {
            return try step(&input)
        } catch {
            state = .failed(error)
            requestLine = nil
            _ = fieldScan.take()
            throw error
        }
    }

    private mutating func step(_ input: inout ByteBuffer) throws(FramingError) -> Event? {
        while true {
            switch state {
            case .betweenMessages:
                guard try beginHead(&input) else { return nil }
            case .head:
                return try takeHead(&input).map { .head($0) }
            case .fixedBody(let missing):
                if missing == 0 { return end(trailers: nil) }
                return takeBody(&input, missing: missing) { .fixedBody($0) }
            case .chunkSize:
                guard try takeChunkSize(&input) else { return nil }
            case .chunkData(let missing):
                if missing > 0 { return takeBody(&input, missing: missing) { .chunkData($0) } }
                state = .chunkEnd
            case .chunkEnd:
                guard try takeChunkEnd(&input) else { return nil }
            case .trailers:
                guard let trailers = try takeTrailers(&input) else { return nil }
                return end(trailers: trailers.isEmpty ? nil : trailers)
            case .stopped:
                return nil
            case .failed(let error):
                throw error
            }
        }
    }

    /// Hands over what is there of the body, without copying it.
    private mutating func takeBody(
        _ input: inout ByteBuffer, missing: Int, rest: (Int) -> State
    ) -> Event? {
        let byteCount = min(missing, input.readableBytes, limits.bodyEventByteCountMax)
        guard byteCount > 0, let body = input.readSlice(length: byteCount) else { return nil }
        state = rest(missing - byteCount)
        return .body(body)
    }

    private mutating func end(trailers: FieldBlock?) -> Event {
        // RFC 9112 section 9.6: what follows a request that closes is never processed.
        state = isLast ? .stopped : .betweenMessages
        hasSkippedEmptyLine = false
        return .end(trailers: trailers)
    }
}
