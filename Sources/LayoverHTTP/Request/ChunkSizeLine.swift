import LayoverText

/// The line before a chunk: its size, and extensions that mean nothing to us.
struct ChunkSizeLine: Sendable {
    /// Bytes of data that follow. 0: this is the last chunk.
    let byteCount: Int
    /// Bytes of the extensions with their semicolons and white space. Padding that servers commonly write behind a size does not count.
    let extensionByteCount: Int

    /// Most bytes of white space after a size that count as padding. Some servers reserve room for a size of so many digits.
    private static let paddingByteCountMax = 16

    /// `1*HEXDIG *( BWS ";" BWS token [ BWS "=" BWS ( token / quoted-string ) ] ) BWS`. In a request there is no white
    /// space anywhere: parsers disagree about it.
    ///
    /// - Parameter isResponse: Whether white space is skipped there (RFC 9112 section 7.1.1).
    init(_ line: Range<Int>, in bytes: UnsafeRawBufferPointer, isResponse: Bool) throws(FramingError) {
        var offset = line.lowerBound
        var size = 0
        while offset < line.upperBound,
            let digit = Hexadecimal.value(of: bytes[offset])
        {
            // 15 digits are 2^60 bytes. The limit counts leading zeros too.
            guard offset &- line.lowerBound < 15 else { throw .chunkSizeOverflow }
            size = size << 4 | Int(digit)
            offset &+= 1
        }
        guard offset > line.lowerBound else { throw .malformedChunkSize }
        byteCount = size
        let sizeEnd = offset
        if isResponse { offset = Self.endOfWhiteSpace(in: offset..<line.upperBound, bytes) }
        extensionByteCount = line.upperBound - sizeEnd - min(offset - sizeEnd, Self.paddingByteCountMax)
        var isBehindSize = true
        while offset < line.upperBound {
            guard bytes[offset] == ASCII.semicolon else { throw isBehindSize ? .malformedChunkSize : .malformedChunkExtension }
            isBehindSize = false
            offset = try Self.endOfExtension(in: (offset + 1)..<line.upperBound, bytes, isResponse: isResponse)
            if isResponse { offset = Self.endOfWhiteSpace(in: offset..<line.upperBound, bytes) }
        }
    }

    /// Where the extension that begins the range ends.
    private static func endOfExtension(
        in range: Range<Int>, _ bytes: UnsafeRawBufferPointer, isResponse: Bool
    ) throws(FramingError) -> Int {
        let name = (isResponse ? endOfWhiteSpace(in: range, bytes) : range.lowerBound)..<range.upperBound
        let nameEnd = endOfToken(in: name, bytes)
        guard nameEnd > name.lowerBound else { throw .malformedChunkExtension }
        let equals = isResponse ? endOfWhiteSpace(in: nameEnd..<range.upperBound, bytes) : nameEnd
        guard equals < range.upperBound, bytes[equals] == ASCII.equals else { return nameEnd }
        let valueStart = isResponse ? endOfWhiteSpace(in: (equals + 1)..<range.upperBound, bytes) : equals + 1
        let value = valueStart..<range.upperBound
        guard let first = value.first else { throw .malformedChunkExtension }
        if bytes[first] == ASCII.quote {
            return try endOfQuotedString(in: (first + 1)..<range.upperBound, bytes)
        }
        let valueEnd = endOfToken(in: value, bytes)
        guard valueEnd > value.lowerBound else { throw .malformedChunkExtension }
        return valueEnd
    }

    private static func endOfToken(in range: Range<Int>, _ bytes: UnsafeRawBufferPointer) -> Int {
        var offset = range.lowerBound
        while offset < range.upperBound, ByteClass.isToken(bytes[offset]) { offset += 1 }
        return offset
    }

    private static func endOfWhiteSpace(in range: Range<Int>, _ bytes: UnsafeRawBufferPointer) -> Int {
        var offset = range.lowerBound
        while offset < range.upperBound, ByteClass.isWhiteSpace(bytes[offset]) { offset += 1 }
        return offset
    }

    /// Printable ASCII only, with `\` before any of it.
    private static func endOfQuotedString(
        in range: Range<Int>, _ bytes: UnsafeRawBufferPointer
    ) throws(FramingError) -> Int {
        var isEscaped = false
        for offset in range {
            let byte = bytes[offset]
            guard byte >= 0x20, byte < ASCII.delete else { break }
            if isEscaped {
                isEscaped = false
            } else if byte == ASCII.quote {
                return offset + 1
            } else {
                isEscaped = byte == ASCII.backslash
            }
        }
        throw .malformedChunkExtension
    }
}
