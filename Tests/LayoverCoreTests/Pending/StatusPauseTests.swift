import Testing

@testable import LayoverCore

/// An origin that asks to be left alone for a time is left alone by all requests of the policy.
struct StatusPauseTests {
    private var bench = PendingBench()
    private let unavailable = Failure.answered(503)
    private static let paused = PendingAction.announce(PendingBench.origin, .paused(["test"]))
    private let policy = Policy.fixture { $0.retryOn = [.connectivity, .status(503)] }

    private mutating func refused(for wait: Duration = .seconds(5), policy: Policy? = nil) -> EntryID {
        bench.park(unavailable, delay: wait, policy: policy ?? self.policy, retryAfter: wait).0
    }

    private mutating func fresh(_ policy: Policy? = nil) -> (EntryID, [PendingAction]) {
        bench.park(nil, delay: .zero, policy: policy ?? self.policy)
    }

    @Test mutating func statusWithATimePausesItsOriginForNewRequestsToo() {
        let (first, actions) = bench.park(unavailable, delay: .seconds(5), policy: policy, retryAfter: .seconds(5))
        #expect(actions == [.dropResponse(first), Self.paused])
        let (second, none) = fresh()
        #expect(none == [])
        for id in [first, second] {
            #expect(bench.entry(id)?.waitingFor == .pause)
            #expect(bench.wait(of: id) == .seconds(5))
        }
    }

    @Test mutating func afterThePauseACanaryGoesAndThenMoreWithEachResponse() {
        let first = refused()
        let others = (0..<11).map { _ in fresh().0 }
        #expect(bench.wait(.seconds(5)) == [.start(first, .dueTime)])
        #expect(bench.entry(others[0])?.waitingFor == .pause)
        #expect(bench.wait(of: others[0]) == nil)
        #expect(bench.deliver(first).filter { $0.started != nil } == others.prefix(8).map { .start($0, .arrival) })
        #expect(bench.deliver(others[0]).compactMap(\.started) == [others[8], others[9]])
        #expect(bench.deliver(others[1]).compactMap(\.started) == [others[10]])
        _ = others.dropFirst(2).flatMap { bench.deliver($0) }
        #expect(bench.set.count == 0)
        #expect(!bench.set.origins.isKnown(PendingBench.origin))
    }

    @Test mutating func canaryThatIsRefusedBeginsThePauseAnew() {
        let first = refused()
        let (second, _) = fresh()
        _ = bench.wait(.seconds(5))
        #expect(bench.status(first, delay: .seconds(7), retryAfter: .seconds(7)) == [.dropResponse(first)])
        #expect(bench.wait(of: second) == .seconds(7))
        #expect(bench.wait(.seconds(7)).compactMap(\.started) == [first])
    }

    /// The response to an attempt that began before the pause says nothing of how the origin is after it.
    @Test mutating func earlierAttemptDoesNotEndAPause() {
        let first = refused()
        let others = (0..<3).map { _ in fresh().0 }
        _ = bench.wait(.seconds(5)) + bench.deliver(first)
        #expect(bench.status(others[0], delay: .seconds(7), retryAfter: .seconds(7)) == [.dropResponse(others[0])])
        let late = fresh().0
        #expect(bench.deliver(others[1]).compactMap(\.started) == [])
        #expect(bench.wait(of: late) == .seconds(7))
        #expect(bench.wait(.seconds(7)).compactMap(\.started) == [others[0]])
    }

    @Test mutating func statusOfAnotherAttemptProlongsThePause() {
        _ = refused(for: .seconds(5))
        bench.now = bench.now + .seconds(1)
        _ = refused(for: .seconds(5))
        let (fresh, _) = fresh()
        #expect(bench.wait(of: fresh) == .seconds(5))
        _ = refused(for: .seconds(1))
        #expect(bench.wait(of: fresh) == .seconds(5))
    }

    /// A parent proxy could not connect to the origin, and said when to come back. The gate is shut, but its canary waits as well.
    @Test mutating func failureThatNamesAWaitPausesItsOriginForNewRequestsToo() {
        let unavailable = Failure.fixture(.destinationUnavailable)
        let (first, _) = bench.park(unavailable, delay: .seconds(5), policy: policy, retryAfter: .seconds(5))
        #expect(bench.shutOrigins == [PendingBench.origin])
        let (_, actions) = fresh()
        #expect(actions.compactMap(\.started) == [])
        #expect(bench.wait(.seconds(4)).compactMap(\.started) == [])
        let started = bench.wait(.seconds(1)).compactMap(\.started)
        #expect(started.count == 1)
        // The wait of a later attempt counts too.
        let again = bench.fail(started.first ?? first, unavailable, delay: .seconds(7), retryAfter: .seconds(7))
        #expect(again.compactMap(\.started) == [])
        #expect(bench.wait(.seconds(6)).compactMap(\.started) == [])
        #expect(bench.wait(.seconds(1)).compactMap(\.started).count == 1)
    }

