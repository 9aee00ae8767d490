import LayoverText

/// The part of an authority before its `@` (RFC 3986 section 3.2.1).
///
/// RFC 9110 section 4.2.4 forbids clients to send it in a request, but wget, apt and LWP do when they use a proxy.
enum Userinfo {
    /// Whether the range, without the `@`, is `*( unreserved / pct-encoded / sub-delims / ":" )`. A second `@` and a backslash are
    /// not allowed: readers disagree about the host behind them.
    static func isValid(_ range: Range<Int>, in bytes: UnsafeRawBufferPointer) -> Bool {
        var offset = range.lowerBound
        while offset < range.upperBound {
            if bytes[offset] == UInt8(ascii: "%") {
                guard offset + 2 < range.upperBound, Hexadecimal.value(of: bytes[offset + 1]) != nil,
                    Hexadecimal.value(of: bytes[offset + 2]) != nil
                else { return false }
                offset += 3
            } else {
                guard isAllowed(bytes[offset]) else { return false }
                offset += 1
            }
        }
        return true
    }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
        default: "-._~!$&'()*+,;=:".utf8.contains(byte)
        }
    }
}
