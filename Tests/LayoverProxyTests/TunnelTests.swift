import Dispatch
import LayoverCore
import LayoverEngine
import LayoverTestSupport
import NIOCore
import Testing

@testable import LayoverProxy

/// CONNECT.
struct TunnelTests {
    private static let request = "CONNECT o.test:443 HTTP/1.1\r\nHost: o.test:443\r\nProxy-Authorization: Basic eA==\r\n\r\n"

    /// Opens a tunnel and gives both of its ends.
    private static func tunnel(
        _ proxy: TestProxy, early: String = "", readsByItself: Bool = true
    ) async throws -> (near: RawClient, far: RawClient) {
        let client = try await proxy.connect(readsByItself: true, receiveBuffer: readsByItself ? nil : 65_536)
        try await client.send(request + early)
        let attempt = try await proxy.nextAttempt()
        let far = try await attempt.dial(readsByItself: true)
        let answer = try await client.answer(toHead: true)
        #expect(answer.statusLine == "HTTP/1.1 200 Connection Established")
        #expect(answer.fields.isEmpty, "an answer to CONNECT has no framing: \(answer.fields)")
        if !readsByItself { try await client.stopReading() }
        return (client, far)
    }

    /// Bytes come back through the tunnel, and its end reaches the client.
    static func expectOpen(_ near: RawClient, _ far: RawClient, _ proxy: TestProxy) async throws {
        try await far.send("back")
        #expect(try await near.text(4) == "back")
        #expect(proxy.loop.metrics.openTunnelCount.current == 1)
        far.close()
        #expect(try await near.ending().rest == "")
        near.close()
    }

    @Test func bytesPassBothWays() async throws {
        try await withProxy { proxy in
            let (near, far) = try await Self.tunnel(proxy, early: "early")
            #expect(try await far.text(5) == "early")
            try await near.send("\u{0}\u{ff}GET / HTTP/1.1\r\n\r\n")
            #expect(try await far.text(20) == "\u{0}\u{ff}GET / HTTP/1.1\r\n\r\n")
            try await Self.expectOpen(near, far, proxy)
        }
    }

    @Test func tunnelAttemptHasNoFieldOfTheClientButVia() async throws {
        try await withAttempt(of: Self.request) { _, _, attempt in
            guard case .dial = attempt.request.purpose else {
                Issue.record("purpose \(attempt.request.purpose)")
                return
            }
            #expect(attempt.request.origin == Origin(scheme: .tunnel, host: "o.test", port: 443))
            #expect(attempt.fields == ["Via: 1.1 layover-0a1b2c3d"])
            attempt.fail(.tlsCertificateError, phase: .securing)
        }
    }

    @Test(arguments: [true, false])
    func halfCloseIsForwardedAndTheOtherDirectionStaysOpen(byClient: Bool) async throws {
        try await withProxy { proxy in
            let (near, far) = try await Self.tunnel(proxy)
            let (first, second) = byClient ? (near, far) : (far, near)
            try await first.send("last words")
            try await first.closeOutput()
            #expect(try await second.ending().rest == "last words")
            try await second.send("answer")
            #expect(try await first.text(6) == "answer")
            try await second.closeOutput()
            #expect(try await first.ending().0 == .closed)
            try await Self.waitForNoTunnel(proxy)
        }
    }

    @Test func halfCloseBeforeTheTunnelIsOpenIsForwarded() async throws {
        try await withProxy { proxy in
            let client = try await proxy.client(sending: Self.request + "early")
            try await client.closeOutput()
            let attempt = try await proxy.nextAttempt()
            try await proxy.waitForClosedInput()
            let far = try await attempt.dial()
            #expect(try await client.answer(toHead: true).status == 200)
            #expect(try await far.ending().rest == "early")
            try await far.send("answer")
            #expect(try await client.text(6) == "answer")
        }
    }

    enum HalfClose: Sendable, CaseIterable { case never, first, whileTheRestIsOnItsWay }

    /// The client reads slowly: what the server sent before its own close must still arrive, whatever the
    /// client closes meanwhile.
    @Test(arguments: HalfClose.allCases)
    func nothingIsLostWhenTheServerCloses(byClient halfClose: HalfClose) async throws {
        try await withProxy { proxy in
            let (near, far) = try await Self.tunnel(proxy, readsByItself: false)
            if halfClose == .first {
                try await near.closeOutput()
                _ = try await far.ending()
            }
            let count = (8 << 20) + near.received.value.totalCount
            let isSent = Watched(false)
            let sending = Task {
                try await far.send([UInt8](repeating: 120, count: 8 << 20))
                try await far.closeOutput()
                isSent.update { $0 = true }
            }
            // So slowly that the proxy always has something left for it.
            var stepsLeft = 5
            while near.received.value.totalCount < count, near.received.value.ending == nil {
                near.readOnce()
                try await proxy.settle()
                guard isSent.value, stepsLeft > 0 else { continue }
                stepsLeft -= 1
                if stepsLeft == 0, halfClose == .whileTheRestIsOnItsWay { try await near.closeOutput() }
            }
            #expect(near.received.value.totalCount == count)
            try await sending.value
            near.close()
            far.close()
            try await Self.waitForNoTunnel(proxy)
        }
    }

