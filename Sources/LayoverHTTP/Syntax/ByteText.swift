/// Comparisons of raw bytes with fixed text.
enum ByteText {
    /// Whether the bytes equal `text` exactly.
    @inline(__always)
    static func equals(
        _ text: StaticString, in bytes: UnsafeRawBufferPointer, _ range: Range<Int>
    ) -> Bool {
        guard range.count == text.utf8CodeUnitCount else { return false }
        let start = text.utf8Start
        for index in 0..<range.count where bytes[range.lowerBound &+ index] != start[index] {
            return false
        }
        return true
    }

    /// Whether the bytes equal `text` without regard to ASCII case. `text` may have any case.
    @inline(__always)
    static func equalsIgnoringCase(
        _ text: StaticString, in bytes: UnsafeRawBufferPointer, _ range: Range<Int>
    ) -> Bool {
        guard range.count == text.utf8CodeUnitCount else { return false }
        let start = text.utf8Start
        for index in 0..<range.count {
            let byte = bytes[range.lowerBound &+ index]
            if ByteClass.lowercased(byte) != ByteClass.lowercased(start[index]) { return false }
        }
        return true
    }

    /// Whether the bytes of both ranges are equal without regard to ASCII case.
    @inline(__always)
    static func equalsIgnoringCase(
        _ other: [UInt8], in bytes: UnsafeRawBufferPointer, _ range: Range<Int>
    ) -> Bool {
        guard range.count == other.count else { return false }
        for index in 0..<range.count
        where ByteClass.lowercased(bytes[range.lowerBound &+ index])
            != ByteClass.lowercased(other[index])
        {
            return false
        }
        return true
    }
}

/// Reads `1*DIGIT`: no sign, no list, no white space, no overflow.
enum DecimalNumber {
    /// The number, or nil if the range is empty, has another byte, or exceeds `Int.max`.
    @inline(__always)
    static func value(of range: Range<Int>, in bytes: UnsafeRawBufferPointer) -> Int? {
        // Int.max has 19 digits. More of them are an overflow or padding that somebody else's
        // parser may read in another way.
        guard !range.isEmpty, range.count <= 19 else { return nil }
        var value = 0
        for index in range {
            let byte = bytes[index]
            guard ByteClass.isDigit(byte) else { return nil }
            let (product, overflow) = value.multipliedReportingOverflow(by: 10)
            let (sum, carry) = product.addingReportingOverflow(Int(byte &- ASCII.zero))
            if overflow || carry { return nil }
            value = sum
        }
        return value
    }
}
