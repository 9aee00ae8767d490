import LayoverCore
import LayoverEngine
import LayoverTLS
import LayoverTestSupport
import NIOCore
import Testing

@testable import LayoverProxy

/// WebSockets to origins with TLS. The client speaks TLS to the proxy, too, as it does inside an intercepted connection.
struct SecureUpgradeTests {
    private static let request =
        "GET https://o.test/chat HTTP/1.1\r\nHost: o.test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
        + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    private static let agreed = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n"

    /// A proxy with TLS on both sides.
    private static func secured(
        configuration: (inout ProxyConfiguration) -> Void = { _ in }, _ test: (TestProxy, FarIdentity, RawClient) async throws -> Void
    ) async throws {
        let identity = try FarIdentity()
        try await withProxy(configuration: configuration) { proxy in
            try await proxy.loop.use(identity.trust).get()
            try await proxy.loop.use(identity.proxyIdentity(on: proxy.loop.eventLoop)).get()
            let near = try await RawClient.connect(port: proxy.port, tls: identity.client)
            try await near.send(request)
            try await test(proxy, identity, near)
        }
    }

    /// The other end of the attempt, which gets the head of the request.
    private static func dial(_ proxy: TestProxy, _ identity: FarIdentity) async throws -> RawClient {
        let attempt = try await proxy.nextAttempt()
        #expect(attempt.request.purpose == .upgrade && attempt.request.origin.scheme == .https)
        let far = try await attempt.dial(tls: identity.server)
        #expect(try await far.head().hasPrefix("GET /chat HTTP/1.1\r\nHost: o.test\r\n"))
        return far
    }

    private static func tunnel(_ proxy: TestProxy, _ identity: FarIdentity, _ near: RawClient) async throws -> RawClient {
        let far = try await dial(proxy, identity)
        try await far.send(agreed)
        #expect(try await near.answer().status == 101)
        return far
    }

    @Test func bytesPassBothWaysAtOnce() async throws {
        try await Self.secured { proxy, identity, near in
            let far = try await Self.tunnel(proxy, identity, near)
            var generator = SeededGenerator(seed: 1)
            let there = (0..<3_000_000).map { _ in UInt8.random(in: 0...255, using: &generator) }
            let back = Array(there.reversed())
            near.sendWithoutWaiting(there)
            far.sendWithoutWaiting(back)
            #expect(try await far.bytes(there.count) == there)
            #expect(try await near.bytes(back.count) == back)
            near.close()
            #expect(try await far.ending() == (.closed, ""))
            far.close()
            try await TunnelTests.waitForNoTunnel(proxy)
        }
    }

    @Test func certificateThatIsNotTrustedIsAProblemAndNothingIsSent() async throws {
        try await Self.secured { proxy, _, near in
            let other = try FarIdentity()
            let far = try await proxy.nextAttempt().dial(tls: other.server)
            try await near.answer().expectProblem(502, "tls_certificate_error", evidence: .neverSent)
            #expect(try await far.ending().rest == "")
            #expect(await proxy.engine.liveEntries().isEmpty)
        }
    }

    /// A wrong answer to a ClientHello, or none: the request waits, and is sent once the origin works.
    @Test(arguments: ["", "HTTP/1.1 400 Bad\r\n\r\n"]) func brokenHandshakeParksTheRequest(text: String) async throws {
        try await Self.secured { proxy, identity, near in
            let far = try await proxy.nextAttempt().dial()
            if !text.isEmpty { try await far.send(text) }
            far.close()
            let entry = try await proxy.entry()
            #expect(entry.url == "https://o.test/chat")
            #expect(entry.attempts.records.last?.failure?.kind == .tlsProtocolError)
            _ = await proxy.engine.command(.retry, entry.id)
            let second = try await Self.tunnel(proxy, identity, near)
            try await second.send("hi")
            #expect(try await near.text(2) == "hi")
        }
    }

    @Test func silentHandshakeEndsWithTheConnectTimeout() async throws {
        func configuration(_ configuration: inout ProxyConfiguration) {
            configuration.routes = RouteTable.standard { $0.mode = .pass }
            configuration.attempt.connect = .milliseconds(200)
        }
        try await Self.secured(configuration: configuration) { proxy, _, near in
            let far = try await proxy.nextAttempt().dial()
            let response = try await near.answer()
            #expect(response.member("kind") == "connection_timeout" && response.member("evidence") == "neverSent")
            _ = try await far.ending()
        }
    }

    @Test func clientThatLeavesEndsTheHandshake() async throws {
        try await Self.secured { proxy, _, near in
            let far = try await proxy.nextAttempt().dial()
            _ = try await far.bytes(5)
            try await near.reset()
            _ = try await far.ending()
            #expect(await proxy.engine.liveEntries().isEmpty)
        }
    }

    @Test(arguments: [true, false])
    func halfCloseIsForwardedAndTheOtherDirectionStaysOpen(byClient: Bool) async throws {
        try await Self.secured { proxy, identity, near in
            let far = try await Self.tunnel(proxy, identity, near)
            let (first, second) = byClient ? (near, far) : (far, near)
            try await first.send("last words")
            try await first.closeOutput()
            #expect(try await second.ending() == (.closed, "last words"))
            try await second.send("answer")
            #expect(try await first.text(6) == "answer")
            try await second.closeOutput()
            #expect(try await first.ending().0 == .closed)
            try await TunnelTests.waitForNoTunnel(proxy)
        }
    }

    @Test(arguments: [true, false]) func resetIsForwardedAsOne(byClient: Bool) async throws {
        try await Self.secured { proxy, identity, near in
            let far = try await Self.tunnel(proxy, identity, near)
            let (first, second) = byClient ? (near, far) : (far, near)
            try await first.send("words")
            #expect(try await second.text(5) == "words")
            try await first.reset()
            #expect(try await second.ending().0 == .reset, "a close_notify would make it look complete")
        }
    }

    @Test(arguments: [true, false]) func endWithoutCloseNotifyIsForwardedAsOne(byClient: Bool) async throws {
        try await Self.secured { proxy, identity, near in
            let far = try await Self.tunnel(proxy, identity, near)
            let (first, second) = byClient ? (near, far) : (far, near)
            try await first.send("words")
            try await first.cutOutput()
            #expect(try await second.ending() == (.cut, "words"))
        }
    }

    @Test func responseOfAnOriginThatRefusesTheUpgradeIsDelivered() async throws {
        try await Self.secured { proxy, identity, near in
            let far = try await Self.dial(proxy, identity)
            try await far.send("HTTP/1.1 403 No\r\nContent-Length: 2\r\n\r\nno")
            let response = try await near.answer()
            #expect(response.status == 403 && response.body == "no")
            #expect(try await far.ending() == (.closed, ""))
        }
    }

    @Test(arguments: [true, false]) func closeDelimitedResponseIsCompleteWithCloseNotifyOnly(isComplete: Bool) async throws {
        try await Self.secured { proxy, identity, near in
            let far = try await Self.dial(proxy, identity)
            try await far.send("HTTP/1.1 403 No\r\n\r\nall of it")
            if isComplete { try await far.closeOutput() } else { try await far.cutOutput() }
            if isComplete {
                #expect(try await near.answer().body == "all of it")
            } else {
                #expect(try await !near.ending().rest.hasSuffix("0\r\n\r\n"))
            }
        }
    }
}
