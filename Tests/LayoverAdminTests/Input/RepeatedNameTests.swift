import Testing

@testable import LayoverAdmin

struct RepeatedNameTests {
    private static let texts: [(String, String?)] = [
        ("{}", nil), ("", nil), ("\"a\"", nil), ("{\"a\":1,\"b\":2}", nil), ("{\"a\":1,\"a\":2}", "a"),
        ("{\"a\":\"a\",\"b\":\"b\"}", nil), ("{\"a\":[\"a\",\"a\",{\"a\":1}],\"b\":{\"a\":{\"a\":1}}}", nil),
        ("[{\"a\":1},{\"a\":1}]", nil), ("[{\"a\":1},{\"b\":1,\"c\":[],\"b\":2}]", "b"),
        ("{\"x\":{\"b\":[{}],\"b\":{}}}", "b"), ("{\"x\":{\"a\":1},\"a\":2,\"x\":3}", "x"),
        ("{\"a\\\"\":1,\"a\":2}", nil), ("{\"\\u0061\":1,\"a\":2}", "a"), ("{\"\":1,\"\":2}", ""),
        ("{\"a\":1,,\"a\":2", "a"), ("}]{\"a", nil), ("{\"a\":1,\"a", nil), ("{\"a\\", nil),
    ]

    @Test(arguments: texts)
    func repeatedNameInAnObjectIsFound(text: String, name: String?) {
        #expect(RepeatedName.first(in: Array(text.utf8)) == name)
    }

    private static let bodies: [(String, String, String)] = [
        ("/v1/pending/hold", "{\"all\":true,\"dryRun\":true,\"dryRun\":false}", "'dryRun' appears twice in one object."),
        ("/v1/pending/hold", "{\"all\":true,\"dryRun\":true,\"dry\\u0052un\":false}", "'dryRun' appears twice in one object."),
        ("/v1/pending/hold", "{\"filter\":{\"host\":\"a\",\"host\":\"shop.example\"}}", "'host' appears twice in one object."),
        ("/v1/pending/hold", "{\"all\":true}".map { "\($0)\u{0}" }.joined(), "The body is no valid JSON."),
    ]

    @Test(arguments: bodies)
    func repeatedNameIsRefusedAndChangesNothing(path: String, body: String, detail: String) async throws {
        let harness = AdminHarness()
        harness.park(1)
        let answer = try await harness.post(path, body).expectStatus(400)
        #expect(answer.json["kind"] as? String == "malformed_body")
        #expect(answer.json["detail"] as? String == detail)
        #expect(try await harness.send("GET", "/v1/pending?state=held").ids.isEmpty)
    }
}
