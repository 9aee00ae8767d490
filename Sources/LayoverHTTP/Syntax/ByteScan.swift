/// Scans over raw bytes, eight at a time where that pays.
///
/// The word tricks are the well-known ones: `(x - 0x01…) & ~x & 0x80…` is not zero exactly if a
/// byte of `x` is zero, and its lowest set bit marks the first such byte.
enum ByteScan {
    private static var ones: UInt64 { 0x0101_0101_0101_0101 }
    private static var highs: UInt64 { 0x8080_8080_8080_8080 }

    @inline(__always)
    private static func word(_ bytes: UnsafeRawBufferPointer, _ offset: Int) -> UInt64 {
        UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }

    @inline(__always)
    private static func zeroBytes(_ word: UInt64) -> UInt64 { (word &- ones) & ~word & highs }

    /// Offset of the first line feed at or after `start`.
    @inline(__always)
    static func firstLineFeed(in bytes: UnsafeRawBufferPointer, from start: Int) -> Int? {
        var offset = start
        while offset &+ 8 <= bytes.count {
            let found = zeroBytes(word(bytes, offset) ^ (ones &* 0x0A))
            if found != 0 { return offset &+ found.trailingZeroBitCount / 8 }
            offset &+= 8
        }
        while offset < bytes.count {
            if bytes[offset] == ASCII.lineFeed { return offset }
            offset &+= 1
        }
        return nil
    }

    /// Whether the range contains a control character other than HTAB (RFC 9110 section 5.5).
    /// Bytes from 0x80 on (`obs-text`) are allowed.
    @inline(__always)
    static func hasControl(in bytes: UnsafeRawBufferPointer, _ range: Range<Int>) -> Bool {
        var offset = range.lowerBound
        while offset &+ 8 <= range.upperBound {
            let word = word(bytes, offset)
            let low = (word &- (ones &* 0x20)) & ~word & highs
            if low | zeroBytes(word ^ (ones &* 0x7F)) != 0 {
                // Either a tab or something forbidden: rare enough to look at each byte.
                for index in offset..<(offset &+ 8) where isControl(bytes[index]) { return true }
            }
            offset &+= 8
        }
        while offset < range.upperBound {
            if isControl(bytes[offset]) { return true }
            offset &+= 1
        }
        return false
    }

    @inline(__always)
    private static func isControl(_ byte: UInt8) -> Bool {
        (byte < 0x20 && byte != ASCII.tab) || byte == ASCII.delete
    }

    /// Whether the range has only visible ASCII characters (0x21 to 0x7E).
    @inline(__always)
    static func isVisible(in bytes: UnsafeRawBufferPointer, _ range: Range<Int>) -> Bool {
        var offset = range.lowerBound
        while offset &+ 8 <= range.upperBound {
            let word = word(bytes, offset)
            let low = (word &- (ones &* 0x21)) & ~word & highs
            if low | (word & highs) | zeroBytes(word ^ (ones &* 0x7F)) != 0 { return false }
            offset &+= 8
        }
        while offset < range.upperBound {
            if bytes[offset] &- 0x21 > 0x5D { return false }
            offset &+= 1
        }
        return true
    }

    /// Offset of the first byte that equals `wanted`.
    @inline(__always)
    static func first(
        _ wanted: UInt8, in bytes: UnsafeRawBufferPointer, _ range: Range<Int>
    ) -> Int? {
        var offset = range.lowerBound
        while offset < range.upperBound {
            if bytes[offset] == wanted { return offset }
            offset &+= 1
        }
        return nil
    }

    /// The range without white space (SP, HTAB) at its ends.
    @inline(__always)
    static func trimmed(_ range: Range<Int>, in bytes: UnsafeRawBufferPointer) -> Range<Int> {
        var start = range.lowerBound
        var end = range.upperBound
        while start < end, ByteClass.isWhiteSpace(bytes[start]) { start &+= 1 }
        while start < end, ByteClass.isWhiteSpace(bytes[end &- 1]) { end &-= 1 }
        return start..<end
    }
}
