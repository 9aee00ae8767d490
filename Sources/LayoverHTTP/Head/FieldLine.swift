/// Reads one field line (RFC 9112 section 5).
enum FieldLine {
    /// - Parameter line: The line without its CRLF. Not empty.
    @inline(__always)
    static func parse(
        _ line: Range<Int>, in bytes: UnsafeRawBufferPointer
    ) throws(FramingError) -> FieldRange {
        var offset = line.lowerBound
        while offset < line.upperBound, ByteClass.isToken(bytes[offset]) { offset &+= 1 }
        guard offset < line.upperBound, offset > line.lowerBound, bytes[offset] == ASCII.colon
        else {
            throw refusal(of: line, at: offset, in: bytes)
        }
        let name = line.lowerBound..<offset
        let value = ByteScan.trimmed((offset &+ 1)..<line.upperBound, in: bytes)
        if ByteScan.hasControl(in: bytes, value) {
            throw ByteScan.first(ASCII.carriageReturn, in: bytes, value) == nil
                ? .controlInField : .bareCarriageReturn
        }
        return FieldRange(name: name, value: value, known: .recognise(bytes, name))
    }

    /// Why the line is none: `offset` is where its name ends.
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
        // RFC 9112 section 5.1: white space before the colon must be refused.
        if ByteClass.isWhiteSpace(byte) {
            return ByteScan.first(ASCII.colon, in: bytes, offset..<line.upperBound) == nil
                ? .fieldWithoutColon : .spaceBeforeColon
        }
        return byte == ASCII.carriageReturn ? .bareCarriageReturn : .malformedFieldName
    }
}
