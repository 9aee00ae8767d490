/// Hexadecimal digits of fixed number, read and written.
enum Hexadecimal {
    private static let digits = Array("0123456789ABCDEF".utf8)

    /// The number that `count` digits at `offset` make; nil where there are fewer.
    static func number(at offset: Int, count: Int, in bytes: UnsafeRawBufferPointer, end: Int) -> UInt32? {
        guard offset + count <= end else { return nil }
        var number: UInt32 = 0
        for index in offset..<(offset + count) {
            guard let digit = value(of: bytes[index]) else { return nil }
            number = number << 4 | digit
        }
        return number
    }

    /// The two digits of a byte, in upper case (RFC 3986 section 2.1 prefers that).
    static func write(_ byte: UInt8, to bytes: inout [UInt8]) {
        bytes.append(digits[Int(byte >> 4)])
        bytes.append(digits[Int(byte & 15)])
    }

    private static func value(of byte: UInt8) -> UInt32? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(byte) - 48
        case UInt8(ascii: "A")...UInt8(ascii: "F"): UInt32(byte) - 55
        case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt32(byte) - 87
        default: nil
        }
    }
}
