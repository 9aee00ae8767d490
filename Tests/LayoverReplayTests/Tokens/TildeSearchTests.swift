import NIOCore
import Testing

@testable import LayoverReplay

struct TildeSearchTests {
    @Test(arguments: [
        (BodyType.json, "a~uuid~b", true), (.json, "a~ticket.", true), (.json, #"\u007euui\u0064\u007E"#, true),
        (.json, #"\u007e\u0074icket\u002e"#, true), (.json, "a~b ~ticket ~uuid", false), (.json, "%7euuid~", false),
        (.form, "a%7euuid%7E", true), (.form, "~ticke%74.", true), (.form, #"\u007euuid~"#, false), (.form, "%%7~uui", false),
        (.json, "~~uuid~", true), (.json, #"~uuid\u007f\"#, false), (.other, "~uuid~", false), (.json, "", false),
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
