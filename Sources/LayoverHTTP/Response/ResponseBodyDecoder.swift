package import NIOCore

/// Finds the body of a response in the bytes behind its head (RFC 9112 section 6.3), as strictly as that of a request
/// but for white space that RFC 9112 makes recipients skip: in lines before chunks, and before the colons of trailers.
package struct ResponseBodyDecoder: Sendable {
    package enum Event: Sendable {
        /// Never empty.
        case body(ByteBuffer)
        /// `trailers`: field lines, each with its CRLF; nil when there are none.
        case end(trailers: ByteBuffer?)
    }

    /// Whether the body ends when the connection ends.
    package let endsWithConnection: Bool
    private var decoder: RequestDecoder

    package init(_ framing: ResponseFraming, limits: FramingLimits) {
        decoder = RequestDecoder(limits: limits)
        decoder.isLast = true
        decoder.isResponse = true
        endsWithConnection = framing == .untilClose
        switch framing {
        case .none: decoder.state = .fixedBody(0)
        case .length(let byteCount): decoder.state = .fixedBody(byteCount)
        case .chunked: decoder.state = .chunkSize
        case .untilClose: decoder.state = .fixedBody(.max)
        }
    }

    /// Takes as much of `input` as one event needs. Nil: more bytes are needed, or the body is over.
    package mutating func next(_ input: inout ByteBuffer) throws(FramingError) -> Event? {
        switch try decoder.next(&input) {
        case .body(let bytes): .body(bytes)
        case .end(let trailers): .end(trailers: trailers.map(Self.lines))
        case .head, nil: nil
        }
    }

    private static func lines(_ trailers: FieldBlock) -> ByteBuffer {
        var out = ByteBuffer()
        for field in trailers.ranges {
            // Trailers are written in the same way as the fields of a head.
            trailers.bytes.withUnsafeReadableBytes { bytes in
                FieldLine.writeLine(of: field, in: bytes, contentEnd: field.value.upperBound, into: &out)
            }
        }
        return out
    }
}

/// How the end of a response's body is found (RFC 9112 section 6.3).
package enum ResponseFraming: Equatable, Sendable {
    /// There is no body: HEAD, 1xx, 204, 304, and 2xx to CONNECT.
    case none
    /// So many bytes follow.
    case length(Int)
    /// Chunks follow.
    case chunked
    /// The body ends with the connection.
    case untilClose
}
