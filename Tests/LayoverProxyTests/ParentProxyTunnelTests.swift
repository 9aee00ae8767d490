import LayoverCore
import LayoverEngine
import LayoverTestSupport
import NIOCore
import Testing

@testable import LayoverProxy

/// Tunnels and upgrades through parent proxies that misbehave: with and without TLS, the same verdict.
struct ParentProxyTunnelTests {
    enum Way: String, CaseIterable, Sendable {
        case tunnel
        case upgrade

        var request: String {
            switch self {
            case .tunnel: "CONNECT o.test:443 HTTP/1.1\r\nHost: o.test:443\r\nVia: 1.0 a\r\n\r\n"
            case .upgrade:
                "GET http://o.test/chat HTTP/1.1\r\nHost: o.test\r\nVia: 1.0 a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                    + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
            }
        }

        var authority: String { self == .tunnel ? "o.test:443" : "o.test:80" }
    }

    /// What a parent proxy answers to CONNECT, and what follows.
    struct Misbehaviour: Sendable, CustomTestStringConvertible {
        var text: String
        /// Whether it closes the connection behind the text.
        var closes = false
        var kind: FailureKind
        var message: String
        /// Whether the request waits for another attempt.
        var isRetried = false

        var testDescription: String { "\(text.prefix(24)), \(kind.rawValue)" }

        static let all: [Misbehaviour] = [
            Misbehaviour(text: "lorem ipsum\r\n\r\n", kind: .parentProxyMisconfigured, message: Failure.parentProxyIsNoHTTP),
            Misbehaviour(text: "SSH-2.0-OpenSSH_9.2\r\n", kind: .parentProxyMisconfigured, message: Failure.parentProxyIsNoHTTP),
            Misbehaviour(text: "<html>", kind: .parentProxyMisconfigured, message: Failure.parentProxyIsNoHTTP),
            Misbehaviour(
                text: "HTTP/1.1 2000 Odd\r\n\r\n", kind: .parentProxyMisconfigured,
                message: "The parent proxy does not answer CONNECT by the rules of HTTP: The status line is malformed."),
            Misbehaviour(
                text: "HTTP/1.1 700 Odd\r\n\r\n", kind: .parentProxyMisconfigured,
                message: "The parent proxy answered CONNECT with the invalid status 700."),
            Misbehaviour(
                text: "HTTP/1.1 200 OK\r\nX: \(String(repeating: "a", count: 70_000))\r\n\r\n", kind: .parentProxyMisconfigured,
                message: Failure.parentProxyResponseTooLarge),
            Misbehaviour(
                text: "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 403 No\r\n\r\n", kind: .parentProxyDenied,
                message: "The parent proxy refused the connection to the origin (status 403)."),
            Misbehaviour(
                text: "HTTP/1.1 407 No\r\n\r\n", kind: .parentProxyMisconfigured,
                message: "The parent proxy wants credentials, or others (status 407). See upstreamProxy in the configuration."),
            Misbehaviour(
                text: "HTTP/1.1 503 No\r\n\r\n", kind: .destinationUnavailable,
                message: "The parent proxy could not connect to the origin (status 503).", isRetried: true),
            Misbehaviour(
                text: "HTTP/1.1 200 OK\r\nX", closes: true, kind: .connectionTerminated,
                message: "The parent proxy closed the connection before it was open to the origin.", isRetried: true),
        ]
    }

    private static func withParentProxy(
        _ scheme: ParentProxy.Scheme, _ way: Way, _ test: (TestProxy, RawClient, RawClient) async throws -> Void
    ) async throws {
        let identity = try FarIdentity()
        var parentProxies = ParentProxyRules()
        parentProxies.general = ParentProxy(scheme: scheme, host: "p.test")
        try await withProxy(configuration: { $0.routes = RouteTable(parentProxies: parentProxies) }) { proxy in
            try await proxy.loop.use(identity.trust).get()
            let near = try await proxy.client(sending: way.request)
            let attempt = try await proxy.nextAttempt()
            #expect(attempt.request.parentProxyUse == .reach)
            let far = try await attempt.dial(tls: scheme == .https ? identity.server : nil)
            let lines = ["CONNECT \(way.authority) HTTP/1.1", "Host: \(way.authority)", "Via: 1.0 a, 1.1 layover-0a1b2c3d", "", ""]
            #expect(try await far.head() == lines.joined(separator: "\r\n"))
            try await test(proxy, near, far)
        }
    }

    @Test(arguments: Misbehaviour.all, Way.allCases)
    func verdictIsTheSameWithAndWithoutTLS(answer: Misbehaviour, way: Way) async throws {
        for scheme in [ParentProxy.Scheme.http, .https] {
            try await Self.withParentProxy(scheme, way) { proxy, near, far in
                far.sendWithoutWaiting(Array(answer.text.utf8))
                if answer.closes { far.close() }
                guard !answer.isRetried else {
                    let entry = try await proxy.entry()
                    let failure = try #require(entry.attempts.records.last?.failure)
                    #expect(failure.kind == answer.kind, "\(scheme)")
                    #expect(failure.message == answer.message, "\(scheme)")
                    #expect(failure.phase == .connecting && failure.evidence == .neverSent && failure.bytesSent == 0)
                    return near.close()
                }
                let problem = try await near.answer()
                #expect(problem.status == 502, "\(scheme)")
                #expect(problem.member("kind") == answer.kind.rawValue, "\(scheme)")
                #expect(problem.member("evidence") == "neverSent", "\(scheme)")
                #expect(problem.body.contains(answer.message), "\(scheme): \(problem.body)")
                #expect(await proxy.engine.liveEntries().isEmpty, "\(scheme)")
            }
        }
    }

    @Test(arguments: [ParentProxy.Scheme.http, .https])
    func bytesBehindTheResponseAreThoseOfTheTunnel(scheme: ParentProxy.Scheme) async throws {
        try await Self.withParentProxy(scheme, .tunnel) { proxy, near, far in
            try await far.send("HTTP/1.1 103 Early\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\nearly")
            #expect(try await near.answer(toHead: true).status == 200)
            #expect(try await near.text(5) == "early")
            try await near.send("there")
            #expect(try await far.text(5) == "there")
            try await TunnelTests.expectOpen(near, far, proxy)
        }
    }

    @Test(arguments: [ParentProxy.Scheme.http, .https])
    func upgradeIsAskedForInsideTheTunnel(scheme: ParentProxy.Scheme) async throws {
        try await Self.withParentProxy(scheme, .upgrade) { proxy, near, far in
            try await far.send("HTTP/1.1 200 OK\r\n\r\n")
            #expect(try await far.head().hasPrefix("GET /chat HTTP/1.1\r\nHost: o.test\r\n"))
            try await far.send("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n")
            #expect(try await near.answer().status == 101)
            try await TunnelTests.expectOpen(near, far, proxy)
        }
    }

    @Test(arguments: Way.allCases) func clientThatLeavesEndsTheRequestToTheParentProxy(way: Way) async throws {
        try await Self.withParentProxy(.http, way) { proxy, near, far in
            try await near.reset()
            _ = try await far.ending()
            #expect(await proxy.engine.liveEntries().isEmpty)
        }
    }
}
