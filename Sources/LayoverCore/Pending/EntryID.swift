import LayoverText

/// The name of an entry: 128 random bits, never used again.
package struct EntryID: Sendable, Hashable, CustomStringConvertible {
    package let high: UInt64
    package let low: UInt64

    /// An id that was kept as two numbers.
    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    package init(using generator: inout some RandomNumberGenerator) {
        high = generator.next()
        low = generator.next()
    }

    /// Reads the text form; nil when it is not one.
    package init?(_ text: some StringProtocol) {
        guard text.utf8.count == 32 else { return nil }
        let digits = text.utf8
        let middle = digits.index(digits.startIndex, offsetBy: 16)
        guard let high = Self.number(digits[..<middle]), let low = Self.number(digits[middle...])
        else { return nil }
        self.high = high
        self.low = low
    }

    /// Both halves are random, and nobody else chooses them: one is enough.
    package func hash(into hasher: inout Hasher) { hasher.combine(low) }

    /// An order that means nothing, but is always the same.
    package func isBefore(_ other: EntryID) -> Bool { (high, low) < (other.high, other.low) }

    /// 32 lower-case hexadecimal digits.
    package var description: String { withDigits { String(decoding: $0, as: UTF8.self) } }

    /// Shows its digits without making a text of them.
    func withDigits<Value>(_ work: (UnsafeBufferPointer<UInt8>) -> Value) -> Value {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 32) { digits in
            for index in 0..<16 {
                let shift = UInt64(60 - 4 * index)
                digits[index] = Hexadecimal.digit(UInt8(truncatingIfNeeded: high >> shift & 0xF))
                digits[index + 16] = Hexadecimal.digit(UInt8(truncatingIfNeeded: low >> shift & 0xF))
            }
            return work(UnsafeBufferPointer(digits))
        }
    }

    private static func number(_ digits: some Sequence<UInt8>) -> UInt64? {
        var value: UInt64 = 0
        for digit in digits {
            guard Hexadecimal.isLowercaseDigit(digit), let number = Hexadecimal.value(of: digit) else { return nil }
            value = value << 4 | UInt64(number)
        }
        return value
    }
}
