import Testing

@testable import LayoverConfiguration

@Suite struct MaskingTests {
    private let text = """
        {"admin": {"token": "hush"}, "reachability": {"probe": {"url": "http://me:hush@a.example/x@y?key=hush&page=2"}},
         "routes": {"api.v1": {"setFields": {"Authorization": "Bearer hush", "X-Api-Key": "hush", "Accept": "text/html"},
           "addFields": {"Cookie": "hush"}, "key": "hush"}}}
        """

    @Test func secretsAreMaskedAndTheRestIsShown() throws {
        let loaded = try load(text)
        let values = Dictionary(uniqueKeysWithValues: loaded.entries.map { ($0.path, $0.value) })
        #expect(values["admin.token"] == .text("***"))
        #expect(values["reachability.probe.url"] == .text("http://***@a.example/x@y?key=***&page=2"))
        #expect(
            values["routes.api.v1.setFields"]
                == .object([
                    "Authorization": .text("***"), "X-Api-Key": .text("***"), "Accept": .text("text/html"),
                ]))
        #expect(values["routes.api.v1.addFields"] == .object(["Cookie": .text("***")]))
        #expect(values["routes.api.v1.key"] == .text("***"))
        #expect(!loaded.masked.indentedText.contains("hush"))
        #expect(loaded.settings.admin.token == "hush")
    }

    @Test func theAbsenceOfASecretIsNoSecret() throws {
        let entry = try load("{}").entries.first { $0.path == "admin.token" }
        #expect(entry?.value == .null)
    }

    @Test func argumentsOfACommandAreSecret() throws {
        var settings = Settings()
        settings.notify.command = ["/bin/send", "--token", "hush"]
        #expect(!"\(settings)".contains("hush"))
        let found = Schema.global.first { $0.path == ["notify", "command"] }
        let key = try #require(found)
        #expect(Masking.mask(key.write(settings), as: key.secrecy) == .text("***"))
        for text in [#""send --token hush""#, #"{"send": "hush"}"#] {
            let lines = complaints(#"{"notify": {"command": \#(text)}}"#)
            #expect(lines.count == 1 && !lines.joined().contains("hush"), "\(lines)")
        }
    }

    @Test func credentialsOfAStandInAreMasked() throws {
        let text = """
            {"policies": {"a": {"automaticAttemptsMax": 1, "onExhausted":
              {"status": 201, "fields": {"Set-Cookie": "hush", "X": "y"}, "body": "b"}}}}
            """
        let value = try load(text).entries.first { $0.path == "policies.a.onExhausted" }?.value
        #expect(value?.text == #"{"body":"b","fields":{"Set-Cookie":"***","X":"y"},"status":201}"#)
        let plain = try load("{}").entries.first { $0.path == "policies.ask.onExhausted" }?.value
        #expect(plain == .text("ask"))
    }

    @Test func aDelayOfAnotherTypeHasInheritedNothing() throws {
        let loaded = try load(
            """
            {"policies": {"default": {"delay": {"jitter": "equal"}}, "a": {},
              "b": {"delay": {"type": "immediate"}}}}
            """)
        #expect(loaded.sources["policies.a.delay.jitter"] == .policy("default"))
        #expect(loaded.sources["policies.b.delay.jitter"] == .standard)
        #expect(loaded.sources["policies.b.delay.type"] == .file("config.json"))
    }

    @Test func eachKeyIsListedWithItsValueAndItsSource() throws {
        let loaded = try load(
            #"{"admin": {"token": "hush"}}"#, environment: ["LAYOVER_LOG_LEVEL": "debug"],
            overrides: ["proxy.threads": "2"], named: "a\nb.json")
        let lines = loaded.entries.map { "\($0.path) = \($0.value.text) (\($0.source.description))" }
        #expect(lines.contains("admin.token = \"***\" (a\nb.json)"))
        #expect(lines.contains(#"log.level = "debug" (LAYOVER_LOG_LEVEL)"#))
        #expect(lines.contains("proxy.threads = 2 (command line)"))
        #expect(lines.contains(#"policies.ask.delay.every = "3s" (default)"#))
    }

    @Test func shownConfigurationCanBeLoadedAgain() throws {
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
        #expect(loaded.sources["policies.ask.priority"] == .standard)
        let paths = Set(loaded.entries.map(\.path))
        #expect(Schema.global.allSatisfy { paths.contains($0.path.joined(separator: ".")) })
    }
}
