import NIOCore

extension ByteBuffer {
    /// Writes a number without a sign. Negative ones do not occur here and are written as 0.
    mutating func writeDecimal(_ number: Int) {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 20) { digits in
            var rest = max(0, number)
            var start = digits.count
            repeat {
                start -= 1
                digits[start] = UInt8(ascii: "0") + UInt8(rest % 10)
                rest /= 10
            } while rest > 0
            writeBytes(digits[start...])
        }
    }
}
