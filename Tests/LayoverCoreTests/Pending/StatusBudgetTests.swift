import Testing

@testable import LayoverCore

/// Responses that are asked for again, and the budget that bounds them, where what is over it is delivered.
struct StatusBudgetTests {
    private var bench = PendingBench()
    private let unavailable = Failure.answered(503)

    private func policy(
        ratio: Double = 0, minimum: Int = 2, name: String = "test", whenSpent: Policy.SpentRule = .deliver
    ) -> Policy {
        .fixture {
            $0.name = name
            $0.budget = .init(ratio: ratio, minimum: minimum, whenSpent: whenSpent)
        }
    }

    private mutating func inUse(_ name: String = "test") -> Int? {
        bench.set.origins.states[PendingBench.origin]?.pacings[name]?.budget?.minimumInUse
    }

    @Test mutating func retriedResponseIsNotDelivered() {
        let (id, actions) = bench.park(unavailable, delay: .seconds(7), policy: policy())
        #expect(actions == [.dropResponse(id), .watched()])
        #expect(bench.shutOrigins.isEmpty)
        #expect(bench.wait(of: id) == .seconds(7))
        #expect(bench.entry(id)?.waitingFor == .time)
        #expect(bench.wait(.seconds(7)) == [.start(id, .dueTime)])
        #expect(bench.status(id, delay: .seconds(3)) == [.dropResponse(id)])
        #expect(bench.wait(.seconds(3)) == [.start(id, .dueTime)])
        #expect(bench.deliver(id) == [.forgotten()])
    }

    /// The origin says when; that the way to it is open is nothing new.
    @Test mutating func reachabilityDoesNotShortenRetryAfter() {
        let id = bench.parked(unavailable, delay: .seconds(7), policy: policy())
        #expect(bench.reachable() == [])
        #expect(bench.originAnswered() == [])
        #expect(bench.command(.retry, id) == (.done, [.start(id, .admin)]))
    }

    /// Regression: a connection that hung on a network that is gone was not given up.
    @Test mutating func connectingStatusRetryIsAbandonedByANetworkChange() {
        let id = bench.parked(unavailable, policy: policy())
        _ = bench.wait(.seconds(1))
        #expect(bench.reachable() == [.abandonConnecting(id)])
        let cutOff = Failure.fixture(.proxyInternalError, phase: .connecting)
        #expect(bench.fail(id, cutOff, delay: .zero, rule: .networkChanged) == [.start(id, .reachability)])
        #expect(inUse() == 0)
    }

    @Test mutating func retriedStatusNarrowsTheWindow() {
        bench = PendingBench(perOriginAttemptCountMax: 8)
        _ = bench.parked(unavailable, policy: policy())
        #expect(bench.set.origins.states[PendingBench.origin]?.gate.window == 4)
        _ = bench.parked(unavailable, policy: policy())
        #expect(bench.set.origins.states[PendingBench.origin]?.gate.window == 2)
    }

    /// Regression: a response that is asked for again let one more start before it narrowed the window.
    @Test mutating func retriedStatusStartsNoOtherAttempt() {
        bench = PendingBench(perOriginAttemptCountMax: 8)
        let ids = (0..<6).map { _ in bench.parked(.refused, delay: .seconds(1), policy: policy()) }
        _ = bench.originAnswered() + bench.originAnswered()
        #expect(bench.set.counts[.attempting] == 2)
        #expect(bench.status(ids[0]) == [.dropResponse(ids[0])])
        #expect(bench.set.counts[.attempting] == 1)
    }

    // MARK: Longer than the hold

    /// Regression: the response in hand was thrown away, and its client waited for nothing.
    @Test mutating func responseWithRetryAfterBeyondTheHoldIsDelivered() {
        let policy = Policy.fixture {
            $0.holdMax = .seconds(60)
            $0.budget?.whenSpent = .deliver
        }
        let (id, actions) = bench.park(unavailable, delay: .seconds(61), policy: policy, retryAfter: .seconds(61))
        #expect(actions == [.deliverResponse(id, .holdMax)])
        #expect(bench.entry(id) == nil)
        let (other, waits) = bench.park(unavailable, delay: .seconds(60), policy: policy, retryAfter: .seconds(60))
        #expect(waits == [.dropResponse(other), .watched()])
    }

