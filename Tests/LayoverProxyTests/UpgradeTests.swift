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

    /// Dials, and gives both ends and the head that came to the origin.
    private static func dial(
        _ proxy: TestProxy, _ request: String = Self.request()
    ) async throws -> (near: RawClient, far: RawClient, head: [String]) {
        let near = try await proxy.client(sending: request)
        let attempt = try await proxy.nextAttempt()
        #expect(attempt.request.purpose == .upgrade)
        let end = try FarEnd()
        let far = try await end.client()
        attempt.deliver([.dialled(end.dialled())])
        return (near, far, try await head(far))
    }

    private static func head(_ far: RawClient) async throws -> [String] {
        try await far.received.take("the head of the request") { received in
            let text = Answer.text(received.bytes[...])
            guard let end = text.firstRange(of: "\r\n\r\n") else { return nil }
            received.bytes.removeFirst(text[..<end.upperBound].unicodeScalars.count)
            return text[..<end.lowerBound].split(separator: "\r\n").map(String.init)
        }
    }

    @Test func aWebSocketIsRelayed() async throws {
        try await withProxy { proxy in
            let (near, far, head) = try await Self.dial(proxy)
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

    @Test func aWebSocketThroughARouteHasItsFields() async throws {
        func routes(_ configuration: inout ProxyConfiguration) {
            var api = Route(name: "api", policy: .standard)
            api.upstream = .init(origin: Origin(scheme: .http, host: "up.test", port: 81), basePath: "/base")
            api.setFields = [.init(name: "Authorization", value: "Bearer t")]
            configuration.routes = RouteTable(routes: [api])
        }
        try await withProxy(configuration: routes) { proxy in
            let (near, far, head) = try await Self.dial(proxy, Self.request("/.layover/route/api/ws", host: "localhost"))
            #expect(head.first == "GET /base/ws HTTP/1.1" && head.contains("Host: up.test:81") && head.contains("Authorization: Bearer t"))
            try await far.send(Self.agreed)
            #expect(try await near.answer().status == 101)
            near.close()
            #expect(try await far.ending().rest == "")
        }
    }

    /// In origin form, by the host of a route.
    @Test func aWebSocketToTheHostOfARouteIsRelayed() async throws {
        func routes(_ configuration: inout ProxyConfiguration) {
            var dev = Route(name: "dev", policy: .standard)
            dev.host = .exact("dev.test")
            configuration.routes = RouteTable(routes: [dev])
        }
        try await withProxy(configuration: routes) { proxy in
            let (near, far, head) = try await Self.dial(proxy, Self.request("/ws", host: "dev.test"))
            #expect(head.first == "GET /ws HTTP/1.1" && head.contains("Host: dev.test"))
            try await far.send(Self.agreed + "hi")
            #expect(try await near.answer().status == 101)
            #expect(try await near.text(2) == "hi")
        }
    }

    @Test func upgradeWaitsWhileItsOriginIsUnreachable() async throws {
        try await withProxy { proxy in
            let near = try await proxy.client(sending: Self.request())
            let entry = try await proxy.parkNext()
            #expect(entry.url == "http://o.test/chat?x" && entry.method == "GET")
            _ = await proxy.engine.command(.retry, entry.id)
            let end = try FarEnd()
            let far = try await end.client()
            try await proxy.nextAttempt("the retry").deliver([.dialled(end.dialled())])
            _ = try await Self.head(far)
            try await far.send(Self.agreed)
            let response = try await near.answer()
            #expect(response.status == 101)
            #expect(response["Proxy-Status"]?.contains("attempts=2") == true)
            _ = try await proxy.entry(.delivered)
            near.close()
            _ = try await far.ending()
        }
    }

    /// No byte of the next request may be sent to the origin that refused the upgrade.
    @Test(arguments: [
        ("Content-Length: 2\r\n\r\nno", "no"), ("Transfer-Encoding: chunked\r\n\r\n1\r\nn\r\n1\r\no\r\n0\r\nX: y\r\n\r\n", "no"),
        ("Content-Length: 0\r\n\r\n", ""),
    ])
    func responseOfAnOriginThatRefusesTheUpgradeIsDelivered(rest: String, body: String) async throws {
        try await withProxy(script: { if $0.request.purpose == .transfer { $0.respond(200, ["Content-Length: 0"]) } }) { proxy in
            let (near, far, _) = try await Self.dial(proxy)
            try await far.send("HTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\nHTTP/1.1 403 No\r\nConnection: keep-alive\r\n" + rest)
            #expect(try await near.answer().status == 103)
            let response = try await near.answer()
            #expect(response.status == 403 && response.body == body)
            #expect(try await far.ending().rest == "")
            try await near.send(.get("/next"))
            #expect(try await near.answer().status == 200)
            #expect(proxy.loop.metrics.openTunnelCount.current == 0)
        }
    }

    private static func retrying(_ configuration: inout ProxyConfiguration) {
        var policy = Policy.standard
        policy.retryOn = [.connectivity, .status(503)]
        policy.delay = DelaySchedule(.constant(.seconds(1)))
        configuration.routes = RouteTable(policies: ["default": policy])
    }

    /// A busy server of WebSockets is asked again as one of plain requests, and others stay away from it meanwhile.
    @Test func statusInRetryOnOfAnUpgradeIsRequestedAgain() async throws {
        try await withProxy(configuration: Self.retrying) { proxy in
            let (near, far, _) = try await Self.dial(proxy)
            try await far.send("HTTP/1.1 503 Busy\r\nRetry-After: 5\r\nContent-Length: 4\r\n\r\naway")
            let entry = try await proxy.entry()
            #expect(entry.lastFailure?.evidence == .answered && entry.waitingFor == .pause)
            _ = try await far.ending()
            let other = try await proxy.client(sending: .get("/"))
            try await eventually("two entries") { await proxy.engine.liveEntries().count >= 2 }
            #expect(proxy.upstream.startedCount == 1, "the pause counts for plain requests, too")
            try await proxy.advance(by: .seconds(5))
            let again = try await proxy.nextAttempt("the canary behind the pause")
            #expect(again.request.purpose == .upgrade)
            let end = try FarEnd()
            let second = try await end.client()
            again.deliver([.dialled(end.dialled())])
            _ = try await Self.head(second)
            try await second.send(Self.agreed + "hi")
            let response = try await near.answer()
            #expect(response.status == 101 && response["Proxy-Status"] == #"layover; details="attempts=2 waited=5.0s""#)
            #expect(try await near.text(2) == "hi")
            try await proxy.nextAttempt("the request that waited").respond(200, ["Content-Length: 2"], body: "ok")
            #expect(try await other.answer().body == "ok")
        }
    }

    /// The client would be gone when the origin wants to be asked again. All of the withheld response is passed on.
    @Test func responseToAnUpgradeThatMayNotBeRetriedIsPassedOn() async throws {
        func configuration(_ configuration: inout ProxyConfiguration) {
            var policy = Policy.standard
            policy.retryOn = [.connectivity, .status(503)]
            policy.holdMax = .seconds(1)
            configuration.routes = RouteTable(policies: ["default": policy])
        }
        try await withProxy(configuration: configuration) { proxy in
            let (near, far, _) = try await Self.dial(proxy)
            let body = String(repeating: "busy", count: 50_000)
            try await far.send("HTTP/1.1 503 Busy\r\nRetry-After: 5\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
            let response = try await near.answer()
            #expect(response.status == 503 && response.body == body)
        }
    }

    @Test func closeDelimitedResponseToAnUpgradeIsDelivered() async throws {
        try await withProxy { proxy in
            let (near, far, _) = try await Self.dial(proxy)
            try await far.send("HTTP/1.0 200 OK\r\n\r\nall of it")
            far.close()
            #expect(try await near.answer().body == "all of it")
        }
    }

    @Test(arguments: ["", "HTTP/1.1 101 Switching", "nonsense\r\n\r\n", "HTTP/1.1 101 X\r\nContent-Length: 5\r\n\r\n"])
    func invalidResponseToAnUpgradeIsAFailure(text: String) async throws {
        func pass(_ configuration: inout ProxyConfiguration) {
            configuration.routes = RouteTable.standard { $0.mode = .pass }
        }
        try await withProxy(configuration: pass) { proxy in
            let (near, far, _) = try await Self.dial(proxy)
            if !text.isEmpty { try await far.send(text) }
            far.close()
            let response = try await near.answer()
            #expect(response.status == 502)
            #expect(response.member("evidence") == "maybeApplied")
        }
    }

    /// RFC 9110 section 7.8: a server must not switch to a protocol that it was not asked for. HTTP/1.0 has no upgrades.
    @Test(arguments: [
        "HTTP/1.1 101 X\r\n", "HTTP/1.1 101 X\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n",
        "HTTP/1.1 101 X\r\nUpgrade: websocket, h2c\r\n", "HTTP/1.1 101 X\r\nUpgrade: websocket\r\nUpgrade: websocket\r\n",
        "HTTP/1.0 101 X\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n",
    ])
    func switchToAnotherProtocolIsAFailure(head: String) async throws {
        try await withProxy { proxy in
            let (near, far, _) = try await Self.dial(proxy)
            try await far.send(head + "\r\n")
            let response = try await near.answer()
            #expect(response.status == 502)
            #expect(response.member("kind") == "http_upgrade_failed" && response.member("evidence") == "maybeApplied")
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
        try await withProxy(configuration: configuration) { proxy in
            let (near, far, _) = try await Self.dial(proxy)
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
        func idle(_ configuration: inout ProxyConfiguration) { configuration.attempt.idle = .milliseconds(300) }
        try await withProxy(configuration: idle) { proxy in
            let (near, far, _) = try await Self.dial(proxy)
            try await far.send("HTTP/1.1 403 No\r\nContent-Length: 5\r\n\r\nno")
            #expect(try await near.ending().rest.hasSuffix("\r\n\r\nno"))
            #expect(try await far.ending().rest == "")
        }
    }

    /// The evidence of a cancelled entry is in its timeline.
    @Test func cancelledUpgradeRecordsItsEvidence() async throws {
        try await withProxy { proxy in
            let near = try await proxy.client(sending: Self.request())
            let entry = try await proxy.parkNext()
            _ = await proxy.engine.command(.retry, entry.id)
            let end = try FarEnd()
            let far = try await end.client()
            try await proxy.nextAttempt("the retry").deliver([.dialled(end.dialled())])
            _ = try await Self.head(far)
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
        try await withProxy { proxy in
            let (near, far, _) = try await Self.dial(proxy)
            try await near.reset()
            #expect(try await far.ending().rest == "")
            #expect(await proxy.engine.liveEntries().isEmpty)
        }
    }

    @Test(arguments: [
        ("http://o.test/", "Upgrade: h2c"), ("http://o.test/", "Upgrade: websocket, h2c"), ("https://o.test/", "Upgrade: h2c"),
    ])
    func otherUpgradesAreNotForwarded(target: String, field: String) async throws {
        try await withProxy(script: { $0.respond(200, ["Content-Length: 0"]) }) { proxy in
            let client = try await proxy.client(
                sending: "GET \(target) HTTP/1.1\r\nHost: o.test\r\nConnection: Upgrade\r\n\(field)\r\n\r\n")
            #expect(try await client.answer().status == 200)
            let attempt = try await proxy.nextAttempt()
            #expect(attempt.request.purpose == .transfer)
            #expect(!attempt.fields.contains { $0.lowercased().hasPrefix("upgrade") || $0.lowercased().hasPrefix("connection") })
        }
    }
}
