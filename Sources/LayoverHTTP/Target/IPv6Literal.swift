import LayoverText

/// The syntax of an IPv6 address in a URL (`IPv6address` of RFC 3986 section 3.2.2).
enum IPv6Literal {
    /// Whether the range, without its brackets, is an address. Zones are refused: they mean
    /// something on this host only.
    static func isValid(_ range: Range<Int>, in bytes: UnsafeRawBufferPointer) -> Bool {
        var groupCount = 0
        var hasGap = false
        var offset = range.lowerBound
        if offset < range.upperBound, bytes[offset] == ASCII.colon {
            // A leading colon is only right as the first half of a gap.
            guard offset + 1 < range.upperBound, bytes[offset + 1] == ASCII.colon else {
                return false
            }
            hasGap = true
            offset += 2
        }
        while offset < range.upperBound {
            let start = offset
            while offset < range.upperBound, Hexadecimal.value(of: bytes[offset]) != nil {
                offset += 1
            }
            if offset < range.upperBound, bytes[offset] == ASCII.dot {
                guard isIPv4(start..<range.upperBound, in: bytes) else { return false }
                groupCount += 2
                break
            }
            guard offset > start, offset - start <= 4 else { return false }
            groupCount += 1
            guard offset < range.upperBound else { break }
            guard bytes[offset] == ASCII.colon else { return false }
            offset += 1
            // One colon needs a group behind it.
            guard offset < range.upperBound else { return false }
            if bytes[offset] == ASCII.colon {
                guard !hasGap else { return false }
                hasGap = true
                offset += 1
            }
        }
        return hasGap ? groupCount <= 7 : groupCount == 8
    }

    /// Four decimal numbers up to 255, without leading zeros.
    private static func isIPv4(_ range: Range<Int>, in bytes: UnsafeRawBufferPointer) -> Bool {
        var start = range.lowerBound
        for place in 0..<4 {
            let end =
                place == 3
                ? range.upperBound
                : ByteScan.first(ASCII.dot, in: bytes, start..<range.upperBound) ?? range.upperBound
            guard end - start <= 3, let number = DecimalNumber.value(of: start..<end, in: bytes),
                number <= 255, end - start == 1 || bytes[start] != ASCII.zero
            else { return false }
            if place < 3 {
                guard end < range.upperBound else { return false }
                start = end + 1
            }
        }
        return true
    }
}