    @Test mutating func responseIsDeliveredIfRetryAfterExceedsTheRestOfTheHold() {
        let policy = Policy.fixture { $0.holdMax = .seconds(60) }
        let id = bench.parked(unavailable, delay: .seconds(40), policy: policy)
        #expect(bench.wait(.seconds(40)) == [.start(id, .dueTime)])
        #expect(bench.status(id, delay: .seconds(21), retryAfter: .seconds(21)).contains(.deliverResponse(id, .holdMax)))
    }

    /// Its own delay is not the origin's word: a person may still shorten it.
    @Test mutating func delayOfThePolicyMayExceedHoldMax() {
        let (id, actions) = bench.park(unavailable, delay: .seconds(61), policy: .fixture { $0.holdMax = .seconds(60) })
        #expect(actions == [.dropResponse(id), .watched()])
    }

    @Test mutating func clientThatAcceptsTicketsWaitsBeyondTheHold() {
        let (id, actions) = bench.park(
            unavailable, delay: .seconds(61), policy: .fixture { $0.holdMax = .seconds(60) }, retryAfter: .seconds(61), wantsTicket: true)
        #expect(actions == [.dropResponse(id), .announce(PendingBench.origin, .paused(["test"]))])
    }

    // MARK: The budget

    @Test mutating func responseIsDeliveredOnceTheMinimumOfTheBudgetIsUsed() {
        let first = bench.parked(unavailable, policy: policy())
        _ = bench.parked(unavailable, policy: policy())
        #expect(inUse() == 2)
        let (third, actions) = bench.park(unavailable, policy: policy())
        #expect(actions == [.deliverResponse(third, .budget)])
        #expect(bench.entry(third) == nil)
        // What is given back can be had.
        _ = bench.command(.cancel, first)
        #expect(bench.park(unavailable, policy: policy()).1.count == 1)
        #expect(inUse() == 2)
    }

    @Test mutating func responseToAReplayIsDeliveredWhenTheBudgetIsSpent() {
        let waiting = bench.parked(.reset, delay: .seconds(1), policy: policy(minimum: 1))
        let first = bench.parked(unavailable, delay: .seconds(50), policy: policy(minimum: 1))
        #expect(bench.wait(.seconds(1)) == [.start(waiting, .dueTime)])
        #expect(bench.status(waiting) == [.deliverResponse(waiting, .budget)])
        // It is under way until its response is delivered, and waits in nothing.
        #expect(bench.state(waiting) == .attempting)
        #expect(bench.entry(waiting)?.incident == nil)
        #expect(bench.end(waiting) == [])
        #expect(bench.state(waiting) == .delivered)
        #expect(bench.entry(first)?.state == .waiting)
        #expect(inUse() == 1)
    }

    @Test mutating func freshRequestsAddTokensToTheBudget() {
        let earning = policy(ratio: 0.5, minimum: 1)
        _ = bench.parked(unavailable, policy: earning)
        let (early, actions) = bench.park(unavailable, policy: earning)
        #expect(actions.first == .deliverResponse(early, .budget), "nothing was earned yet")
        for _ in 0..<4 { _ = bench.fresh(1) }
        let later = (0..<3).map { _ in bench.park(unavailable, policy: earning) }
        #expect(later[0].1.first == .dropResponse(later[0].0), "a token was earned")
        #expect(later[1].1.first == .dropResponse(later[1].0), "two were earned")
        #expect(later[2].1.first == .deliverResponse(later[2].0, .budget), "and no more")
        #expect(inUse() == 1)
    }

    @Test mutating func eachPolicyAndOriginHasItsOwnBudget() {
        _ = bench.parked(unavailable, policy: policy(minimum: 1))
        #expect(bench.park(unavailable, policy: policy(minimum: 1, name: "other")).1.count == 1)
        let origin = Origin(scheme: .https, host: "a.example")
        #expect(bench.park(unavailable, origin: origin, policy: policy(minimum: 1)).1.count == 2)
        #expect(bench.set.count == 3)
    }

    @Test mutating func statusRetriesAreUnlimitedWithoutABudget() {
        for _ in 0..<50 { _ = bench.parked(unavailable, policy: .fixture { $0.budget = nil }) }
        #expect(bench.set.count == 50)
    }