    @Test mutating func otherPoliciesAndOriginsAreNotPaused() {
        _ = refused()
        let other = Policy.fixture { $0.name = "other" }
        let (id, actions) = fresh(other)
        #expect(actions == [.start(id, .arrival)])
        let (elsewhere, started) = bench.park(nil, origin: Origin(scheme: .http, host: "b.example"), delay: .zero, policy: policy)
        #expect(started.compactMap(\.started) == [elsewhere])
    }

    /// A client that would be gone gets what the origin says, as without the proxy.
    @Test mutating func clientThatCannotWaitSoLongIsNotHeldBack() {
        let short = Policy.fixture { $0.holdMax = .seconds(30) }
        let (first, actions) = bench.park(unavailable, delay: .seconds(60), policy: short, retryAfter: .seconds(60))
        #expect(actions == [.deliverResponse(first, .holdMax), Self.paused])
        let (second, started) = fresh(short)
        #expect(started.compactMap(\.started) == [second])
        let waiting = bench.park(nil, delay: .zero, policy: short, wantsTicket: true).0
        #expect(bench.entry(waiting)?.waitingFor == .pause)
    }

    @Test mutating func deliveredResponsePausesTheOriginForOthers() {
        #expect(bench.handle(OriginPaused(PendingBench.origin, for: policy, .seconds(5))) == [Self.paused])
        let (id, actions) = fresh()
        #expect(actions == [])
        #expect(bench.wait(.seconds(5)).compactMap(\.started) == [id])
    }

    @Test mutating func pauseThatNobodyWaitsForEndsWithItsTime() {
        _ = bench.handle(OriginPaused(PendingBench.origin, for: policy, .seconds(5)))
        #expect(bench.wait(.seconds(4)) == [])
        #expect(bench.wait(.seconds(1)) == [.forgotten()])
        #expect(!bench.set.origins.isKnown(PendingBench.origin))
    }

    @Test mutating func timeBeyondRetryAfterMaxPausesNothing() {
        let policy = Policy.fixture { $0.retryAfterMax = .seconds(3) }
        #expect(bench.handle(OriginPaused(PendingBench.origin, for: policy, .seconds(5))) == [])
    }

    // MARK: People

    @Test mutating func retryByAPersonGoesAloneAndEndsThePauseIfItIsAnswered() {
        let first = refused()
        let others = (0..<3).map { _ in fresh().0 }
        #expect(bench.command(.retry, others[0]) == (.done, [.start(others[0], .admin)]))
        #expect(bench.command(.retry, others[1]) == (.done, []))
        #expect(bench.entry(others[1])?.willGo == .pauseEnds)
        #expect(bench.deliver(others[0]).compactMap(\.started) == [others[1], others[2]])
        #expect(bench.entry(first)?.waitingFor == .time)
    }

    @Test mutating func retryThatIsRefusedLeavesThePause() {
        let (waiting, id) = (refused(), fresh().0)
        _ = bench.command(.retry, id)
        #expect(bench.status(id, delay: .seconds(8), retryAfter: .seconds(8)) == [.dropResponse(id)])
        #expect(bench.wait(of: waiting) == .seconds(8))
    }

    // MARK: With the rest

    /// Regression: each status halved it too, so that one went after the other.
    @Test mutating func pauseDoesNotNarrowTheWindowOfItsOrigin() {
        _ = [refused(), refused(), refused()]
        #expect(bench.set.origins.states[PendingBench.origin]?.gate.window == 64)
    }

    @Test mutating func shutGateComesBeforeThePause() {
        let first = refused()
        let (second, _) = fresh()
        let lost = bench.parked(.refused, delay: .seconds(60), policy: .fixture { $0.name = "other" })
        #expect(bench.entry(second)?.waitingFor == .origin)
        // The way is open, and the pause goes on.
        #expect(bench.originAnswered().compactMap(\.started) == [lost])
        #expect(bench.entry(second)?.waitingFor == .pause)
        _ = bench.deliver(lost)
        #expect(bench.wait(.seconds(5)).compactMap(\.started) == [first])
    }

    @Test mutating func reachabilityDoesNotEndAPause() {
        let (first, second) = (refused(), fresh().0)
        #expect(bench.reachable() == [])
        #expect(bench.entry(second)?.waitingFor == .pause)
        #expect(bench.wait(.seconds(5)).compactMap(\.started) == [first])
    }

