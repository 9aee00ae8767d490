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