    @Test func slowReaderOfATunnelPausesTheSender() async throws {
        try await withProxy { proxy in
            let (near, far) = try await Self.tunnel(proxy, readsByItself: false)
            let sender = FloodingSender(far)
            let taken = try await sender.countAtRest(proxy)
            #expect(taken < 20, "\(taken) MiB went into a tunnel that nobody reads")
            try await near.startReading()
            try await sender.finish()
            try await near.received.wait("all of it") { $0.totalCount >= FloodingSender.mebibyteCount << 20 }
        }
    }

    @Test(arguments: [true, false])
    func resetOnOneSideResetsTheOther(byClient: Bool) async throws {
        try await withProxy { proxy in
            let (near, far) = try await Self.tunnel(proxy)
            let (one, other) = byClient ? (near, far) : (far, near)
            try await one.send("cut")
            #expect(try await other.text(3) == "cut")
            try await one.reset()
            #expect(try await other.ending().0 == .reset)
            try await Self.waitForNoTunnel(proxy)
        }
    }

    /// Regression: a write that met the reset closed the channel before the reset was read, and the other side got an ordinary end.
    /// Both are ready for the loop at the same time, the bytes first.
    @Test(arguments: [true, false])
    func resetThatAWriteMeetsFirstResetsTheOther(byClient: Bool) async throws {
        try await withProxy { proxy in
            let (near, far) = try await Self.tunnel(proxy)
            let (one, other) = byClient ? (near, far) : (far, near)
            let isBlocked = Watched(false)
            let go = DispatchSemaphore(value: 0)
            proxy.loop.eventLoop.execute {
                isBlocked.update { $0 = true }
                go.wait()
            }
            try await isBlocked.wait("the loop stands still") { $0 }
            try await other.send("bytes for a peer that is gone")
            try await one.reset()
            try await one.received.wait("the reset is sent") { $0.ending != nil }
            go.signal()
            #expect(try await other.ending().0 == .reset)
            try await Self.waitForNoTunnel(proxy)
        }
    }

    @Test func parkedConnectIs200OnceTheOriginIsReachable() async throws {
        try await withAttempt(of: Self.request) { proxy, client, attempt in
            attempt.fail(.connectionTimeout)
            let entry = try await proxy.entry()
            #expect(entry.url == "o.test:443")
            #expect(entry.method == "CONNECT")
            proxy.clock.advance(by: .seconds(2))
            let far = try await proxy.retry(entry.id).dial()
            let answer = try await client.answer(toHead: true).expectStatus(200)
            #expect(answer["Proxy-Status"] == #"layover; details="attempts=2 waited=2.0s""#)
            try await client.send("x")
            #expect(try await far.text(1) == "x")
            _ = try await proxy.entry(.delivered)
        }
    }

    /// Early bytes of a client for the tunnel must not be read as requests, whether CONNECT is refused or its attempt fails.
    @Test(arguments: [false, true]) func aConnectThatFailsIsAProblemAndClosesTheConnection(isRefused: Bool) async throws {
        try await withProxy { proxy in
            let request = isRefused ? "CONNECT 169.254.169.254:80 HTTP/1.1\r\nHost: 169.254.169.254:80\r\n\r\n" : Self.request
            let client = try await proxy.client(sending: request + .get("/smuggled"))
            if !isRefused { try await proxy.nextAttempt().fail(.tlsCertificateError, phase: .securing) }
            let answer = try await client.answer().expectStatus(isRefused ? 403 : 502)
            #expect(answer.fields.contains("Connection: close"))
            #expect(try await client.ending().rest == "")
        }
    }

    @Test func aTunnelCountsAsAConnectionUntilItEnds() async throws {
        try await withProxy(connectionCountMax: 1) { proxy in
            let (near, far) = try await Self.tunnel(proxy)
            let refused = try await proxy.connect()
            #expect(try await refused.answer().status == 503)
            refused.close()
            near.close()
            far.close()
            try await Self.waitForNoTunnel(proxy)
            try await ConnectionTests.waitForNoConnection(proxy)
            _ = try await proxy.client(sending: Self.request)
            try await proxy.nextAttempt("the tunnel after it").fail(.tlsCertificateError, phase: .securing)
        }
    }

    /// Bytes in either direction keep it open.
    @Test(arguments: [nil, true, false]) func idleTunnelIsClosed(sentByClient: Bool?) async throws {
        try await withProxy(ticks: false, configuration: { $0.tunnelIdleTimeout = .seconds(7200) }) { proxy in
            let (near, far) = try await Self.tunnel(proxy)
            try await proxy.tick(in: .seconds(1))
            if let sentByClient {
                let (one, other) = sentByClient ? (near, far) : (far, near)
                try await one.send("x")
                #expect(try await other.text(1) == "x")
            }
            try await proxy.tick(in: .seconds(sentByClient == nil ? 7100 : 7300))
            #expect(proxy.loop.metrics.openTunnelCount.current == 1, "it was not idle for so long at this tick")
            try await proxy.tick(in: .seconds(7300))
            _ = try await near.ending()
            _ = try await far.ending()
            try await Self.waitForNoTunnel(proxy)
        }
    }

    @Test func aTunnelIsClosedWhenTheProxyShutsDown() async throws {
        try await withProxy { proxy in
            let (near, far) = try await Self.tunnel(proxy)
            await proxy.server.drain(within: .seconds(20))
            _ = try await near.ending()
            _ = try await far.ending()
            try await Self.waitForNoTunnel(proxy)
        }
    }

    static func waitForNoTunnel(_ proxy: TestProxy) async throws {
        try await eventually("the tunnels to close") {
            try await proxy.settle()
            return proxy.loop.metrics.openTunnelCount.current == 0
        }
    }
}
