import LayoverCore
import LayoverEngine
import LayoverHTTP
import LayoverTestSupport
import NIOCore
import Retry
import Testing

@testable import LayoverProxy

/// WebSockets by absolute form and by base URL, to origins without TLS.
struct UpgradeTests {
    private static func request(_ target: String = "http://o.test/chat?x", host: String = "o.test", _ fields: String = "") -> String {
        "GET \(target) HTTP/1.1\r\nHost: \(host)\r\nConnection: keep-alive, Upgrade\r\nUpgrade: WebSocket\r\n"
            + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nX-Empty:\r\nProxy-Authorization: Basic eA==\r\n\(fields)\r\n"
    }

    private static let agreed =
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: s3pP\r\n\r\n"

    /// - Parameter test: Is given both ends, and the lines of the head that came to the origin.
    private static func withDialled(
        _ request: String = Self.request(), configuration: (inout ProxyConfiguration) -> Void = { _ in },
        _ test: (TestProxy, RawClient, RawClient, [String]) async throws -> Void
    ) async throws {
        try await withAttempt(of: request, configuration: configuration) { proxy, near, attempt in
            #expect(attempt.request.purpose == .upgrade)
            let far = try await attempt.dial()
            try await test(proxy, near, far, far.head().split(separator: "\r\n").map(String.init))
        }
    }

