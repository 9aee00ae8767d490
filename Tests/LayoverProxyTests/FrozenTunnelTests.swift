import LayoverCore
import LayoverEngine
import LayoverTestSupport
import NIOCore
import Testing

@testable import LayoverProxy

/// Open tunnels under mode `offline`.
struct FrozenTunnelTests {
    private static let request = "CONNECT o.test:443 HTTP/1.1\r\nHost: o.test:443\r\n\r\n"

    static func tunnel(_ proxy: TestProxy, to host: String = "o.test") async throws -> (near: RawClient, far: RawClient) {
        let near = try await proxy.client(sending: request.replacing("o.test", with: host))
        let far = try await proxy.nextAttempt().dial()
        #expect(try await near.answer(toHead: true).status == 200)
        return (near, far)
    }

    /// - Parameters:
    ///   - mode: Is set once the tunnel is open.
    ///   - startsAtClient: True: `test` is given the near end before the far end.
    private static func withTunnel(
        _ mode: ReachabilityMode = .auto, startsAtClient: Bool = true, test: (TestProxy, RawClient, RawClient) async throws -> Void
    ) async throws {
        try await withProxy { proxy in
            let (near, far) = try await tunnel(proxy)
            if mode != .auto { await proxy.setMode(mode) }
            try await test(proxy, startsAtClient ? near : far, startsAtClient ? far : near)
        }
    }

    /// Bytes of one side reach the other.
    static func expectPassing(_ one: RawClient, _ other: RawClient, _ text: String = "pass") async throws {
        try await one.send(text)
        #expect(try await other.text(text.utf8.count) == text)
    }

    /// No bytes have come, although later requests on the same loop were answered.
    static func expectNothing(at client: RawClient, _ proxy: TestProxy) async throws {
        for _ in 0..<5 {
            let other = try await proxy.client(sending: "GET / HTTP/1.1\r\nHost: localhost:\(proxy.port)\r\nConnection: close\r\n\r\n")
            _ = try await other.ending()
            try await proxy.settle()
        }
        #expect(client.received.value.bytes.isEmpty && client.received.value.ending == nil)
    }

    @Test func noByteOfAFrozenTunnelPassesAndAllPassWhenTheModeEnds() async throws {
        try await Self.withTunnel { proxy, near, far in
            try await Self.expectPassing(near, far)
            try await Self.expectPassing(far, near)
            await proxy.setMode(.offline)
            #expect(proxy.loop.metrics.openTunnelCount.current == 1 && proxy.loop.metrics.frozenTunnelCount.current == 1)
            try await near.send("question")
            try await far.send("answer")
            try await Self.expectNothing(at: far, proxy)
            try await Self.expectNothing(at: near, proxy)
            await proxy.setMode(.auto)
            #expect(proxy.loop.metrics.frozenTunnelCount.current == 0)
            #expect(try await far.text(8) == "question")
            #expect(try await near.text(6) == "answer")
            try await TunnelTests.expectOpen(near, far, proxy)
        }
    }

    /// Megabytes in both directions, frozen in their middle: all arrive, in order.
    @Test func bytesOnTheirWayAreNeitherLostNorReordered() async throws {
        try await Self.withTunnel { proxy, near, far in
            let bytes = (0..<(3 << 20)).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
            async let up: Void = near.send(bytes)
            async let down: Void = far.send(bytes)
            try await far.received.wait("some of it") { $0.totalCount > 0 }
            for round in 0..<20 {
                await proxy.setMode(round.isMultiple(of: 2) ? .offline : .online)
                try await proxy.settle()
            }
            await proxy.setMode(.offline)
            for _ in 0..<20 { try await proxy.settle() }
            await proxy.setMode(.auto)
            #expect(try await far.bytes(bytes.count) == bytes)
            #expect(try await near.bytes(bytes.count) == bytes)
            _ = try await (up, down)
            try await TunnelTests.expectOpen(near, far, proxy)
        }
    }

    /// A frozen tunnel is not read: its sender is stopped by the kernel's buffers.
    @Test func senderIntoAFrozenTunnelIsHeldBack() async throws {
        try await Self.withTunnel(.offline) { proxy, near, far in
            let sender = FloodingSender(near)
            let taken = try await sender.countAtRest(proxy)
            #expect(taken < 20, "\(taken) MiB went into a frozen tunnel")
            #expect(far.received.value.totalCount == 0)
            await proxy.setMode(.auto)
            try await sender.finish()
            try await far.received.wait("all of it") { $0.totalCount == FloodingSender.mebibyteCount << 20 }
        }
    }

