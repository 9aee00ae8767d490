import NIOCore
import Testing

@testable import LayoverReplay

struct TildeSearchTests {
    @Test(arguments: [
        (BodyType.json, "a~b", true), (.json, #"a\u007eb"#, true), (.json, #"a\u007Eb"#, true), (.json, "a%7eb", false),
        (.form, "a%7eb", true), (.form, "a%7Eb", true), (.form, "a~b", true), (.form, #"a\u007eb"#, false),
        (.json, #"a\u007fb\"#, false), (.form, "%%7", false), (.other, "~", false), (.json, "", false),
    ])
    func everySpellingIsFoundHoweverTheBytesAreCut(type: BodyType, text: String, isFound: Bool) {
        let bytes = Array(text.utf8)
        for first in 0...bytes.count {
            for second in first...bytes.count {
                var search = TildeSearch(type)
                for part in [bytes[..<first], bytes[first..<second], bytes[second...]] { search.read(ByteBuffer(bytes: part)) }
                #expect(search.hasFound == isFound, "cut at \(first) and \(second)")
            }
        }
        var search = TildeSearch(type)
        for byte in bytes { search.read(ByteBuffer(bytes: [byte])) }
        #expect(search.hasFound == isFound)
    }
}
