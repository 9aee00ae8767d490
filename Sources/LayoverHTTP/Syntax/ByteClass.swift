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