    @Test mutating func failuresUseNoBudget() {
        for _ in 0..<9 { _ = bench.parked(.reset, policy: policy(minimum: 1)) }
        #expect(bench.set.count == 9)
        #expect(bench.set.origins.states[PendingBench.origin]?.pacings.isEmpty == true)
    }

    @Test mutating func refusedRequestUsesNoBudget() {
        bench = PendingBench { $0.entryCountMax = 1 }
        _ = bench.parked(.reset, policy: policy())
        let (id, actions) = bench.park(unavailable, policy: policy())
        #expect(actions == [.refuse(id, limit: "limits.entries", value: 1)])
        #expect(inUse() == nil)
    }

    // MARK: Giving back

    @Test mutating func retryByAPersonUsesNoBudget() {
        let id = bench.parked(unavailable, delay: .seconds(50), policy: policy(minimum: 1))
        #expect(inUse() == 1)
        #expect(bench.command(.retry, id) == (.done, [.start(id, .admin)]))
        #expect(inUse() == 0)
        #expect(bench.park(unavailable, policy: policy(minimum: 1)).1.count == 1)
    }

    @Test(arguments: ["cancel", "end", "reroute", "hold", "drain", "expire"])
    mutating func unusedGrantIsReturnedToTheBudget(by fact: String) {
        let id = bench.parked(unavailable, delay: .seconds(50), policy: policy(minimum: 1))
        let keeper = bench.parked(.reset, delay: .seconds(9999), policy: .fixture { $0.holdMax = .seconds(10_000) })
        #expect(inUse() == 1)
        switch fact {
        case "cancel": _ = bench.command(.cancel, id)
        case "end": _ = bench.end(id, as: .cancelled)
        case "reroute": _ = bench.reroute(id, policy: policy(name: "other"))
        case "hold": _ = bench.command(.hold, id)
        case "drain": _ = bench.drain()
        default: _ = bench.wait(.seconds(50)) + bench.status(id, delay: .seconds(9000)) + bench.wait(.seconds(600))
        }
        #expect(inUse() == 0, "\(keeper)")
    }

    @Test mutating func grantIsInUseUntilTheRetryEnds() {
        let id = bench.parked(unavailable, policy: policy(minimum: 1))
        _ = bench.wait(.seconds(1))
        #expect(inUse() == 1)
        _ = bench.answer(id)
        #expect(inUse() == 1)
        let other = bench.parked(.reset)
        _ = bench.end(id)
        #expect(inUse() == 0, "\(other)")
    }

    @Test mutating func tokenOfACancelledRetryIsReturned() {
        _ = bench.parked(.reset)
        let unbounded = policy(ratio: 1, minimum: 0)
        func tokens() -> Int? { bench.set.origins.states[PendingBench.origin]?.pacings["test"]?.budget?.tokenCount }
        let (early, actions) = bench.park(unavailable, policy: unbounded)
        #expect(actions.first == .deliverResponse(early, .budget), "there is no token yet")
        _ = bench.fresh(1)
        let id = bench.parked(unavailable, delay: .seconds(1), policy: unbounded)
        #expect(tokens() == 0)
        _ = bench.command(.cancel, id)
        #expect(tokens() == 1)
        let next = bench.parked(unavailable, delay: .seconds(1), policy: unbounded)
        _ = bench.wait(.seconds(1))
        // Regression: a reload gave the token of a retry back that was under way.
        _ = bench.reroute(next, policy: policy(name: "other"))
        #expect(tokens() == 0)
    }

    // MARK: Reloads

    private func waiting(ratio: Double = 0, minimum: Int, name: String = "test") -> Policy {
        policy(ratio: ratio, minimum: minimum, name: name, whenSpent: .wait)
    }

    /// Regression: the budget kept the bounds of before the reload, so the entry waited for ever.
    @Test(arguments: ["test", "other"])
    mutating func reloadThatRaisesTheMinimumLetsAKeptRetryGo(name: String) {
        let id = bench.parked(unavailable, policy: waiting(minimum: 0))
        #expect(bench.wait(.seconds(1)) == [])
        #expect(bench.entry(id)?.waitingFor == .pause)
        #expect(bench.reroute(id, policy: waiting(minimum: 1, name: name)) == [.start(id, .dueTime)])
        #expect(inUse(name) == 1)
        _ = bench.deliver(id)
        #expect(inUse(name) ?? 0 == 0)
    }

