import LayoverText

/// How the characters of a token are written where it stands.
enum TokenSpelling: Sendable {
    /// As they are.
    case plain
    /// Perhaps percent-encoded, all of them: the text is decoded before it is read as a token.
    case percentEncoded
    /// As in a JSON string (RFC 8259 section 7), perhaps with escapes.
    case json

    /// Stands for whatever is no ASCII character. No token contains it.
    static var foreign: UInt8 { 0xFF }

    /// The character at `offset`, and the offset of the next one; nil at the end.
    func character(at offset: Int, in bytes: UnsafeRawBufferPointer, end: Int) -> (byte: UInt8, next: Int)? {
        guard offset < end else { return nil }
        switch (self, bytes[offset]) {
        case (.percentEncoded, UInt8(ascii: "%")):
            guard let byte = Hexadecimal.number(at: offset + 1, count: 2, in: bytes, end: end) else {
                return (Self.foreign, offset + 1)
            }
            return (UInt8(truncatingIfNeeded: byte), offset + 3)
        case (.json, UInt8(ascii: "\\")):
            return Self.escape(at: offset, in: bytes, end: end)
        case (_, let byte):
            return (byte, offset + 1)
        }
    }

    private static func escape(at offset: Int, in bytes: UnsafeRawBufferPointer, end: Int) -> (byte: UInt8, next: Int) {
        guard offset + 1 < end, bytes[offset + 1] == UInt8(ascii: "u"),
            let code = Hexadecimal.number(at: offset + 2, count: 4, in: bytes, end: end)
        else { return (foreign, min(offset + 2, end)) }
        return (code < 0x80 ? UInt8(code) : foreign, offset + 6)
    }
}
