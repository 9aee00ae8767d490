import LayoverCore
import LayoverEngine
import LayoverTestSupport
import Testing

@testable import LayoverProxy

/// Open tunnels under rehearsals.
struct RehearsedTunnelTests {
    private static func rehearse(_ proxy: TestProxy, _ fault: RehearsalFault, _ host: String = "o.test") async throws -> Int {
        let order = try RehearsalOrder(host: #require(RehearsedHost(host)), fault: fault)
        let rehearsal = try await proxy.engine.rehearse(order)
        await proxy.engine.untilLoopsCaughtUp()
        return rehearsal.number
    }

    private static func stop(_ proxy: TestProxy, _ number: Int) async throws {
        _ = try #require(await proxy.engine.stopRehearsal(number))
        await proxy.engine.untilLoopsCaughtUp()
    }

    @Test func hangFreezesTheTunnelsOfItsHostOnly() async throws {
        try await withProxy { proxy in
            let (near, far) = try await FrozenTunnelTests.tunnel(proxy)
            let (otherNear, otherFar) = try await FrozenTunnelTests.tunnel(proxy, to: "other.test")
            let number = try await Self.rehearse(proxy, .hang)
            try await near.send("later")
            try await FrozenTunnelTests.expectPassing(otherNear, otherFar)
            try await FrozenTunnelTests.expectNothing(at: far, proxy)
            #expect(proxy.loop.metrics.openTunnelCount.current == 2 && proxy.loop.metrics.frozenTunnelCount.current == 1)
            // The mode freezes both, and its end leaves the first one frozen.
            await proxy.setMode(.offline)
            #expect(proxy.loop.metrics.frozenTunnelCount.current == 2)
            await proxy.setMode(.auto)
            try await FrozenTunnelTests.expectPassing(otherNear, otherFar)
            try await FrozenTunnelTests.expectNothing(at: far, proxy)
            try await Self.stop(proxy, number)
            #expect(try await far.text(5) == "later")
            #expect(proxy.loop.metrics.frozenTunnelCount.current == 0)
        }
    }

    @Test func frozenTunnelGoesOnWhenTheTimeOfTheRehearsalIsOver() async throws {
        try await withProxy { proxy in
            let (near, far) = try await FrozenTunnelTests.tunnel(proxy)
            _ = try await Self.rehearse(proxy, .hang)
            try await near.send("later")
            try await FrozenTunnelTests.expectNothing(at: far, proxy)
            try await proxy.advance(by: .seconds(601))
            #expect(try await far.text(5) == "later")
        }
    }

    @Test(arguments: [RehearsalFault.refuse, .cut, .portal])
    func rehearsedBreakResetsTheTunnelsOfItsHostOnly(fault: RehearsalFault) async throws {
        try await withProxy { proxy in
            let (near, far) = try await FrozenTunnelTests.tunnel(proxy)
            let (otherNear, otherFar) = try await FrozenTunnelTests.tunnel(proxy, to: "other.test")
            _ = try await Self.rehearse(proxy, fault)
            #expect(try await near.ending().0 == .reset)
            #expect(try await far.ending().0 == .reset)
            try await FrozenTunnelTests.expectPassing(otherNear, otherFar)
            try await TunnelTests.expectOpen(otherNear, otherFar, proxy)
        }
    }
}
