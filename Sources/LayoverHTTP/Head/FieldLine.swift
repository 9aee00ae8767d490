import NIOCore

/// Reads one field line (RFC 9112 section 5).
enum FieldLine {
    /// - Parameters:
    ///   - line: The line without its CRLF. Not empty.
    ///   - isResponse: Whether white space before the colon is skipped (RFC 9112 section 5.1). The writer must leave it out: `writeLine`.
    @inline(__always)
    static func parse(
        _ line: Range<Int>, in bytes: UnsafeRawBufferPointer, isResponse: Bool = false
    ) throws(FramingError) -> FieldRange {
        var offset = line.lowerBound
        while offset < line.upperBound, ByteClass.isToken(bytes[offset]) { offset &+= 1 }
        var colon = offset
        if isResponse, offset > line.lowerBound {
            while colon < line.upperBound, ByteClass.isWhiteSpace(bytes[colon]) { colon &+= 1 }
        }
        guard colon < line.upperBound, offset > line.lowerBound, bytes[colon] == ASCII.colon
        else {
            throw refusal(of: line, at: offset, in: bytes)
        }
        let name = line.lowerBound..<offset
        let value = ByteScan.trimmed((colon &+ 1)..<line.upperBound, in: bytes)
        if ByteScan.hasControl(in: bytes, value) {
            throw ByteScan.first(ASCII.carriageReturn, in: bytes, value) == nil
                ? .controlInField : .bareCarriageReturn
        }
        return FieldRange(name: name, value: value, known: .recognise(bytes, name))
    }

    /// Whether white space stands before the colon of a field of a response.
    @inline(__always)
    static func hasSpaceBeforeColon(_ field: FieldRange, in bytes: UnsafeRawBufferPointer) -> Bool {
        bytes[field.name.upperBound] != ASCII.colon
    }

    /// Appends the line of a field of a response as it came, without white space before its colon, and with CRLF.
    static func writeLine(
        of field: FieldRange, in bytes: UnsafeRawBufferPointer, contentEnd: Int, into out: inout ByteBuffer
    ) {
        let colon = ByteScan.first(ASCII.colon, in: bytes, field.name.upperBound..<contentEnd) ?? field.name.upperBound
        out.writeBytes(UnsafeRawBufferPointer(rebasing: bytes[field.name]))
        out.writeBytes(UnsafeRawBufferPointer(rebasing: bytes[colon..<contentEnd]))
        out.writeStaticString("\r\n")
    }

    /// Why the line is no field line. `offset` is where its name ends.
    private static func refusal(
        of line: Range<Int>, at offset: Int, in bytes: UnsafeRawBufferPointer
    ) -> FramingError {
        guard offset < line.upperBound else { return .fieldWithoutColon }
        let byte = bytes[offset]
        if offset == line.lowerBound {
            // RFC 9112 section 5.2: a server may refuse a folded line, and a line that begins with
            // white space right after the request line (section 2.2) has no honest reading.
            if ByteClass.isWhiteSpace(byte) { return .foldedField }
            return byte == ASCII.colon ? .emptyFieldName : .malformedFieldName
        }
        // RFC 9112 section 5.1: white space before the colon of a request must be refused.
        if ByteClass.isWhiteSpace(byte) {
            return ByteScan.first(ASCII.colon, in: bytes, offset..<line.upperBound) == nil
                ? .fieldWithoutColon : .spaceBeforeColon
        }
        return byte == ASCII.carriageReturn ? .bareCarriageReturn : .malformedFieldName
    }
}