    /// Regression: nothing was earned for it under the policy that the reload gave it.
    @Test(arguments: ["test", "other"])
    mutating func keptRetryIsPaidForByTheRatioOfTheNewPolicy(name: String) {
        let id = bench.parked(unavailable, policy: waiting(minimum: 0))
        #expect(bench.wait(.seconds(1)) == [])
        #expect(bench.reroute(id, policy: waiting(ratio: 1, minimum: 0, name: name)) == [])
        _ = bench.fresh(1) + bench.fresh(-1)
        #expect(bench.state(id) == .attempting)
    }

    @Test mutating func reloadThatLowersTheMinimumKeepsWhatIsOverIt() {
        bench = PendingBench(perOriginAttemptCountMax: 64)
        let ids = (0..<3).map { _ in bench.parked(unavailable, policy: waiting(minimum: 2)) }
        _ = bench.wait(.seconds(1))
        #expect(bench.states(ids) == [.attempting, .attempting, .waiting])
        #expect(bench.reroute(ids[2], policy: waiting(minimum: 1)) == [])
        _ = bench.deliver(ids[0])
        #expect(bench.state(ids[2]) == .waiting)
        _ = bench.deliver(ids[1])
        #expect(bench.state(ids[2]) == .attempting)
        #expect(inUse() == 1)
    }

    /// A request that a client holds keeps the policy of before.
    @Test mutating func retryUnderTheOldPolicyLeavesTheNewBoundsToOthers() {
        bench = PendingBench(perOriginAttemptCountMax: 64)
        let new = bench.parked(unavailable, delay: .seconds(2), policy: waiting(minimum: 0))
        _ = bench.reroute(new, policy: waiting(minimum: 1))
        let old = bench.parked(unavailable, delay: .seconds(3), policy: waiting(minimum: 0))
        #expect(bench.wait(.seconds(2)) == [.start(new, .dueTime)])
        #expect(bench.wait(.seconds(1)) == [])
        #expect(bench.entry(old)?.waitingFor == .pause)
    }

    // MARK: Held, late, and stopped

    @Test mutating func retryOfAHeldEntryUsesNoBudget() {
        let id = bench.parked(.reset, policy: policy(minimum: 0))
        _ = bench.command(.hold, id)
        _ = bench.command(.retry, id)
        #expect(bench.status(id) == [.dropResponse(id)])
        #expect(bench.state(id) == .held)
    }

    /// Regression: the client of an attempt that ended late got a 504 instead of the origin's response.
    @Test mutating func responseAfterTheEndOfTheHoldIsDelivered() {
        let id = bench.parked(unavailable, policy: .fixture { $0.holdMax = .seconds(10) })
        #expect(bench.wait(.seconds(1)) == [.start(id, .dueTime)])
        #expect(bench.wait(.seconds(60)) == [])
        #expect(bench.status(id) == [.deliverResponse(id, .limit)])
        #expect(bench.end(id) == [.forgotten()])
    }

    @Test mutating func responseDuringDrainingIsDelivered() {
        let id = bench.parked(unavailable, policy: policy())
        _ = bench.wait(.seconds(1))
        #expect(bench.drain() == [])
        #expect(bench.status(id) == [.deliverResponse(id, .limit)])
        _ = bench.end(id)
        #expect(bench.state(id) == .delivered)
    }

    @Test mutating func attemptRecordShowsThatTheResponseWasDelivered() {
        let id = bench.parked(.reset, policy: policy(minimum: 0))
        _ = bench.wait(.seconds(1))
        var record = AttemptRecord(number: 2, trigger: .dueTime, startedAt: bench.now)
        record.verdict = .park(.init(delay: .zero, shutsGate: false, rule: .status))
        let parking = Verdict.Parking(delay: .zero, shutsGate: false, rule: .status)
        _ = bench.handle(AttemptFailed(id, unavailable, parking, bench.tally(id, 2, records: [record])))
        #expect(bench.entry(id)?.attempts.records.last?.verdict == .deliver(.budget))
        #expect(bench.entry(id)?.attemptCount == 2)
    }
}
