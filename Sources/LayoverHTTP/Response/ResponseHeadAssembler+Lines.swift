import NIOCore

extension ResponseHeadAssembler {
    mutating func takeStatusLine(
        _ content: Range<Int>, in line: UnsafeRawBufferPointer, endsWithCRLF: Bool
    ) throws(FramingError) {
        let statusLine = try StatusLine(content, in: line)
        if !endsWithCRLF, statusLine.minorVersion > 0, !isConnect { throw .bareLineFeed }
        if statusLine.status == 101, !allowsUpgrade { throw .unexpectedUpgrade }
        state = .fields(statusLine)
        // Room for a usual head and a small body, so that one allocation serves both.
        out.reserveCapacity(1024)
        // The version is that of Layover, not that of the upstream (RFC 9110 section 6.2).
        out.writeStaticString("HTTP/1.1")
        if endsWithCRLF, statusLine.hasReason {
            out.writeBytes(UnsafeRawBufferPointer(rebasing: line[8...]))
            return
        }
        out.writeBytes(UnsafeRawBufferPointer(rebasing: line[8..<content.upperBound]))
        // RFC 9112 section 4: the space is sent also where there is no reason.
        if !statusLine.hasReason { out.writeInteger(ASCII.space) }
        out.writeStaticString("\r\n")
    }

    mutating func takeField(
        _ content: Range<Int>, in line: UnsafeRawBufferPointer, endsWithCRLF: Bool, of statusLine: StatusLine
    ) throws(FramingError) {
        fieldCount += 1
        guard fieldCount <= limits.fieldCountMax else { throw .tooManyFields }
        let field = try FieldLine.parse(content, in: line, isResponse: true)
        guard try keeps(field, in: line, of: statusLine) else { return }
        if endsWithCRLF, !FieldLine.hasSpaceBeforeColon(field, in: line) {
            out.writeBytes(line)
        } else {
            FieldLine.writeLine(of: field, in: line, contentEnd: content.upperBound, into: &out)
        }
    }

    /// Reads a length.
    ///
    /// - Returns: Whether the line is passed on as it is. If the line lists the same length several times and a length is passed on,
    ///   this function writes a line with one length instead.
    private mutating func keepsLength(
        _ field: FieldRange, in line: UnsafeRawBufferPointer, of statusLine: StatusLine
    ) throws(FramingError) -> Bool {
        try checkOtherReads(field, in: line)
        let isFirst = framing.length == nil
        let isOneNumber = try framing.readLengthOfResponse(field, in: line)
        guard isHeadRequest || statusLine.status == 304 else {
            noteFramingPlace()
            return false
        }
        guard isFirst else { return false }
        if !isOneNumber, let length = framing.length { out.writeString("Content-Length: \(length)\r\n") }
        return isOneNumber
    }

    private func checkOtherReads(_ framingField: FieldRange, in line: UnsafeRawBufferPointer) throws(FramingError) {
        if isFramedByOther, FieldLine.hasSpaceBeforeColon(framingField, in: line) { throw .spaceBeforeColon }
    }

    /// Reads what the field says about framing and the connection, and whether it goes on.
    private mutating func keeps(
        _ field: FieldRange, in line: UnsafeRawBufferPointer, of statusLine: StatusLine
    ) throws(FramingError) -> Bool {
        switch field.known {
        case .other:
            return true
        case .contentLength where ignoresFraming(statusLine), .transferEncoding where ignoresFraming(statusLine):
            return false
        case .contentLength:
            return try keepsLength(field, in: line, of: statusLine)
        case .transferEncoding:
            try checkOtherReads(field, in: line)
            try framing.readEncodingOfResponse(field, in: line)
            noteFramingPlace()
            return false
        case .connection:
            connection.read(field.value, in: line)
            if connection.nominatesOthers { nominated.read(field.value, in: line) }
            return false
        case .via:
            hasVia = true
            return true
        case .date:
            hasDate = true
            return true
        case .upgrade where statusLine.status == 101:
            return true
        default:
            return !KnownField.hopByHop.contains(field.known)
        }
    }

    private mutating func noteFramingPlace() {
        if framingPlace == nil { framingPlace = out.readableBytes }
    }

    /// The empty line came: judges the head as a whole and hands it over.
    mutating func finish(_ statusLine: StatusLine) throws(FramingError) -> ResponseHead {
        try framing.check(minorVersion: statusLine.minorVersion)
        let bodyFraming = try bodyFraming(of: statusLine)
        if !nominated.isEmpty { dropNominated() }
        if statusLine.status == 101 { out.writeStaticString("Connection: Upgrade\r\n") }
        let head = ResponseHead(
            status: statusLine.status, minorVersion: statusLine.minorVersion, framing: bodyFraming,
            contentLength: framing.length, announcesImpossibleBody: statusLine.status == 204 && announcesBody,
            endsConnection: statusLine.minorVersion == 0 || connection.closes, hasVia: hasVia, hasDate: hasDate,
            framingPlace: framingPlace, bytes: out)
        if head.isInterim {
            interimHeadCount += 1
            guard interimHeadCount <= limits.interimHeadCountMax else { throw .tooManyInterimHeads }
            state = .statusLine
        } else {
            state = .complete
        }
        beginHead()
        return head
    }

    private func bodyFraming(of line: StatusLine) throws(FramingError) -> ResponseFraming {
        // RFC 9110 section 8.6 and RFC 9112 section 6.1 forbid Content-Length and Transfer-Encoding in 1xx and 204.
        // A length of 0 is common and harmless.
        // After an interim head, the announced bytes would be read as the head of the final response.
        // After a 204 the message has ended; only the connection cannot be used again.
        if line.status < 200 {
            if announcesBody { throw .bodyWithoutPlace }
            return .none
        }
        if isHeadRequest || line.status == 204 || line.status == 304 { return .none }
        if opensTunnel(line) { return .none }
        if framing.isChunked { return .chunked }
        return framing.length.map { .length($0) } ?? .untilClose
    }

    /// Whether Content-Length and Transfer-Encoding say nothing that is needed: the body of a refused CONNECT is not read.
    private func ignoresFraming(_ line: StatusLine) -> Bool { isConnect && line.status >= 200 }

    /// Whether the tunnel follows the head. Content-Length and Transfer-Encoding are ignored then (RFC 9110 section 9.3.6).
    private func opensTunnel(_ line: StatusLine) -> Bool { isConnect && (200..<300).contains(line.status) }

    private var announcesBody: Bool { framing.isChunked || framing.length ?? 0 > 0 }

    /// Writes the head again without the nominated fields. `Connection` may come after what it
    /// nominates, so this can only be done at the end; it is rare.
    private mutating func dropNominated() {
        var kept = ByteBuffer()
        kept.reserveCapacity(out.readableBytes)
        out.withUnsafeReadableBytes { bytes in
            let ranges = ResponseHead.ranges(in: bytes)
            var start = 0
            for field in ranges where nominated.contains(field, in: bytes) {
                kept.writeBytes(
                    UnsafeRawBufferPointer(rebasing: bytes[start..<field.name.lowerBound]))
                start = Self.endOfLine(after: field, in: bytes)
            }
            kept.writeBytes(UnsafeRawBufferPointer(rebasing: bytes[start...]))
        }
        out = kept
        framingPlace = nil
    }

    private static func endOfLine(after field: FieldRange, in bytes: UnsafeRawBufferPointer) -> Int {
        ByteScan.firstLineFeed(in: bytes, from: field.value.upperBound).map { $0 + 1 }
            ?? bytes.count
    }
}
