import Testing

@testable import LayoverCore

/// `hold` and `release`: a person stops the automatic attempts of an entry, and lets them go on.
struct HoldTests {
    private var bench = PendingBench()

    @Test mutating func heldEntryIsNotStartedByAnyEvent() {
        let id = bench.parked(.reset, delay: .seconds(1))
        #expect(bench.command(.hold, id) == (.done, []))
        #expect(bench.reports == [.changed])
        let entry = bench.entry(id)
        #expect(entry?.state == .held)
        #expect(entry?.waitingFor == nil)
        #expect(entry?.nextAttemptAt == nil)
        #expect(entry?.revision == 2)
        #expect(bench.wait(.seconds(60)) == [])
        #expect(bench.reachable() == [])
        #expect(bench.originAnswered() == [])
        #expect(bench.mode(.offline) == [])
        #expect(bench.mode(.auto) == [])
        #expect(bench.portal(true) + bench.portal(false) == [])
        #expect(bench.set.counts == [.waiting: 0, .attempting: 0, .held: 1, .undecided: 0])
    }

    @Test mutating func heldEntryIsNotTheCanary() {
        let id = bench.parked()
        _ = bench.command(.hold, id)
        #expect(bench.wait(.seconds(60)) == [])
        #expect(bench.shutOrigins == [PendingBench.origin])
        #expect(bench.originAnswered() == [.watched()])
        #expect(bench.state(id) == .held)
    }

    @Test mutating func holdWithdrawsARetryThatHasNotStarted() {
        let id = bench.parked()
        let (canary, _) = bench.park(nil)
        #expect(bench.command(.retry, id) == (.done, []))
        #expect(bench.command(.hold, id) == (.done, []))
        #expect(bench.answer(canary) == [.watched()])
        #expect(bench.end(canary) == [])
        #expect(bench.state(id) == .held)
    }

    @Test mutating func releasedEntryWaitsForItsOldDueTime() {
        let id = bench.parked(.reset, delay: .seconds(10))
        _ = bench.command(.hold, id)
        _ = bench.wait(.seconds(4))
        #expect(bench.command(.release, id) == (.done, []))
        #expect(bench.state(id) == .waiting)
        #expect(bench.wait(of: id) == .seconds(6))
        #expect(bench.wait(.seconds(5)) == [])
        #expect(bench.wait(.seconds(1)) == [.start(id, .dueTime)])
    }

    @Test mutating func overdueEntryGoesAtOnceWhenReleased() {
        let id = bench.parked(.reset, delay: .seconds(10))
        _ = bench.command(.hold, id)
        _ = bench.wait(.seconds(60))
        #expect(bench.command(.release, id) == (.done, []))
        #expect(bench.wait(.zero) == [.start(id, .dueTime)])
    }

    @Test mutating func aReleasedEntryIsWokenByItsOriginAgain() {
        let id = bench.parked(delay: .seconds(30))
        _ = bench.command(.hold, id)
        _ = bench.command(.release, id)
        #expect(bench.originAnswered() == [.watched(), .start(id, .reachability)])
    }

    // MARK: A person's retry of a held entry

    @Test mutating func retriedHeldEntryIsHeldAgainAfterItsFailure() {
        let id = bench.parked(.reset)
        _ = bench.command(.hold, id)
        #expect(bench.command(.retry, id) == (.done, [.start(id, .admin)]))
        #expect(bench.state(id) == .attempting)
        #expect(bench.fail(id, .reset) == [])
        #expect(bench.state(id) == .held)
        #expect(bench.wait(.seconds(60)) == [])
        #expect(bench.entry(id)?.lastFailure == .reset)
        // As often as the person likes.
        #expect(bench.command(.retry, id) == (.done, [.start(id, .admin)]))
        #expect(bench.fail(id, .refused) == [.shut()])
        #expect(bench.state(id) == .held)
        _ = bench.command(.release, id)
        #expect(bench.wait(.seconds(1)) == [.start(id, .dueTime)])
        _ = bench.fail(id)
        #expect(bench.state(id) == .waiting)
    }

    @Test mutating func heldEntryEndsWhenItsRetrySucceeds() {
        let id = bench.parked(.reset)
        _ = bench.command(.hold, id)
        _ = bench.command(.retry, id)
        #expect(bench.deliver(id) == [.forgotten()])
        #expect(bench.state(id) == .delivered)
    }

    @Test mutating func heldEntryThatMayHaveBeenAppliedBecomesUndecided() {
        let id = bench.parked(.reset)
        _ = bench.command(.hold, id)
        _ = bench.command(.retry, id)
        _ = bench.fail(id, .reset, asks: .maybeApplied, rule: .onMaybeApplied)
        #expect(bench.state(id) == .undecided)
    }

    /// Regression: what a person asked for was cut off by a change of the network, and then held again unmade.
    @Test mutating func retryAbandonedByANetworkChangeIsRepeated() {
        let id = bench.parked(.reset)
        _ = bench.command(.hold, id)
        _ = bench.command(.retry, id)
        #expect(bench.reachable() == [.abandonConnecting(id)])
        let cutOff = Failure.fixture(.proxyInternalError, phase: .connecting)
        #expect(bench.fail(id, cutOff, delay: .zero, rule: .networkChanged) == [.start(id, .admin)])
        #expect(bench.fail(id, .reset) == [])
        #expect(bench.state(id) == .held)
    }

    // MARK: Ends

    @Test mutating func aHeldEntryExpires() {
        let id = bench.parked(policy: .fixture { $0.holdMax = .seconds(60) })
        _ = bench.command(.hold, id)
        #expect(bench.wait(.seconds(59)) == [])
        #expect(bench.wait(.seconds(1)) == [.end(id, .expired)])
        #expect(bench.state(id) == .expired)
    }
}
