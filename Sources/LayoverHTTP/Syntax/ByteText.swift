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
