import NIOCore

/// Makes response heads from the header lines of one transfer, each with its end: interim
/// heads, then the final one, each closed by an empty line. What it makes can be sent as it is.
///
/// Reused for transfer after transfer: `reset` between them. Every error has status 502 and repeats
/// until `reset`: such a response must not be passed on, and its connection not be used again.
package struct ResponseHeadAssembler: Sendable {
    enum State: Sendable {
        /// Left by a status line.
        case statusLine
        /// Left by the empty line: to `statusLine` after an interim head, else to `complete`.
        case fields(StatusLine)
        /// Only `reset` leaves it.
        case complete
        /// Only `reset` leaves it.
        case failed(FramingError)
    }

    let limits: FramingLimits
    var state = State.statusLine
    /// Whether libcurl finds the end of the body, from the same lines. libcurl ignores a framing field with white space before its
    /// colon.
    package var isFramedByOther = false
    /// Whether the last head had the coding `identity`. libcurl ignores the length then.
    package private(set) var hasIdentityCoding = false
    var isHeadRequest = false
    var isConnect = false
    var allowsUpgrade = false

    // Of the head that is being assembled.
    var out = ByteBuffer()
    var byteCount = 0
    var fieldCount = 0
    var framing = FramingFields()
    var connection = ConnectionOptions()
    var nominated = NominatedNames()
    var hasVia = false
    var hasDate = false
    var framingPlace: Int?
    var interimHeadCount = 0

    package init(limits: FramingLimits = .init()) {
        self.limits = limits
    }

    /// Prepares for the next transfer.
    ///
    /// - Parameters:
    ///   - isHeadRequest: Whether the request's method is HEAD: no body follows.
    ///   - isConnect: Whether it is CONNECT: after a 2xx the tunnel follows.
    ///   - allowsUpgrade: Whether a 101 may come; otherwise nobody asked for it: an error.
    package mutating func reset(
        isHeadRequest: Bool, isConnect: Bool = false, allowsUpgrade: Bool = false
    ) {
        self.isHeadRequest = isHeadRequest
        self.isConnect = isConnect
        self.allowsUpgrade = allowsUpgrade
        state = .statusLine
        interimHeadCount = 0
        beginHead()
    }

    /// Whether the next line is a status line.
    var isAtStatusLine: Bool { if case .statusLine = state { true } else { false } }

    /// How long the rest of the head may be.
    var byteCountLeft: Int { limits.headByteCountMax - byteCount }

    mutating func beginHead() {
        out = ByteBuffer()
        byteCount = 0
        fieldCount = 0
        hasIdentityCoding = framing.isIdentity
        framing = FramingFields()
        connection = ConnectionOptions()
        nominated = NominatedNames()
        hasVia = false
        hasDate = false
        framingPlace = nil
    }

    /// Takes one line, its CRLF included. Returns the head at the empty line.
    package mutating func take(
        line: UnsafeRawBufferPointer
    ) throws(FramingError) -> ResponseHead? {
        do throws(FramingError) {
            return try takeChecked(line)
        } catch {
            let failure = FramingError(status: 502, reason: error.reason)
            state = .failed(failure)
            out = ByteBuffer()
            throw failure
        }
    }

    private mutating func takeChecked(
        _ line: UnsafeRawBufferPointer
    ) throws(FramingError) -> ResponseHead? {
        byteCount += line.count
        guard byteCount <= limits.headByteCountMax else { throw .headTooLarge }
        let (content, endsWithCRLF) = try ReceivedLine.content(of: line)
        switch state {
        case .statusLine:
            try takeStatusLine(content, in: line, endsWithCRLF: endsWithCRLF)
        case .fields(let statusLine):
            // RFC 9112 section 2.2 lets a recipient accept a lone LF. Old servers send it, so it is accepted for HTTP/1.0.
            // It is refused for HTTP/1.1: two parsers may disagree about it. Of a response to CONNECT nothing is passed on.
            if !endsWithCRLF, statusLine.minorVersion > 0, !isConnect { throw .bareLineFeed }
            if content.isEmpty { return try finish(statusLine) }
            try takeField(content, in: line, endsWithCRLF: endsWithCRLF, of: statusLine)
        case .complete:
            throw .linesAfterHead
        case .failed(let error):
            throw error
        }
        return nil
    }
}

/// A status line (RFC 9112 section 4).
struct StatusLine: Sendable {
    /// 0 or 1. A higher one is processed as 1 (RFC 9110 section 2.5).
    let minorVersion: Int
    /// Whether the line has a reason, or the space before an empty one.
    let hasReason: Bool
    /// The status, 100 to 999. RFC 9110 section 15 calls 600 and above invalid and tells a client to treat them as a 5xx.
    /// Layover passes them on unchanged: only client and origin know what they mean.
    let status: Int

    /// `HTTP/1.DIGIT SP 3DIGIT [SP reason]`. Many servers leave out the space when they have no reason.
    init(_ line: Range<Int>, in bytes: UnsafeRawBufferPointer) throws(FramingError) {
        guard line.count >= 12 else { throw .malformedStatusLine }
        let start = line.lowerBound
        guard ByteText.equals("HTTP/1.", in: bytes, start..<(start + 7)), ByteClass.isDigit(bytes[start + 7]),
            bytes[start + 8] == ASCII.space
        else { throw .malformedStatusLine }
        minorVersion = bytes[start + 7] == ASCII.zero ? 0 : 1
        guard let status = DecimalNumber.value(of: (start + 9)..<(start + 12), in: bytes),
            line.count == 12 || bytes[start + 12] == ASCII.space
        else { throw .malformedStatusLine }
        guard (100...999).contains(status) else { throw .statusOutOfRange }
        if ByteScan.hasControl(in: bytes, (start + 12)..<line.upperBound) {
            throw .malformedStatusLine
        }
        self.status = status
        hasReason = line.count > 12
    }
}

/// One line as libcurl hands it over, with its end.
enum ReceivedLine {
    /// The line without its end, and whether the end is CRLF.
    ///
    /// libcurl would accept a lone LF everywhere. Layover accepts it only in heads of HTTP/1.0.
    @inline(__always)
    static func content(of line: UnsafeRawBufferPointer) throws(FramingError) -> (range: Range<Int>, endsWithCRLF: Bool) {
        guard line.last == ASCII.lineFeed else { throw .bareLineFeed }
        if line.count >= 2, line[line.count - 2] == ASCII.carriageReturn { return (0..<(line.count - 2), true) }
        return (0..<(line.count - 1), false)
    }

    /// The line without its CRLF.
    @inline(__always)
    static func contentOfStrictLine(of line: UnsafeRawBufferPointer) throws(FramingError) -> Range<Int> {
        let (range, endsWithCRLF) = try content(of: line)
        guard endsWithCRLF else { throw .bareLineFeed }
        return range
    }
}