    @Test func aWebSocketIsRelayed() async throws {
        try await Self.withDialled { proxy, near, far, head in
            #expect(
                head == [
                    "GET /chat?x HTTP/1.1", "Host: o.test", "Upgrade: WebSocket", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "X-Empty:",
                    "Connection: Upgrade", "Via: 1.1 layover-0a1b2c3d",
                ])
            try await far.send(Self.agreed + "\u{81}\u{2}hi")
            let response = try await near.answer()
            #expect(response.statusLine == "HTTP/1.1 101 Switching Protocols")
            #expect(response["Upgrade"] == "websocket" && response["Connection"] == "Upgrade" && response["Sec-WebSocket-Accept"] == "s3pP")
            #expect(response["Content-Length"] == nil && response["Transfer-Encoding"] == nil)
            #expect(try await near.text(4) == "\u{81}\u{2}hi")
            try await near.send("GET http://other.test/ HTTP/1.1\r\n\r\n")
            #expect(try await far.text(35) == "GET http://other.test/ HTTP/1.1\r\n\r\n")
            try await TunnelTests.expectOpen(near, far, proxy)
            try await TunnelTests.waitForNoTunnel(proxy)
        }
    }

    /// By its base URL, and in origin form by its host.
    @Test(arguments: [
        ("/.layover/route/api/ws", "localhost", "GET /base/ws HTTP/1.1", ["Host: up.test:81", "Authorization: Bearer t"]),
        ("/ws", "dev.test", "GET /ws HTTP/1.1", ["Host: dev.test"]),
    ])
    func aWebSocketThroughARouteIsRelayed(target: String, host: String, line: String, fields: [String]) async throws {
        func routes(_ configuration: inout ProxyConfiguration) {
            var api = Route(name: "api", policy: .standard)
            api.upstream = .init(origin: Origin(scheme: .http, host: "up.test", port: 81), basePath: "/base")
            api.setFields = [.init(name: "Authorization", value: "Bearer t")]
            var dev = Route(name: "dev", policy: .standard)
            dev.host = .exact("dev.test")
            configuration.routes = RouteTable(routes: [api, dev])
        }
        try await Self.withDialled(Self.request(target, host: host), configuration: routes) { proxy, near, far, head in
            #expect(head.first == line && Set(fields).isSubset(of: head), "\(head)")
            try await far.send(Self.agreed + "hi")
            #expect(try await near.answer().status == 101)
            #expect(try await near.text(2) == "hi")
            near.close()
            #expect(try await far.ending().rest == "")
        }
    }

    /// No byte of the next request may be sent to the origin that refused the upgrade.
    @Test(arguments: [
        ("Content-Length: 2\r\n\r\nno", "no"), ("Transfer-Encoding: chunked\r\n\r\n1\r\nn\r\n1\r\no\r\n0\r\nX: y\r\n\r\n", "no"),
        ("Content-Length: 0\r\n\r\n", ""),
    ])
    func responseOfAnOriginThatRefusesTheUpgradeIsDelivered(rest: String, body: String) async throws {
        try await Self.withDialled { proxy, near, far, _ in
            try await far.send("HTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\nHTTP/1.1 403 No\r\nConnection: keep-alive\r\n" + rest)
            #expect(try await near.answer().status == 103)
            let response = try await near.answer()
            #expect(response.status == 403 && response.body == body)
            #expect(try await far.ending().rest == "")
            try await near.send(.get("/next"))
            try await proxy.nextAttempt().respond(200, ["Content-Length: 0"])
            #expect(try await near.answer().status == 200)
            #expect(proxy.loop.metrics.openTunnelCount.current == 0)
        }
    }

    private static func retrying(_ configuration: inout ProxyConfiguration) {
        configuration.routes = .standard {
            $0.retryOn = [.connectivity, .status(503)]
            $0.delay = DelaySchedule(.constant(.seconds(1)))
        }
    }

    /// A busy server of WebSockets is asked again as one of plain requests, and others stay away from it meanwhile.
    @Test func statusInRetryOnOfAnUpgradeIsRequestedAgain() async throws {
        try await Self.withDialled(configuration: Self.retrying) { proxy, near, far, _ in
            try await far.send("HTTP/1.1 503 Busy\r\nRetry-After: 5\r\nContent-Length: 4\r\n\r\naway")
            let entry = try await proxy.entry()
            #expect(entry.lastFailure?.evidence == .answered && entry.waitingFor == .pause)
            _ = try await far.ending()
            let other = try await proxy.client(sending: .get("/"))
            try await eventually("two entries") { await proxy.engine.liveEntries().count >= 2 }
            #expect(proxy.upstream.startedCount == 1, "the pause counts for plain requests, too")
            let again = try await proxy.nextAttempt(after: .seconds(5), "the canary behind the pause")
            #expect(again.request.purpose == .upgrade)
            let second = try await again.dial()
            _ = try await second.head()
            try await second.send(Self.agreed + "hi")
            let response = try await near.answer()
            #expect(response.status == 101 && response["Proxy-Status"] == #"layover; details="attempts=2 waited=5.0s""#)
            #expect(try await near.text(2) == "hi")
            _ = try await proxy.entry(.delivered)
            try await proxy.nextAttempt("the request that waited").respond(200, ["Content-Length: 2"], body: "ok")
            #expect(try await other.answer().body == "ok")
        }
    }

    /// The client would be gone when the origin wants to be asked again. All of the withheld response is passed on.
    @Test func responseToAnUpgradeThatMayNotBeRetriedIsPassedOn() async throws {
        let routes = RouteTable.standard { ($0.retryOn, $0.holdMax) = ([.connectivity, .status(503)], .seconds(1)) }
        try await Self.withDialled(configuration: { $0.routes = routes }) { proxy, near, far, _ in
            let body = String(repeating: "busy", count: 50_000)
            try await far.send("HTTP/1.1 503 Busy\r\nRetry-After: 5\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
            let response = try await near.answer()
            #expect(response.status == 503 && response.body == body)
        }
    }

    @Test func closeDelimitedResponseToAnUpgradeIsDelivered() async throws {
        try await Self.withDialled { proxy, near, far, _ in
            try await far.send("HTTP/1.0 200 OK\r\n\r\nall of it")
            far.close()
            #expect(try await near.answer().body == "all of it")
        }
    }

    @Test(arguments: ["", "HTTP/1.1 101 Switching", "nonsense\r\n\r\n", "HTTP/1.1 101 X\r\nContent-Length: 5\r\n\r\n"])
    func invalidResponseToAnUpgradeIsAFailure(text: String) async throws {
        try await Self.withDialled(configuration: { $0.routes = .standard { $0.mode = .pass } }) { proxy, near, far, _ in
            if !text.isEmpty { try await far.send(text) }
            far.close()
            try await near.answer().expectProblem(502, evidence: .maybeApplied)
        }
    }

    /// RFC 9110 section 7.8: a server must not switch to a protocol that it was not asked for. HTTP/1.0 has no upgrades.
    @Test(arguments: [
        "HTTP/1.1 101 X\r\n", "HTTP/1.1 101 X\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n",
        "HTTP/1.1 101 X\r\nUpgrade: websocket, h2c\r\n", "HTTP/1.1 101 X\r\nUpgrade: websocket\r\nUpgrade: websocket\r\n",
        "HTTP/1.0 101 X\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n",
    ])
    func switchToAnotherProtocolIsAFailure(head: String) async throws {
        try await Self.withDialled { proxy, near, far, _ in
            try await far.send(head + "\r\n")
            try await near.answer().expectProblem(502, "http_upgrade_failed", evidence: .maybeApplied)
            #expect(try await far.ending().rest == "")
            #expect(await proxy.engine.liveEntries().isEmpty, "no second attempt")
        }
    }

    /// What a GET meets on the direct way is reported alike (`BrokenOriginTests`, `FramingTests`).
    @Test(arguments: [
        ("", "connection_terminated"), ("HTTP/1.1 200 OK\r\nContent-Le", "http_response_incomplete"),
        ("HTTP/1.1 103 X\r\n\r\n", "http_response_incomplete"), ("silent", "http_response_timeout"),
        ("HTTP/1.1 200 OK\r\nX: \(String(repeating: "y", count: 3_000))\r\n\r\n", "http_response_header_section_size"),
    ])
    func brokenResponseToAnUpgradeHasTheKindOfOtherRequests(text: String, kind: String) async throws {
        func configuration(_ configuration: inout ProxyConfiguration) {
            configuration.routes = RouteTable.standard { $0.mode = .pass }
            if text == "silent" { configuration.attempt.firstByte = .milliseconds(300) }
            configuration.framing.headByteCountMax = 2_000
        }
        try await Self.withDialled(configuration: configuration) { proxy, near, far, _ in
            if text != "silent" {
                if !text.isEmpty { try await far.send(text) }
                far.close()
            }
            var response = try await near.answer()
            if response.status == 103 { response = try await near.answer() }
            #expect(response.member("kind") == kind && response.member("evidence") == "maybeApplied", "\(response.body)")
        }
    }

    @Test func stalledResponseToAnUpgradeIsCutOffAfterTheIdleTimeout() async throws {
        try await Self.withDialled(configuration: { $0.attempt.idle = .milliseconds(300) }) { proxy, near, far, _ in
            try await far.send("HTTP/1.1 403 No\r\nContent-Length: 5\r\n\r\nno")
            #expect(try await near.ending().rest.hasSuffix("\r\n\r\nno"))
            #expect(try await far.ending().rest == "")
        }
    }

    /// The evidence of a cancelled entry is in its timeline.
    @Test func cancelledUpgradeRecordsItsEvidence() async throws {
        try await withParked(Self.request()) { proxy, near, entry in
            #expect(entry.url == "http://o.test/chat?x" && entry.method == "GET")
            let far = try await proxy.retry(entry.id, "the retry").dial()
            _ = try await far.head()
            _ = await proxy.engine.command(.cancel, entry.id)
            #expect(try await near.answer().status == 502, "it was sent")
            #expect(try await far.ending().rest == "")
            try await proxy.settle()
            let records = await proxy.engine.entry(entry.id)?.attempts.records ?? []
            #expect(records.count == 2 && records.last?.evidence == .maybeApplied)
            let failure = records.last?.failure
            #expect(failure?.bytesSent ?? 0 > 100 && failure?.localAddress == "127.0.0.1" && failure?.remoteAddress == "127.0.0.1")
        }
    }

    @Test func upstreamConnectionIsClosedWhenTheUpgradeClientLeaves() async throws {
        try await Self.withDialled { proxy, near, far, _ in
            try await near.reset()
            #expect(try await far.ending().rest == "")
            #expect(await proxy.engine.liveEntries().isEmpty)
        }
    }
}
