import LayoverCore
import LayoverEngine
import LayoverTestSupport
import Testing

@testable import LayoverProxy

/// Routes by base URL and stored responses share one web origin, and must not script one another.
struct OwnOriginTests {
    private static func routes(_ configuration: inout ProxyConfiguration) {
        var api = Route(name: "api", policy: .standard)
        api.upstream = .init(origin: Origin(scheme: .https, host: "api.test"), basePath: "")
        var standIn = Policy.standard
        standIn.name = "standIn"
        standIn.automaticAttemptsMax = 1
        standIn.onExhausted = .standIn(StandInResponse(status: 200, fields: [], body: "<script>1</script>"))
        var other = Route(name: "other", policy: standIn)
        other.upstream = .init(origin: Origin(scheme: .https, host: "other.test"), basePath: "")
        var dev = Route(name: "dev", policy: .standard)
        dev.host = .exact("dev.test")
        configuration.routes = RouteTable(policies: ["standIn": standIn], routes: [api, other, dev])
    }

    /// The first of its name decides in browsers (Fetch, "determine nosniff"); of policies all count.
    private static func expectGuarded(_ response: Answer) {
        #expect(response["Content-Security-Policy"] == "sandbox", "\(response.statusLine)")
        #expect(response["X-Content-Type-Options"] == "nosniff", "\(response.statusLine)")
    }

    private static func expectUntouched(_ response: Answer) {
        #expect(response["Content-Security-Policy"] == nil, "\(response.statusLine)")
        #expect(response["X-Content-Type-Options"] == nil, "\(response.statusLine)")
    }

    @Test func upstreamResponseThroughARouteIsSandboxed() async throws {
        let fields = ["Content-Type: text/html", "X-Content-Type-Options: none", "Content-Security-Policy: default-src *", "Content-Length: 2"]
        try await withProxy(script: { $0.respondOnceSent(200, fields, body: "ok") }, configuration: Self.routes) { proxy in
            let response = try await proxy.answer(to: .own("GET", "/.layover/route/api/page"))
            #expect(response.status == 200 && response.body == "ok")
            Self.expectGuarded(response)
            #expect(response.values("Content-Security-Policy") == ["sandbox", "default-src *"])
            #expect(response.values("X-Content-Type-Options") == ["nosniff", "none"])
        }
    }

    @Test func responsesOfTheProxyItselfAreSandboxed() async throws {
        try await withProxy(script: { $0.fail(.tlsCertificateError, phase: .securing) }, configuration: Self.routes) { proxy in
            for (request, status) in [
                (String.own("GET", "/.layover/route/none/"), 404), (.own("GET", "/.layover/nothing"), 404),
                (.own("GET", "/.layover/tickets/1"), 404), (.own("GET", "/.layover/route/api/x"), 502),
                (.own("GET", "/.layover/route/api/x", ["Sec-Fetch-Site: cross-site"]), 403),
                (.own("GET", "/.layover/route/other/x"), 502), (.own("GET", "/"), 200),
            ] {
                let response = try await proxy.answer(to: request)
                #expect(response.status == status, "\(request)")
                Self.expectGuarded(response)
            }
        }
    }

    @Test func aStandInThroughARouteIsSandboxed() async throws {
        try await withProxy(script: { $0.fail() }, configuration: Self.routes) { proxy in
            let response = try await proxy.answer(to: .own("GET", "/.layover/route/other/x"))
            #expect(response.status == 200 && response.body == "<script>1</script>")
            Self.expectGuarded(response)
        }
    }

    @Test func ticketsAndStoredResponsesAreSandboxed() async throws {
        try await withProxy(tickets: TestStore(), configuration: Self.routes) { proxy in
            let accepted = try await proxy.answer(
                to: "POST /.layover/route/api/x HTTP/1.1\r\nHost: localhost\r\nPrefer: respond-async, wait=0\r\nContent-Length: 0\r\n\r\n")
            #expect(accepted.status == 202)
            Self.expectGuarded(accepted)
            let id = try #require(accepted.ticket)
            try await proxy.nextAttempt().answerWell(200, ["Content-Type: text/html"], body: "<script>1</script>")
            Self.expectGuarded(try await proxy.until(id, is: .delivered))
            let stored = try await proxy.response(id)
            #expect(stored.body == "<script>1</script>")
            Self.expectGuarded(stored)
        }
    }

    @Test func responsesToMalformedRequestsAreSandboxed() async throws {
        try await withProxy(connectionCountMax: 1) { proxy in
            let first = try await proxy.client(sending: .own("GET", "/"))
            #expect(try await first.answer().status == 200)
            let second = try await proxy.connect()
            let tooMany = try await second.answer().expectStatus(503)
            Self.expectGuarded(tooMany)
            try await first.send("nonsense\r\n\r\n")
            let malformed = try await first.answer().expectStatus(400)
            Self.expectGuarded(malformed)
        }
    }

    @Test func responseOfTheProxyPrintsWithoutItsValues() {
        let response = OwnResponse(status: 200, fields: [("Set-Cookie", "a=hush")], body: "hush")
        for text in ["\(response)", String(reflecting: response), "\([response])"] {
            #expect(text.contains("200, 1 fields, 4 bytes of body"))
            #expect(!text.contains("hush"))
        }
    }

    @Test func responsesOfOtherOriginsAreNotChanged() async throws {
        try await withProxy(script: { $0.respondOnceSent(200, ["Content-Length: 2"], body: "ok") }, configuration: Self.routes) { proxy in
            Self.expectUntouched(try await proxy.answer(to: .get("/.layover/route/api/x")))
            Self.expectUntouched(try await proxy.answer(to: "GET /x HTTP/1.1\r\nHost: dev.test\r\n\r\n"))
        }
    }
}
