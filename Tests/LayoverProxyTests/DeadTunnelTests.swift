import LayoverCore
import LayoverEngine
import LayoverTestSupport
import NIOCore
import Testing

@testable import LayoverProxy

/// Established tunnels whose origin is dead, and whose origin only stalls.
struct DeadTunnelTests {
    /// - Parameter test: Is given the client, the far end, and the connection at that end, which is not read.
    private static func withTunnel(_ test: (TestProxy, RawClient, FarEnd, RawClient) async throws -> Void) async throws {
        let request = "CONNECT o.test:443 HTTP/1.1\r\nHost: o.test:443\r\n\r\n"
        try await withAttempt(of: request, configuration: { $0.attempt.deadPeer = .seconds(1) }) { proxy, client, attempt in
            #expect(attempt.attempt.request.timeouts.deadPeer == .seconds(1))
            let end = try FarEnd()
            let far = try await end.client(readsByItself: false)
            attempt.deliver([.dialled(end.dialled())])
            #expect(try await client.answer(toHead: true).status == 200)
            try await test(proxy, client, end, far)
        }
    }

    /// The kernel alone would give up after 15 minutes.
    @Test(.timeLimit(.minutes(1))) func tunnelToADeadOriginIsReset() async throws {
        try await Self.withTunnel { proxy, client, end, _ in
            end.dropEverything()
            try await client.send("lost")
            #expect(try await client.ending().0 == .reset)
            try await TunnelTests.waitForNoTunnel(proxy)
        }
    }

    /// The origin's window is closed for four times as long as a peer may be silent. Its kernel acknowledges all
    /// probes.
    @Test(.timeLimit(.minutes(1))) func tunnelToAnOriginThatDoesNotReadStaysOpen() async throws {
        try await Self.withTunnel { proxy, client, _, far in
            let count = 16 << 20
            client.sendWithoutWaiting([UInt8](repeating: 120, count: count))
            // No event ends this: the test is that for so long nothing happens.
            try await proxy.loop.eventLoop.scheduleTask(in: .seconds(4)) {}.futureResult.get()
            #expect(client.received.value.ending == nil)
            #expect(proxy.loop.metrics.openTunnelCount.current == 1)
            try await far.startReading()
            try await far.received.wait("all of it") { $0.totalCount >= count }
        }
    }
}
