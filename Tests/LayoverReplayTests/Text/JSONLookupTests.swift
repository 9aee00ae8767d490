import Testing

@testable import LayoverReplay

struct JSONLookupTests {
    private func look(_ keys: [String], _ text: String, depthMax: Int = 128) throws -> JSONLookup.Result {
        try Array(text.utf8).withUnsafeBytes { try JSONLookup.value(at: keys, in: $0, depthMax: depthMax) }
    }

    @Test(arguments: [
        ("a", #"{"a":"x"}"#, "x"), ("a", #" { "a" : 12 } "#, "12"), ("a.b", #"{"a":{"b":true}}"#, "true"),
        ("a.1", #"{"a":[0,false]}"#, "false"), ("1.0", #"[0,["x"]]"#, "x"), ("id", #"{"id":12345678901234567890123}"#, "12345678901234567890123"),
        ("id", #"{"id":1.50e+3}"#, "1.50e+3"), ("id", #"{"id":-0}"#, "-0"), ("a", #"{"a":"\u00e4\ud83d\ude00\/\n\""}"#, "ä😀/\n\""),
        ("ä", #"{"\u00e4":""}"#, ""), ("a", #"{"a":1,"a":2}"#, "2"), ("0", "\u{FEFF}[7]", "7"), ("a", #"{"b":{"a":1},"a":3}"#, "3"),
    ])
    func scalarsAreFound(path: String, text: String, value: String) throws {
        #expect(try look(path.split(separator: ".").map(String.init), text) == .scalar(Array(value.utf8)))
    }

    @Test(arguments: [
        ("a", "{}", JSONLookup.Result.absent), ("a", #"{"a":null}"#, .null), ("a", #"{"a":{}}"#, .container), ("a", #"{"a":[1]}"#, .container),
        ("a.b", #"{"a":"b"}"#, .absent), ("a.b", #"{"a":null}"#, .absent), ("a.b", #"{"a":{"b":1},"a":{}}"#, .absent),
        ("2", "[0,1]", .absent), ("01", "[0,1]", .absent), ("-1", "[0,1]", .absent), ("a", "[0,1]", .absent), ("a", "7", .absent), ("0", "[]", .absent),
    ])
    func objectsArraysAndNullAreReported(path: String, text: String, result: JSONLookup.Result) throws {
        #expect(try look(path.split(separator: ".").map(String.init), text) == result)
    }

    @Test(arguments: [
        "", " ", "{", "}", "{\"a\":1", "{\"a\":1,}", "{\"a\":1 \"b\":2}", "{a:1}", "[1,]", "[,1]", "{\"a\":1}x", "{\"a\":01}", "{\"a\":1.}",
        "{\"a\":.5}", "{\"a\":+1}", "{\"a\":-}", "{\"a\":1e}", "{\"a\":NaN}", "{\"a\":tru}", "{\"a\":\"\\x\"}", "{\"a\":\"\\u12\"}",
        "{\"a\":\"\\ud800\"}", "{\"a\":\"\\ud800\\n\"}", "{\"a\":\"\\ud800\\u0041\"}", "{\"a\":\"\\ud800\\ud800\"}", "{\"a\":\"\\udc00\"}", "{\"a\":\"\u{1}\"}", "{\"a\":\"", "{\"a\":\"\\", "{\"a\"}", "nul", "[1}",
    ])
    func malformedTextHasNoValues(text: String) {
        #expect(throws: JSONLookup.Failure.malformed) { try look(["a"], text) }
    }

    @Test func nestingIsLimited() throws {
        let deep = String(repeating: "[", count: 10) + String(repeating: "]", count: 10)
        #expect(throws: JSONLookup.Failure.tooDeep) { try look(["0"], deep, depthMax: 8) }
        #expect(try look(["0"], deep, depthMax: 9) == .container)
        #expect(throws: JSONLookup.Failure.tooDeep) { try look(["a"], String(repeating: "[", count: 1_000_000)) }
    }

    @Test func everyTextThatIsCutOffIsMalformed() {
        let text = #"{"k":[1.5e-3,true,null,"\ud83d\ude00é"],"a":"x\\"}"#
        #expect((try? look(["a"], text)) == .scalar(Array("x\\".utf8)))
        for count in 0..<text.utf8.count {
            _ = Array(text.utf8.prefix(count)).withUnsafeBytes { bytes in
                #expect(throws: JSONLookup.Failure.malformed) { try JSONLookup.value(at: ["a"], in: bytes, depthMax: 9) }
            }
        }
    }
}