    @Test(arguments: [true, false])
    func endOfOneSidePassesThroughAFrozenTunnel(byClient: Bool) async throws {
        try await Self.withTunnel(.offline, startsAtClient: byClient) { proxy, one, other in
            try await one.closeOutput()
            #expect(try await other.ending().0 == .closed)
            try await other.send("kept")
            try await Self.expectNothing(at: one, proxy)
            await proxy.setMode(.auto)
            #expect(try await one.text(4) == "kept")
            try await other.closeOutput()
            #expect(try await one.ending().0 == .closed)
            try await TunnelTests.waitForNoTunnel(proxy)
        }
    }

    @Test func tunnelEndsWhileFrozenWhenBothSidesClose() async throws {
        try await Self.withTunnel(.offline) { proxy, near, far in
            near.close()
            #expect(try await far.ending().0 == .closed)
            far.close()
            try await TunnelTests.waitForNoTunnel(proxy)
            #expect(proxy.loop.metrics.frozenTunnelCount.current == 0)
        }
    }

    /// An end in front of the bytes would cut them off.
    @Test(arguments: [true, false])
    func endBehindKeptBytesPassesBehindThem(byClient: Bool) async throws {
        try await Self.withTunnel(.offline, startsAtClient: byClient) { proxy, one, other in
            try await one.send("last words")
            try await one.closeOutput()
            try await Self.expectNothing(at: other, proxy)
            await proxy.setMode(.auto)
            #expect(try await other.ending() == (.closed, "last words"))
            try await other.send("reply")
            #expect(try await one.text(5) == "reply")
            try await other.closeOutput()
            _ = try await one.ending()
            try await TunnelTests.waitForNoTunnel(proxy)
        }
    }

    /// The sender's connection is over on both sides then, and only its bytes are still to be passed on. Regression: the origin got a reset
    /// in place of the last bytes of a client.
    @Test(arguments: [true, false])
    func keptBytesOfASideThatIsGoneReachTheOther(byClient: Bool) async throws {
        try await Self.withTunnel(startsAtClient: byClient) { proxy, one, other in
            try await other.closeOutput()
            #expect(try await one.ending().0 == .closed)
            await proxy.setMode(.offline)
            try await one.send("last words")
            one.close()
            try await Self.expectNothing(at: other, proxy)
            #expect(proxy.loop.metrics.openTunnelCount.current == 1 && proxy.loop.metrics.frozenTunnelCount.current == 1)
            await proxy.setMode(.auto)
            #expect(try await other.ending() == (.closed, "last words"))
            try await TunnelTests.waitForNoTunnel(proxy)
        }
    }

    /// A tunnel whose last bytes cannot be delivered is released completely.
    @Test(arguments: [true, false])
    func keptBytesOfAClientThatIsGoneEndWithTheOriginAndWithTheProxy(byOrigin: Bool) async throws {
        try await Self.withTunnel { proxy, near, far in
            try await far.closeOutput()
            #expect(try await near.ending().0 == .closed)
            await proxy.setMode(.offline)
            try await near.send("last words")
            near.close()
            try await Self.expectNothing(at: far, proxy)
            if byOrigin {
                try await far.reset()
            } else {
                await proxy.server.drain(within: .seconds(20))
                #expect(try await far.ending() == (.reset, ""))
            }
            try await TunnelTests.waitForNoTunnel(proxy)
            #expect(proxy.loop.metrics.frozenTunnelCount.current == 0)
        }
    }

    @Test(arguments: [true, false], [true, false])
    func resetPassesThroughAFrozenTunnel(byClient: Bool, hasSent: Bool) async throws {
        try await Self.withTunnel(.offline, startsAtClient: byClient) { proxy, one, other in
            if hasSent {
                try await one.send("never delivered")
                try await Self.expectNothing(at: other, proxy)
            }
            try await one.reset()
            #expect(try await other.ending() == (.reset, ""))
            try await TunnelTests.waitForNoTunnel(proxy)
        }
    }

