/// Hexadecimal digits, read and written.
package enum Hexadecimal {
    // MARK: Reading

    /// The value of a digit; nil for any other character. Inlined: sizes of chunks are read with it.
    @inlinable @inline(__always)
    package static func value(of digit: UInt8) -> UInt8? {
        let number = digit &- 0x30
        if number < 10 { return number }
        let letter = (digit | 0x20) &- 0x61
        return letter < 6 ? letter + 10 : nil
    }

    /// Whether the byte is a hexadecimal digit in lower case. Ids of this program have no other digits, so each id has one spelling.
    @inlinable
    package static func isLowercaseDigit(_ byte: UInt8) -> Bool {
        byte &- 0x30 < 10 || byte &- 0x61 < 6
    }

    /// The number that `count` digits at `offset` make; nil where there are fewer.
    @inlinable
    package static func number(at offset: Int, count: Int, in bytes: UnsafeRawBufferPointer, end: Int) -> UInt32? {
        guard offset + count <= end else { return nil }
        var number: UInt32 = 0
        for index in offset..<(offset + count) {
            guard let digit = value(of: bytes[index]) else { return nil }
            number = number << 4 | UInt32(digit)
        }
        return number
    }

    /// The bytes that pairs of digits mean; nil for any other text.
    package static func bytes(_ text: some StringProtocol) -> [UInt8]? {
        let digits = Array(text.utf8)
        guard digits.count.isMultiple(of: 2) else { return nil }
        var bytes: [UInt8] = []
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard let high = value(of: digits[index]), let low = value(of: digits[index + 1]) else { return nil }
            bytes.append(high << 4 | low)
        }
        return bytes
    }

    // MARK: Writing

    /// The digit of a number below 16, in lower case.
    @inlinable @inline(__always)
    package static func digit(_ number: UInt8) -> UInt8 { number < 10 ? number &+ 0x30 : number &+ 0x57 }

    /// All digits of the number, leading zeros too, in lower case.
    @inlinable
    package static func text(_ number: some FixedWidthInteger & UnsignedInteger) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: number.bitWidth / 4 - digits.utf8.count) + digits
    }

    /// Two digits for each byte, in lower case.
    package static func text(of bytes: some Sequence<UInt8>) -> String {
        bytes.map { text($0) }.joined()
    }
}
