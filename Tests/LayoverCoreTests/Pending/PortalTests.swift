import Testing

@testable import LayoverCore

/// Behind a captive portal nothing goes that carries a body or credentials over plain http.
struct PortalTests {
    private var bench = PendingBench()

    @Test mutating func exposedEntryWaitsUntilThePortalIsGone() {
        let exposed = bench.parked(.reset, delay: .seconds(1), isExposed: true)
        let plain = bench.parked(.reset, delay: .seconds(1))
        #expect(bench.portal(true) == [])
        #expect(bench.entry(exposed)?.waitingFor == .network)
        #expect(bench.wait(of: exposed) == nil)
        #expect(bench.wait(of: plain) == .seconds(1))
        #expect(bench.wait(.seconds(1)) == [.start(plain, .dueTime)])
        #expect(bench.reachable() == [.abandonConnecting(plain)])
        #expect(bench.deliver(plain) == [])
        #expect(bench.wait(.seconds(60)) == [])
        #expect(bench.portal(true) == [])
        #expect(bench.portal(false) == [.start(exposed, .reachability)])
        #expect(bench.portal(false) == [])
    }

    @Test mutating func exposedEntryIsNotTheCanaryBehindAPortal() {
        let exposed = bench.parked(delay: .seconds(1), isExposed: true)
        let plain = bench.parked(delay: .seconds(9))
        _ = bench.portal(true)
        #expect(bench.wait(.seconds(1)) == [.start(plain, .canary)])
        _ = bench.fail(plain, delay: .seconds(60))
        #expect(bench.portal(false) == [])
        #expect(bench.wait(.seconds(2)) == [.start(exposed, .reachability)])
    }

    @Test mutating func retryByAPersonStartsInSpiteOfThePause() {
        let id = bench.parked(.reset, delay: .seconds(1), isExposed: true)
        _ = bench.portal(true)
        _ = bench.wait(.seconds(1))
        #expect(bench.state(id) == .waiting)
        #expect(bench.command(.retry, id) == (.done, [.start(id, .admin)]))
        _ = bench.fail(id, .reset, delay: .seconds(1))
        #expect(bench.wait(.seconds(60)) == [])
        #expect(bench.portal(false) == [.start(id, .reachability)])
    }

    /// A first attempt is never forbidden by what is known of the network.
    @Test mutating func firstAttemptOfAnExposedRequestIsMadeBehindAPortal() {
        _ = bench.parked()
        _ = bench.portal(true)
        let (canary, actions) = bench.park(nil, isExposed: true)
        #expect(actions == [.start(canary, .canary)])
    }

    @Test mutating func heldOrEndedEntryIsNotSentAfterThePortal() {
        let ids = (0..<3).map { _ in bench.parked(.reset, delay: .seconds(1), isExposed: true) }
        _ = bench.portal(true)
        _ = bench.wait(.seconds(1))
        _ = bench.command(.hold, ids[0])
        _ = bench.command(.cancel, ids[1])
        #expect(bench.portal(false) == [.start(ids[2], .reachability)])
    }

    @Test mutating func entryReleasedBehindAPortalGoesAfterIt() {
        let id = bench.parked(.reset, delay: .seconds(1), isExposed: true)
        _ = bench.command(.hold, id)
        _ = bench.portal(true)
        _ = bench.wait(.seconds(5))
        _ = bench.command(.release, id)
        #expect(bench.wait(.seconds(5)) == [])
        #expect(bench.portal(false) == [.start(id, .reachability)])
    }

    @Test mutating func anExposedEntryStillExpires() {
        let id = bench.parked(.reset, isExposed: true)
        _ = bench.portal(true)
        #expect(bench.wait(.seconds(600)) == [.end(id, .expired), .forgotten()])
        #expect(bench.portal(false) == [])
    }

    /// Regression: behind a portal that stays, the places of entries that were gone piled up.
    @Test mutating func entriesKeptFromThePortalAreBounded() {
        let keeper = bench.parked(.reset, delay: .seconds(1), isExposed: true)
        _ = bench.portal(true)
        for _ in 0..<500 {
            let id = bench.parked(.reset, delay: .zero, isExposed: true)
            _ = bench.wait(.milliseconds(10))
            _ = bench.command(.cancel, id)
        }
        #expect(bench.set.pauses.waitingForPortalCount <= 104)
        #expect(bench.portal(false) == [.start(keeper, .reachability)])
    }
}