    @Test(arguments: [false, true]) func cutResetsOpenAndFrozenTunnels(isFrozen: Bool) async throws {
        try await Self.withTunnel { proxy, near, far in
            if isFrozen {
                await proxy.setMode(.offline)
                try await near.send("never delivered")
            }
            await proxy.setMode(.offline, .cut)
            #expect(try await near.ending().0 == .reset)
            #expect(try await far.ending() == (.reset, ""))
            try await TunnelTests.waitForNoTunnel(proxy)
            #expect(proxy.loop.metrics.frozenTunnelCount.current == 0)
        }
    }

    @Test func keepLeavesTunnelsAloneAndThawsThem() async throws {
        try await Self.withTunnel { proxy, near, far in
            await proxy.setMode(.offline, .keep)
            try await Self.expectPassing(near, far)
            await proxy.setMode(.offline, .freeze)
            try await far.send("later")
            try await Self.expectNothing(at: near, proxy)
            await proxy.setMode(.offline, .keep)
            #expect(try await near.text(5) == "later")
            try await TunnelTests.expectOpen(near, far, proxy)
        }
    }

    @Test func beingOfflineByEvidenceFreezesNothing() async throws {
        try await Self.withTunnel { proxy, near, far in
            proxy.engine.post(.links(LinkSnapshot()))
            try await proxy.settle()
            #expect(await proxy.engine.reachabilityView().state == .offline)
            try await Self.expectPassing(near, far)
            try await TunnelTests.expectOpen(near, far, proxy)
        }
    }

    @Test func frozenTimeDoesNotCountAsIdle() async throws {
        try await withProxy(ticks: false, configuration: { $0.tunnelIdleTimeout = .seconds(7200) }) { proxy in
            let (near, far) = try await Self.tunnel(proxy)
            try await proxy.tick(in: .seconds(1))
            await proxy.setMode(.offline)
            try await proxy.tick(in: .seconds(7300))
            #expect(proxy.loop.metrics.openTunnelCount.current == 1)
            await proxy.setMode(.auto)
            try await Self.expectPassing(near, far)
            try await proxy.tick(in: .seconds(1))
            try await proxy.tick(in: .seconds(7300))
            _ = try await near.ending()
            try await TunnelTests.waitForNoTunnel(proxy)
        }
    }

    // MARK: Opening

    /// The connection stood at the moment when the mode was set.
    @Test func connectionThatIsDialledTooLateIsNotUsed() async throws {
        try await withAttempt(of: Self.request) { proxy, near, attempt in
            try await attempt.outliveCancel()
            await proxy.setMode(.offline)
            let far = try await attempt.dial()
            #expect(try await far.ending().rest == "")
            #expect(try await proxy.entry().waitingFor == .network)
            #expect(near.received.value.bytes.isEmpty && near.received.value.ending == nil)
            #expect(proxy.loop.metrics.openTunnelCount.current == 0)
        }
    }

    /// A WebSocket whose handshake was sent before: the attempt finishes, and its connection is frozen from the start.
    @Test func upgradeThatIsAnsweredWhileOfflineIsFrozenFromTheStart() async throws {
        let request = "GET http://o.test/chat HTTP/1.1\r\nHost: o.test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"
        try await withAttempt(of: request) { proxy, near, attempt in
            let far = try await attempt.dial()
            _ = try await far.head()
            await proxy.setMode(.offline)
            try await far.send("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\nhello")
            #expect(try await near.answer(toHead: true).status == 101)
            try await near.send("hi")
            try await Self.expectNothing(at: near, proxy)
            try await Self.expectNothing(at: far, proxy)
            #expect(proxy.loop.metrics.frozenTunnelCount.current == 1)
            await proxy.setMode(.auto)
            #expect(try await near.text(5) == "hello")
            #expect(try await far.text(2) == "hi")
            try await TunnelTests.expectOpen(near, far, proxy)
        }
    }

    @Test func frozenTunnelIsResetWhenTheProxyShutsDown() async throws {
        try await Self.withTunnel(.offline) { proxy, near, far in
            try await near.send("kept")
            await proxy.server.drain(within: .seconds(20))
            #expect(try await near.ending().0 == .reset)
            #expect(try await far.ending() == (.reset, ""), "an end would make what came before look complete")
            try await TunnelTests.waitForNoTunnel(proxy)
            #expect(proxy.loop.metrics.frozenTunnelCount.current == 0)
        }
    }
}
