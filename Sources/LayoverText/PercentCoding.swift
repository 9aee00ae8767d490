/// Percent-encoding (RFC 3986 section 2.1).
package enum PercentCoding {
    /// `unreserved` of RFC 3986 section 2.3: never has a meaning of its own, so it may stand as it is anywhere in a URL.
    ///
    /// A bit map of the ASCII range.
    @inlinable @inline(__always)
    package static func isUnreserved(_ byte: UInt8) -> Bool {
        guard byte < 0x80 else { return false }
        let members: UInt64 = byte < 64 ? 0x03ff_6000_0000_0000 : 0x47ff_fffe_87ff_fffe
        return (members >> UInt64(byte & 63)) & 1 == 1
    }

    /// The index of the first byte of a range that is not `unreserved`, or the end of the range. One call for a whole name.
    package static func unreservedEnd(_ range: Range<Int>, in bytes: UnsafeRawBufferPointer) -> Int {
        var end = range.lowerBound
        while end < range.upperBound, isUnreserved(bytes[end]) { end &+= 1 }
        return end
    }

    /// Whether the byte is a letter or digit of ASCII.
    @inlinable
    package static func isAlphanumeric(_ byte: UInt8) -> Bool {
        byte &- 0x30 < 10 || (byte | 0x20) &- 0x61 < 26
    }

    /// Encodes every byte that `isPlain` does not let through. In upper case, as section 2.1 prefers.
    package static func encode(_ bytes: some Sequence<UInt8>, isPlain: (UInt8) -> Bool) -> [UInt8] {
        var encoded: [UInt8] = []
        for byte in bytes {
            if isPlain(byte) {
                encoded.append(byte)
            } else {
                encoded += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return encoded
    }

    private static let digits = Array("0123456789ABCDEF".utf8)

    /// Nil when a percent sign is not followed by two digits.
    package static func decode(_ bytes: some Collection<UInt8>) -> [UInt8]? {
        decode(Array(bytes), isStrict: true)
    }

    /// A percent sign that is not followed by two digits stands for itself.
    package static func decodeLeniently(_ bytes: [UInt8]) -> [UInt8] {
        decode(bytes, isStrict: false) ?? bytes
    }

    private static func decode(_ bytes: [UInt8], isStrict: Bool) -> [UInt8]? {
        var decoded: [UInt8] = []
        var offset = 0
        while offset < bytes.count {
            if let octet = octet(at: offset, in: bytes) {
                decoded.append(octet)
                offset += 3
            } else {
                if isStrict, bytes[offset] == UInt8(ascii: "%") { return nil }
                decoded.append(bytes[offset])
                offset += 1
            }
        }
        return decoded
    }

    /// The byte that the three characters at `offset` mean; nil where no encoded byte stands.
    package static func octet(at offset: Int, in bytes: [UInt8]) -> UInt8? {
        guard bytes[offset] == UInt8(ascii: "%"), offset + 2 < bytes.count,
            let high = Hexadecimal.value(of: bytes[offset + 1]), let low = Hexadecimal.value(of: bytes[offset + 2])
        else { return nil }
        return high << 4 | low
    }
}
