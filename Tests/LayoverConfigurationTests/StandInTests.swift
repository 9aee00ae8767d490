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
