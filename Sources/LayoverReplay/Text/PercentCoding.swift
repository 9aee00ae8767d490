/// Percent-encoding (RFC 3986 section 2.1).
enum PercentCoding {
    /// `unreserved` of RFC 3986 section 2.3: never has a meaning of its own, so it may stand as it is anywhere in a URL.
    static func isUnreserved(_ byte: UInt8) -> Bool {
        isAlphanumeric(byte) || "-._~".utf8.contains(byte)
    }

    static func isAlphanumeric(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"):
            true
        default: false
        }
    }

    /// Encodes every byte that `isPlain` does not let through.
    static func encode(_ bytes: some Sequence<UInt8>, isPlain: (UInt8) -> Bool) -> [UInt8] {
        var encoded: [UInt8] = []
        for byte in bytes {
            if isPlain(byte) {
                encoded.append(byte)
            } else {
                encoded.append(UInt8(ascii: "%"))
                Hexadecimal.write(byte, to: &encoded)
            }
        }
        return encoded
    }

    /// Nil when a percent sign is not followed by two digits.
    static func decode(_ bytes: some Collection<UInt8>) -> [UInt8]? {
        let text = Array(bytes)
        return text.withUnsafeBytes { raw in
            var decoded: [UInt8] = []
            var offset = 0
            while offset < raw.count {
                guard raw[offset] == UInt8(ascii: "%") else {
                    decoded.append(raw[offset])
                    offset += 1
                    continue
                }
                guard let byte = Hexadecimal.number(at: offset + 1, count: 2, in: raw, end: raw.count) else { return nil }
                decoded.append(UInt8(truncatingIfNeeded: byte))
                offset += 3
            }
            return decoded
        }
    }
}
