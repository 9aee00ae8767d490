import Foundation
import Testing

@testable import LayoverConfiguration

@Suite struct JSONParserTests {
    @Test func everyKindOfValueIsRead() throws {
        let text = #" {"a": [null, true, false, 0, -12, 1.5, 2e3], "b": {"c": "é\n\u00e9\ud83d\ude00\/"}} "#
        #expect(
            try JSONParser.parse(text.utf8)
                == .object([
                    "a": .array([
                        .null, .bool(true), .bool(false), .integer(0), .integer(-12), .number(1.5),
                        .number(2000),
                    ]),
                    "b": .object(["c": .text("é\né😀/")]),
                ]))
    }

    @Test(arguments: [
        ("", "line 1, column 1: unexpected end: a value is missing"),
        ("{\n  \"a\": 1,\n}", "line 3, column 1: expected a name in double quotes"),
        ("{\"a\" 1}", "line 1, column 6: expected a colon after the name \"a\""),
        ("{\"a\": 1 \"b\": 2}", "line 1, column 9: expected a comma or }"),
        ("[1 2]", "line 1, column 4: expected a comma or ]"),
        ("[1,]", "line 1, column 4: unexpected character (comments are not allowed)"),
        ("{} x", "line 1, column 4: unexpected text after the value"),
        ("{\"a\": 1,\n \"a\": 2}", "line 2, column 2: the name \"a\" appears twice in one object"),
        ("\"abc", "line 1, column 1: the string is not closed"),
        ("\"a\nb\"", "line 1, column 3: a line break or control character in a string must be escaped"),
        ("\"\\x\"", "line 1, column 2: invalid escape sequence"),
        ("\"\\ud800\"", "line 1, column 2: invalid Unicode escape"),
        ("\"\\u12\"", "line 1, column 2: invalid Unicode escape"),
        ("01", "line 1, column 1: invalid number"),
        ("[1.]", "line 1, column 2: invalid number"),
        ("-", "line 1, column 1: invalid number"),
        ("1e999", "line 1, column 1: the number is too large"),
        ("// no", "line 1, column 1: unexpected character (comments are not allowed)"),
        ("tru", "line 1, column 1: unexpected character (comments are not allowed)"),
    ])
    func brokenTextIsRefusedWithItsPlace(text: String, message: String) {
        let error = #expect(throws: JSONSyntaxError.self) { try JSONParser.parse(text.utf8) }
        #expect(error?.description == message)
    }

    @Test func textThatIsNotUTF8IsRefused() {
        let error = #expect(throws: JSONSyntaxError.self) { try JSONParser.parse([0x22, 0xFF, 0x22]) }
        #expect(error?.description == "line 1, column 1: the string is not valid UTF-8")
    }

    @Test func aByteOrderMarkIsSkipped() throws {
        #expect(try JSONParser.parse([0xEF, 0xBB, 0xBF, 0x31]) == .integer(1))
    }

    @Test func deepNestingIsRefusedBeforeItExhaustsTheStack() throws {
        let deep = String(repeating: "[", count: 100_000)
        let error = #expect(throws: JSONSyntaxError.self) { try JSONParser.parse(deep.utf8) }
        #expect(error?.reason == "nested deeper than 64 levels")
        let allowed = String(repeating: "[", count: 64) + String(repeating: "]", count: 64)
        _ = try JSONParser.parse(allowed.utf8)
    }

    /// Mutations of a good text: whatever our parser takes, Foundation's takes too.
    @Test func acceptedTextIsAcceptedByFoundation() {
        let seed: UInt64 = 20_250_101
        var generator = LinearGenerator(state: seed)
        let good = Array(#"{"a":[1,-2.5e3,true,null,"x\u00e9\"y"],"b":{"c":"","d":[]}}"#.utf8)
        let spice = Array("{}[]:,\"\\0123456789.eE+-tfn u\u{1}".utf8)
        var acceptedCount = 0
        for _ in 0..<20_000 {
            var bytes = good
            for _ in 0..<Int.random(in: 1...2, using: &generator) {
                let place = Int.random(in: 0..<bytes.count, using: &generator)
                let byte = spice[Int.random(in: 0..<spice.count, using: &generator)]
                switch Int.random(in: 0..<3, using: &generator) {
                case 0: bytes[place] = byte
                case 1: bytes.insert(byte, at: place)
                default: bytes.remove(at: place)
                }
            }
            guard (try? JSONParser.parse(bytes)) != nil else { continue }
            acceptedCount += 1
            let foundation = try? JSONSerialization.jsonObject(with: Data(bytes), options: .fragmentsAllowed)
            #expect(foundation != nil, "seed \(seed): \(String(decoding: bytes, as: UTF8.self))")
        }
        #expect(acceptedCount > 1000, "seed \(seed)")
    }

    @Test func writtenTextReadsAsTheSameValue() throws {
        let value = JSONValue.object([
            "a": .array([.null, .bool(false), .integer(7), .number(0.2)]), "é\"\\\n\u{1B}": .text("\u{9B}\t"),
        ])
        #expect(try JSONParser.parse(value.text.utf8) == value)
        #expect(try JSONParser.parse(value.indentedText.utf8) == value)
        #expect(!value.text.unicodeScalars.contains { $0.value < 0x20 || (0x7F...0x9F).contains($0.value) })
    }
}
