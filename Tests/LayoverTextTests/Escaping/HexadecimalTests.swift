import LayoverText
import Testing

struct HexadecimalTests {
    @Test func everyByteIsADigitOrNone() {
        let digits = Array("0123456789abcdef".utf8)
        for byte in UInt8.min ... .max {
            let scalar = Unicode.Scalar(byte)
            let value = scalar.isASCII ? Character(scalar).hexDigitValue.map { UInt8($0) } : nil
            #expect(Hexadecimal.value(of: byte) == value, "\(byte)")
            #expect(Hexadecimal.isLowercaseDigit(byte) == digits.contains(byte), "\(byte)")
        }
    }

    @Test func numbersHaveAllTheirDigits() {
        #expect(Hexadecimal.text(UInt8(0)) == "00")
        #expect(Hexadecimal.text(UInt8(0xAB)) == "ab")
        #expect(Hexadecimal.text(UInt32(0x1F)) == "0000001f")
        #expect(Hexadecimal.text(UInt64.max) == "ffffffffffffffff")
        #expect(Hexadecimal.text(UInt64.zero) == "0000000000000000")
    }

    @Test func bytesAreWrittenAndReadAgain() {
        let bytes = Array(UInt8.min ... .max)
        #expect(Hexadecimal.bytes(Hexadecimal.text(of: bytes)) == bytes)
        #expect(Hexadecimal.bytes("00fF7A") == [0, 255, 122])
        #expect(Hexadecimal.bytes("") == [])
    }

    @Test(arguments: ["0", "abc", "0g", "+1", "-1", " 1", "0x10", "٠٠"])
    func invalidHexadecimalIsNil(text: String) {
        #expect(Hexadecimal.bytes(text) == nil)
    }

    @Test(arguments: [(0, 4, UInt32(0x12aF)), (1, 2, 0x2a), (2, 4, nil), (0, 0, 0), (4, 1, nil)])
    func numbersOfFixedLengthAreRead(offset: Int, count: Int, number: UInt32?) {
        Array("12aFx".utf8).withUnsafeBytes { bytes in
            #expect(Hexadecimal.number(at: offset, count: count, in: bytes, end: bytes.count) == number)
        }
    }
}
