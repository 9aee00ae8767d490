import LayoverText
package import NIOCore

/// The head of a response, ready to be sent on.
package struct ResponseHead: Sendable {
    package let status: Int
    /// What the upstream spoke: 0 or 1.
    package let minorVersion: Int
    package let framing: ResponseFraming
    /// The value of Content-Length, also where no body follows (HEAD, 304).
    package let contentLength: Int?
    /// Whether a body is announced where there can be none (204). Its bytes may still come: the connection must
    /// not be used again.
    package let announcesImpossibleBody: Bool
    /// Whether the upstream ends the connection behind the response: it said `Connection: close`, or speaks HTTP/1.0.
    package let endsConnection: Bool
    /// Whether the head has a Via field. That field is passed on. The caller appends Layover's own.
    package let hasVia: Bool
    /// Whether the head has a Date field. Without one the recipient adds the time of receipt (RFC 9110 section 6.6.1).
    package let hasDate: Bool
    /// The offset in `bytes` at which the first removed Content-Length or Transfer-Encoding stood.
    /// Nil: no such field was removed, or its place is not known.
    package let framingPlace: Int?

    /// The status line as HTTP/1.1 and the fields as they came, minus what concerned the upstream's
    /// connection and minus Content-Length and Transfer-Encoding, which the caller writes anew.
    /// (Where no body can follow, HEAD and 304, Content-Length is a statement about the resource
    /// and is kept.) Each line ends with CRLF; the empty line is not included.
    package let bytes: ByteBuffer

    /// Whether a final response follows. 101 is final.
    package var isInterim: Bool { status < 200 && status != 101 }

    /// The same head with chunked framing.
    package var chunked: ResponseHead { changed(framing: .chunked, bytes: bytes) }

    /// The same head with a Date field behind the others.
    ///
    /// - Parameter line: The field line with its CRLF.
    package func dated(by line: [UInt8]) -> ResponseHead {
        var bytes = bytes
        bytes.writeBytes(line)
        return changed(framing: framing, bytes: bytes, hasDate: true)
    }

    private func changed(framing: ResponseFraming, bytes: ByteBuffer, hasDate: Bool? = nil) -> ResponseHead {
        ResponseHead(
            status: status, minorVersion: minorVersion, framing: framing, contentLength: contentLength,
            announcesImpossibleBody: announcesImpossibleBody, endsConnection: endsConnection, hasVia: hasVia,
            hasDate: hasDate ?? self.hasDate, framingPlace: framingPlace, bytes: bytes)
    }

    /// The number of bytes of the head as it is passed on, with the empty line.
    package var byteCount: Int { bytes.readableBytes + 2 }

    /// The fields in `bytes`, found on demand.
    package func fields() -> FieldBlock {
        let ranges = bytes.withUnsafeReadableBytes { Self.ranges(in: $0) }
        return FieldBlock(bytes: bytes, ranges: ranges)
    }

    /// Reads lines that were checked when they were written.
    static func ranges(in bytes: UnsafeRawBufferPointer) -> [FieldRange] {
        var lines = LineCursor()
        var ranges: [FieldRange] = []
        var isStatusLine = true
        while let line = try? lines.nextLine(in: bytes, endMax: .max, tooLong: .headTooLarge) {
            if isStatusLine {
                isStatusLine = false
            } else if let field = try? FieldLine.parse(line, in: bytes) {
                ranges.append(field)
            }
        }
        return ranges
    }
}

/// Values of a response that concern another attempt.
extension ResponseHead {
    /// The wait that the origin asks for: `Retry-After` in seconds or as a date (RFC 9110 section 10.2.3), or
    /// `Retry-After-Ms`, which providers of language models send for short waits and which is more exact.
    ///
    /// - Parameter now: Seconds since 1970. A date counts from the response's own `Date` where it has one, so
    ///   that clocks that differ do no harm.
    /// - Returns: Never negative; nil if the response has no readable value.
    package func retryAfter(now: Int) -> Duration? {
        let fields = self.fields()
        if let text = fields.values(of: "Retry-After-Ms").first.map(fields.string), let wait = Double(text),
            wait.isFinite, (0...1e12).contains(wait)
        {
            return .milliseconds(wait)
        }
        guard let text = fields.values(of: "Retry-After").first.map(fields.string) else { return nil }
        if !text.isEmpty, text.utf8.allSatisfy({ (48...57).contains($0) }) {
            // A number with too many digits for `Int` counts as `Int32.max` seconds.
            return .seconds(Int(text) ?? Int(Int32.max))
        }
        guard let at = HTTPDate.seconds(text, now: now) else { return nil }
        let date = fields.values(of: "Date").first.map(fields.string)
        return .seconds(max(0, at - (date.flatMap { HTTPDate.seconds($0, now: now) } ?? now)))
    }

    /// Whether the origin says that another attempt is of no use (`X-Should-Retry: false`).
    package var forbidsRetry: Bool {
        let fields = self.fields()
        return fields.values(of: "X-Should-Retry").contains { fields.equalsIgnoringCase($0, "false") }
    }
}
