import LayoverText

/// The line before a chunk: its size, and extensions that mean nothing to us.
struct ChunkSizeLine: Sendable {
    /// Bytes of data that follow. 0: this is the last chunk.
    let byteCount: Int
    /// Bytes of the extensions with their semicolons.
    let extensionByteCount: Int

    /// `1*HEXDIG *( ";" token [ "=" ( token / quoted-string ) ] )`. No white space anywhere: the
    /// grammar tolerates some around extensions, and parsers disagree about it.
    init(_ line: Range<Int>, in bytes: UnsafeRawBufferPointer) throws(FramingError) {
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
        extensionByteCount = line.upperBound - offset
        while offset < line.upperBound {
            guard bytes[offset] == ASCII.semicolon else {
                throw extensionByteCount == line.upperBound - offset
                    ? .malformedChunkSize : .malformedChunkExtension
            }
            offset = try Self.endOfExtension(in: (offset + 1)..<line.upperBound, bytes)
        }
    }

    /// Where the extension that begins the range ends.
    private static func endOfExtension(
        in range: Range<Int>, _ bytes: UnsafeRawBufferPointer
    ) throws(FramingError) -> Int {
        let nameEnd = endOfToken(in: range, bytes)
        guard nameEnd > range.lowerBound else { throw .malformedChunkExtension }
        guard nameEnd < range.upperBound, bytes[nameEnd] == ASCII.equals else { return nameEnd }
        let value = (nameEnd + 1)..<range.upperBound
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
