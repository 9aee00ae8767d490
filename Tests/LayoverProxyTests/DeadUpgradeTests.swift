import LayoverCore
import LayoverEngine
import LayoverTestSupport
import NIOCore
import Testing

@testable import LayoverProxy

/// Upgrades that wait for their 101 on a connection that is of no use any more, or that only takes time.
struct DeadUpgradeTests {
    private static let request =
        "GET http://o.test/chat HTTP/1.1\r\nHost: o.test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
        + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"

    /// A failure is reported and not waited out.
    private static func configuration(_ configuration: inout ProxyConfiguration) {
        configuration.routes = RouteTable.standard { $0.mode = .pass }
        configuration.attempt.deadPeer = .seconds(1)
    }

    /// The request gets no acknowledgement. The kernel alone would give up after 15 minutes, `timeouts.firstByte` is not set.
    @Test(.timeLimit(.minutes(1))) func upgradeToADeadOriginFails() async throws {
        try await withAttempt(of: Self.request, configuration: Self.configuration) { _, client, attempt in
            let end = try FarEnd()
            let far = try await end.client(readsByItself: false)
            end.dropEverything()
            attempt.deliver([.dialled(end.dialled())])
            let response = try await client.answer().expectProblem(504, evidence: .maybeApplied)
            #expect(response.member("detail")?.contains("acknowledged nothing") == true, "\(response.body)")
            far.close()
        }
    }

    /// The origin takes four times as long as a peer may be silent. Its kernel has acknowledged the request.
    @Test(.timeLimit(.minutes(1))) func upgradeToAnOriginThatTakesItsTimeIsRelayed() async throws {
        try await withAttempt(of: Self.request, configuration: Self.configuration) { proxy, client, attempt in
            let far = try await attempt.dial()
            // No event ends this: the test is that for so long nothing happens.
            try await proxy.loop.eventLoop.scheduleTask(in: .seconds(4)) {}.futureResult.get()
            #expect(client.received.value.ending == nil)
            try await far.send("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n")
            #expect(try await client.answer().status == 101)
        }
    }

    /// Before, such an upgrade waited until its origin was taken for dead by the kernel.
    @Test func upgradeOnAnAddressThatIsGoneEndsAtOnce() async throws {
        try await withAttempt(of: Self.request, configuration: Self.configuration) { proxy, client, attempt in
            let far = try await attempt.dial()
            try await far.received.wait("the request") { $0.totalCount > 0 }
            proxy.loop.networkChanged()
            try await proxy.settle()
            #expect(client.received.value.ending == nil && client.received.value.totalCount == 0, "the address is still there")
            try await proxy.loop.eventLoop.submit { proxy.loop.isAddressGone = { $0.ipAddress == "127.0.0.1" } }.get()
            proxy.loop.networkChanged()
            let response = try await client.answer().expectProblem(502, evidence: .maybeApplied)
            #expect(response.member("detail")?.contains("address of this machine") == true, "\(response.body)")
            #expect(try await far.ending().rest.hasSuffix("\r\n\r\n"))
        }
    }
}
