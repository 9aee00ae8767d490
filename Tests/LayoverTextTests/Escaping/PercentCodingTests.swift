import LayoverText
import Testing

struct PercentCodingTests {
    @Test func theClassesAreThoseOfTheGrammar() {
        let letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789".utf8
        for byte in UInt8.min ... .max {
            #expect(PercentCoding.isAlphanumeric(byte) == letters.contains(byte), "\(byte)")
            #expect(PercentCoding.isUnreserved(byte) == (letters.contains(byte) || "-._~".utf8.contains(byte)), "\(byte)")
        }
    }

    @Test func encodedTextIsDecodedAgain() {
        let bytes = Array(UInt8.min ... .max)
        let encoded = PercentCoding.encode(bytes, isPlain: PercentCoding.isUnreserved)
        #expect(encoded.allSatisfy { PercentCoding.isUnreserved($0) || $0 == UInt8(ascii: "%") })
        #expect(PercentCoding.decode(encoded) == bytes)
        #expect(PercentCoding.decodeLeniently(encoded) == bytes)
        #expect(PercentCoding.encode("/ ü".utf8, isPlain: PercentCoding.isUnreserved) == Array("%2F%20%C3%BC".utf8))
    }

    @Test(arguments: [("a%2fb%2F", "a/b/"), ("%25%32%46", "%2F"), ("", ""), ("a", "a")])
    func bothCasesAreRead(text: String, decoded: String) {
        #expect(PercentCoding.decode(text.utf8) == Array(decoded.utf8))
    }

    @Test(arguments: [("%", "%"), ("%2", "%2"), ("a%", "a%"), ("%2g%2F", "%2g/"), ("%+5", "%+5"), ("%%41", "%A"), ("%2%41", "%2A")])
    func aLonePercentSignIsAnErrorOrItself(text: String, lenient: String) {
        #expect(PercentCoding.decode(text.utf8) == nil)
        #expect(PercentCoding.decodeLeniently(Array(text.utf8)) == Array(lenient.utf8))
    }
}