    @Test mutating func offlineHoldsUpWhatWaitedForThePause() {
        let first = refused()
        _ = bench.mode(.offline)
        #expect(bench.wait(.seconds(5)) == [])
        #expect(bench.mode(.online).compactMap(\.started) == [first])
    }

    @Test mutating func anotherPolicyFreesAnEntryFromThePause() {
        _ = refused()
        let (id, _) = fresh()
        #expect(bench.reroute(id, policy: .fixture { $0.name = "other" }).compactMap(\.started) == [id])
    }

    @Test mutating func cancelledEntriesDoNotTakeTheRoomOfOthers() {
        let first = refused()
        let others = (0..<3).map { _ in fresh().0 }
        _ = bench.command(.cancel, first)
        _ = bench.command(.cancel, others[0])
        #expect(bench.wait(.seconds(5)).compactMap(\.started) == [others[1]])
    }

    @Test mutating func sixtyRequestsAreAllServedInAGrowingWindow() {
        var waiting = (0..<60).map { _ in refused(for: .seconds(1)) }
        var underWay = bench.wait(.seconds(1)).compactMap(\.started)
        var most = 0
        while !underWay.isEmpty {
            let id = underWay.removeFirst()
            waiting.removeAll { $0 == id }
            underWay += bench.deliver(id).compactMap(\.started)
            most = max(most, underWay.count)
        }
        #expect(waiting == [])
        #expect((2...60).contains(most))
    }

    // MARK: Statuses without a time

    @Test mutating func retryOverTheBudgetWaitsUntilAnotherHasEnded() {
        var policy = policy
        policy.budget = .init(ratio: 0, minimum: 1)
        let ids = (0..<3).map { _ in bench.park(unavailable, delay: .seconds(1), policy: policy).0 }
        #expect(bench.set.count == 3)
        #expect(bench.wait(.seconds(1)) == [.start(ids[0], .dueTime)])
        #expect(bench.entry(ids[1])?.waitingFor == .pause)
        #expect(bench.status(ids[0], delay: .seconds(9)).compactMap(\.started) == [ids[1]])
        #expect(bench.deliver(ids[1]).compactMap(\.started) == [ids[2]])
        _ = bench.deliver(ids[2])
        #expect(bench.wait(.seconds(9)).compactMap(\.started) == [ids[0]])
    }

    @Test mutating func retryByAPersonNeedsNoBudget() {
        var policy = policy
        policy.budget = .init(ratio: 0, minimum: 0)
        let id = bench.park(unavailable, delay: .seconds(1), policy: policy).0
        #expect(bench.wait(.seconds(1)) == [])
        #expect(bench.entry(id)?.waitingFor == .pause)
        #expect(bench.command(.retry, id) == (.done, [.start(id, .admin)]))
    }

    /// A grant is taken when the attempt begins, so what waits in a pause keeps nothing from others.
    @Test mutating func budgetAndPauseTogetherKeepNobodyForEver() {
        var policy = policy
        policy.budget = .init(ratio: 0, minimum: 1)
        let untimed = (0..<3).map { _ in bench.park(unavailable, delay: .seconds(1), policy: policy).0 }
        let timed = refused(for: .seconds(2), policy: policy)
        var served: [EntryID] = []
        var underWay = bench.wait(.seconds(2)).compactMap(\.started)
        while let id = underWay.popLast() {
            served.append(id)
            underWay += bench.deliver(id).compactMap(\.started)
        }
        #expect(Set(served) == Set(untimed + [timed]))
    }

    /// Regression: it took the place of the canary after the pause, so nothing of its policy went.
    @Test mutating func retryWithoutBudgetKeepsNoOtherAfterAPause() {
        var policy = policy
        policy.budget = .init(ratio: 0, minimum: 0)
        let untimed = bench.park(unavailable, delay: .seconds(1), policy: policy).0
        let other = bench.park(.reset, delay: .seconds(1), policy: policy).0
        let timed = refused(for: .seconds(2), policy: policy)
        _ = bench.command(.cancel, timed)
        #expect(bench.wait(.seconds(1)).compactMap(\.started) == [])
        #expect(bench.wait(.seconds(1)).compactMap(\.started) == [other])
        #expect(bench.state(untimed) == .waiting)
    }

    @Test mutating func deliverHandsOutWhatTheBudgetHasNoRetryFor() {
        var policy = policy
        policy.budget = .init(ratio: 0, minimum: 1, whenSpent: .deliver)
        _ = bench.park(unavailable, delay: .seconds(5), policy: policy, retryAfter: .seconds(5))
        let (second, actions) = bench.park(unavailable, delay: .seconds(5), policy: policy, retryAfter: .seconds(5))
        #expect(actions == [.deliverResponse(second, .budget)])
        let (third, started) = fresh(policy)
        #expect(started == [.start(third, .arrival)])
    }
}
