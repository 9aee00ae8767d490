import Testing

@testable import LayoverConfiguration

@Suite struct MaskingTests {
    private let text = """
        {"admin": {"token": "hush"}, "reachability": {"probe": {"url": "http://me:hush@a.example/x@y"}},
         "routes": {"api.v1": {"setFields": {"Authorization": "Bearer hush", "X-Api-Key": "hush", "Accept": "text/html"},
           "addFields": {"Cookie": "hush"}}}}
        """

    @Test func secretsAreMaskedAndTheRestIsShown() throws {
        let loaded = try load(text)
        let values = Dictionary(uniqueKeysWithValues: loaded.entries.map { ($0.path, $0.value) })
        #expect(values["admin.token"] == .text("***"))
        #expect(values["reachability.probe.url"] == .text("http://***@a.example/x@y"))
        #expect(
            values["routes.api.v1.setFields"]
                == .object([
                    "Authorization": .text("***"), "X-Api-Key": .text("***"), "Accept": .text("text/html"),
                ]))
        #expect(values["routes.api.v1.addFields"] == .object(["Cookie": .text("***")]))
        #expect(!loaded.masked.indentedText.contains("hush"))
        #expect(loaded.settings.admin.token == "hush")
    }

    @Test func theAbsenceOfASecretIsNoSecret() throws {
        let entry = try load("{}").entries.first { $0.path == "admin.token" }
        #expect(entry?.value == .null)
    }

    @Test func whatIsShownCanBeLoadedAgain() throws {
        let text = """
            {"policies": {"a": {"delay": {"type": "constant", "every": "3s"}}},
             "routes": {"r.1": {"host": "*.example.com", "policy": "a", "upstream": "http://a.example/b"}}}
            """
        let once = try load(text)
        let again = try load(once.masked.indentedText)
        #expect(again.masked == once.masked)
        #expect(again.settings.routes.routes == once.settings.routes.routes)
    }

    @Test func everyKeyIsShownWithItsSource() throws {
        let loaded = try load(#"{"policies": {"default": {"priority": 1}, "a": {"holdMax": "1s"}}}"#)
        #expect(loaded.sources["policies.a.holdMax"] == .file("config.json"))
        #expect(loaded.sources["policies.a.priority"] == .policy("default"))
        #expect(loaded.sources["policies.a.lifetime"] == .standard)
        #expect(loaded.sources["policies.a.delay.every"] == nil)
        let paths = Set(loaded.entries.map(\.path))
        #expect(Schema.global.allSatisfy { paths.contains($0.path.joined(separator: ".")) })
    }
}
