/// Classes of bytes from the grammars of RFC 9110 and RFC 3986, as bit maps of the ASCII range.
enum ByteClass {
    /// `tchar` of RFC 9110 section 5.6.2.
    @inline(__always)
    static func isToken(_ byte: UInt8) -> Bool {
        isMember(byte, low: 0x03ff_6cfa_0000_0000, high: 0x57ff_ffff_c7ff_fffe)
    }

    /// `OWS` of RFC 9110 section 5.6.3.
    @inline(__always)
    static func isWhiteSpace(_ byte: UInt8) -> Bool { byte == ASCII.space || byte == ASCII.tab }

    @inline(__always)
    static func isDigit(_ byte: UInt8) -> Bool { byte &- ASCII.zero < 10 }

    /// The byte, in lower case if it is an ASCII capital letter.
    @inline(__always)
    static func lowercased(_ byte: UInt8) -> UInt8 {
        byte &- 0x41 < 26 ? byte | 0x20 : byte
    }

    @inline(__always)
    private static func isMember(_ byte: UInt8, low: UInt64, high: UInt64) -> Bool {
        guard byte < 0x80 else { return false }
        return ((byte < 64 ? low : high) >> UInt64(byte & 63)) & 1 == 1
    }
}

/// The bytes that have a meaning in HTTP/1 framing.
enum ASCII {
    static var tab: UInt8 { 0x09 }
    static var lineFeed: UInt8 { 0x0A }
    static var carriageReturn: UInt8 { 0x0D }
    static var space: UInt8 { 0x20 }
    static var quote: UInt8 { 0x22 }
    static var hash: UInt8 { 0x23 }
    static var parenthesisOpen: UInt8 { 0x28 }
    static var parenthesisClose: UInt8 { 0x29 }
    static var asterisk: UInt8 { 0x2A }
    static var comma: UInt8 { 0x2C }
    static var dot: UInt8 { 0x2E }
    static var slash: UInt8 { 0x2F }
    static var zero: UInt8 { 0x30 }
    static var colon: UInt8 { 0x3A }
    static var semicolon: UInt8 { 0x3B }
    static var equals: UInt8 { 0x3D }
    static var question: UInt8 { 0x3F }
    static var at: UInt8 { 0x40 }
    static var bracketOpen: UInt8 { 0x5B }
    static var backslash: UInt8 { 0x5C }
    static var bracketClose: UInt8 { 0x5D }
    static var delete: UInt8 { 0x7F }
}

/// Names of methods and fields: tokens (RFC 9110 section 5.6.2).
package enum Token {
    package static func isToken(_ text: String) -> Bool { !text.isEmpty && text.utf8.allSatisfy(ByteClass.isToken) }
}
