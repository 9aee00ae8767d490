import LayoverCore
import Testing

@testable import LayoverConfiguration

/// `onExhausted` as a response of one's own.
@Suite struct StandInTests {
    private func policy(_ rule: String) throws -> Policy? {
        try load(#"{"policies": {"a": {"onExhausted": \#(rule), "automaticAttemptsMax": 2}}}"#)
            .settings.routes.policies["a"]
    }

    @Test(arguments: [
        ("{}", StandInResponse(status: 200)),
        (#"{"status": 200, "fields": {}, "body": ""}"#, StandInResponse(status: 200)),
        (#"{"status": 599, "body": "ö"}"#, StandInResponse(status: 599, body: "ö")),
        (#"{"status": 204}"#, StandInResponse(status: 204)),
        (#"{"status": 304, "body": ""}"#, StandInResponse(status: 304)),
        (
            #"{"fields": {"X-B": "", "Content-Type": "application/json"}, "body": "[]"}"#,
            StandInResponse(
                status: 200,
                fields: [
                    .init(name: "Content-Type", value: "application/json"), .init(name: "X-B", value: ""),
                ],
                body: "[]")
        ),
    ])
    func standInReachesThePolicy(rule: String, expected: StandInResponse) throws {
        #expect(try policy(rule)?.onExhausted == .standIn(expected))
    }

    @Test func standInIsReadFromAVariableAsJSON() throws {
        let name = "LAYOVER_POLICIES_DEFAULT_ON_EXHAUSTED"
        let made = try load("{}", environment: [name: #"{"status": 503}"#]).settings.routes.standardPolicy
        #expect(made.onExhausted == .standIn(.init(status: 503)))
        #expect(
            try load("{}", environment: [name: "ask"]).settings.routes.standardPolicy.onExhausted == .ask)
    }

    @Test(arguments: [
        (#"{"status": 199}"#, ".status: 199 is not between 200 and 599."),
        (#"{"status": 600}"#, ".status: 600 is not between 200 and 599."),
        (#"{"status": "200"}"#, ".status: \"200\" is not a whole number."),
        (#"{"staus": 200}"#, ".staus: unknown key (did you mean status?)."),
        (#"{"body": {}}"#, ".body: expected a string (body)."),
        (#"{"status": 204, "body": "x"}"#, ".body: a response with status 204 has no body."),
        (#"{"status": 205, "body": "x"}"#, ".body: a response with status 205 has no body."),
        (#"{"status": 304, "body": "x"}"#, ".body: a response with status 304 has no body."),
        (#"{"fields": []}"#, ".fields: expected an object, not a list."),
        (#"{"fields": {"A B": "x"}}"#, ".fields.A B: invalid field name."),
        (#"{"fields": {"": "x"}}"#, ".fields.: invalid field name."),
        (
            #"{"fields": {"X": "a\r\nY: b"}}"#,
            ".fields.X: a value must not contain control characters, or begin or end with a space."
        ),
        (
            #"{"fields": {"X": "a\u0000"}}"#,
            ".fields.X: a value must not contain control characters, or begin or end with a space."
        ),
        (
            #"{"fields": {"X": "1", "x": "2"}}"#,
            ".fields.x: duplicate field: the names differ only in case."
        ),
        (#"{"fields": {"X": 1}}"#, ".fields.X: expected a string, not a number."),
    ])
    func invalidStandInIsRefused(rule: String, rest: String) {
        #expect(
            complaints(#"{"policies": {"a": {"onExhausted": \#(rule)}}}"#)
                == ["config.json: policies.a.onExhausted\(rest)"])
    }

    /// Framing, fields of one connection, and what tells a stand-in from a response of the origin.
    @Test(arguments: [
        "Content-Length", "content-length", "Transfer-Encoding", "Connection", "Keep-Alive", "TE", "Trailer",
        "Upgrade", "Proxy-Connection", "Proxy-Authenticate", "Via", "Proxy-Status",
    ])
    func fieldsThatLayoverWritesItselfAreRefused(name: String) {
        #expect(
            complaints(#"{"policies": {"a": {"onExhausted": {"fields": {"\#(name)": "1"}}}}}"#) == [
                "config.json: policies.a.onExhausted.fields.\(name): Layover sets the field \(name) itself."
            ])
    }

    @Test func theBodyHasALimit() throws {
        let most = String(repeating: "x", count: StandInResponse.bodyByteCountMax)
        #expect(try policy(#"{"body": "\#(most)"}"#)?.onExhausted == .standIn(.init(status: 200, body: most)))
        #expect(
            complaints(#"{"policies": {"a": {"onExhausted": {"body": "\#(most)x"}}}}"#) == [
                "config.json: policies.a.onExhausted.body: the body exceeds 64KiB (65537 bytes)."
            ])
    }

    @Test func theFieldsHaveALimit() throws {
        let most = String(repeating: "x", count: StandInResponse.fieldByteCountMax - 1)
        #expect(try policy(#"{"fields": {"X": "\#(most)"}}"#) != nil)
        #expect(
            complaints(#"{"policies": {"a": {"onExhausted": {"fields": {"X": "\#(most)x"}}}}}"#) == [
                "config.json: policies.a.onExhausted.fields: names and values exceed 8KiB (8193 bytes)."
            ])
    }

    @Test func standInIsShownAsInAFile() throws {
        let text = """
            {"policies": {"a": {"automaticAttemptsMax": 2,
              "onExhausted": {"status": 203, "fields": {"X-A": "1"}, "body": "later"}}}}
            """
        let once = try load(text)
        let again = try load(once.masked.indentedText)
        #expect(again.settings.routes.policies == once.settings.routes.policies)
    }
}
