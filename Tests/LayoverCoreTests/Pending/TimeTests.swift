import Testing

@testable import LayoverCore

/// Due times, ends of patience, and the heaps that hold them.
struct TimeTests {
    private var bench = PendingBench()

    @Test(arguments: [(600, 86_400, 600), (600, 30, 30), (1, 86_400, 1)])
    mutating func earliestDeadlineEndsTheEntry(holdMax: Int, lifetime: Int, expected: Int) {
        _ = bench.mode(.offline)
        let id = bench.parked(
            policy: .fixture {
                $0.holdMax = .seconds(holdMax)
                $0.lifetime = .seconds(lifetime)
            })
        #expect(bench.entry(id)?.expiresAt == bench.now + .seconds(expected))
        #expect(bench.wait(.seconds(expected) - .nanoseconds(1)) == [])
        #expect(bench.wait(.nanoseconds(1)) == [.end(id, .expired)])
        #expect(bench.state(id) == .expired)
        #expect(bench.reports == [.ended])
    }

    @Test mutating func attemptInFlightMayFinishAfterHoldMax() {
        let id = bench.parked(.reset, delay: .zero)
        #expect(bench.wait(.zero) == [.start(id, .dueTime)])
        #expect(bench.wait(.seconds(601)) == [])
        #expect(bench.state(id) == .attempting)
        #expect(bench.deliver(id) == [.forgotten()])
        #expect(bench.state(id) == .delivered)
    }

    // MARK: The end of the lifetime

    /// A server that hung stopped a lane for ever: nothing limited its attempt.
    @Test mutating func lifetimeEndsTheAttemptOfATicketAndFreesItsLane() {
        let policy = Policy.fixture { $0.lifetime = .seconds(100) }
        let ids = bench.lane(2) { $0.policy = policy }
        #expect(bench.state(ids[0]) == .attempting)
        _ = bench.patch(ids[1], expiresAt: bench.now + .seconds(1000))
        #expect(bench.wait(.seconds(99)) == [])
        let actions = bench.wait(.seconds(1))
        #expect(actions.ended == [ids[0]] && actions.started == [ids[1]])
        #expect(bench.state(ids[0]) == .expired)
    }

    @Test mutating func lifetimeEndsTheAttemptOfAHeldRequestToo() {
        let id = bench.parked(.reset, delay: .zero, policy: .fixture { $0.lifetime = .seconds(900) })
        #expect(bench.wait(.zero) == [.start(id, .dueTime)])
        #expect(bench.wait(.seconds(899)) == [], "only its wait is limited by holdMax")
        #expect(bench.wait(.seconds(1)).ended == [id])
        #expect(bench.state(id) == .expired)
    }

    @Test mutating func responseThatAClientReadsIsNotCutOff() {
        let id = bench.parked(.reset, delay: .zero, policy: .fixture { $0.lifetime = .seconds(900) })
        _ = bench.wait(.zero)
        _ = bench.answer(id)
        #expect(bench.wait(.seconds(2000)) == [] && bench.state(id) == .attempting)
    }

    @Test mutating func responseToATicketIsCutOffAndCounts() {
        let id = bench.accepted { $0.policy = .fixture { $0.lifetime = .seconds(100) } }
        _ = bench.answer(id)
        #expect(bench.wait(.seconds(100)) == [.abortAttempt(id, isCommanded: false)])
        #expect(bench.state(id) == .attempting, "its end comes from its exchange")
    }

    @Test mutating func anAttemptThatFailsTooLateEndsItsEntry() {
        let id = bench.parked(.reset, delay: .zero)
        #expect(bench.wait(.zero) == [.start(id, .dueTime)])
        #expect(bench.wait(.seconds(601)) == [])
        #expect(bench.fail(id, .reset) == [.end(id, .expired), .forgotten()])
        #expect(bench.state(id) == .expired)
    }

    @Test mutating func allEntriesDueAtOnceStart() {
        let ids = (0..<50).map { _ in bench.parked(.reset, delay: .seconds(1)) }
        for _ in ids { _ = bench.originAnswered() }
        let actions = bench.wait(.seconds(5))
        #expect(Set(actions.compactMap(\.started)) == Set(ids))
        #expect(bench.set.nextWakeAt.map { $0 > bench.now } == true)
    }

    @Test mutating func advancingTwiceDoesNothingTwice() {
        _ = bench.parked(.reset, delay: .seconds(1))
        #expect(bench.wait(.seconds(1)).count == 1)
        #expect(bench.wait(.zero) == [])
    }

    @Test mutating func timersOfEndedEntriesDoNotPileUp() {
        for _ in 0..<20_000 {
            let id = bench.parked(.reset)
            _ = bench.command(.cancel, id)
        }
        #expect(bench.set.timers.count <= 1000 + 4)
        // Nothing that is alive loses its timers by the tidying.
        let id = bench.parked(.reset)
        for _ in 0..<5_000 {
            let other = bench.parked(.reset)
            _ = bench.command(.cancel, other)
        }
        #expect(bench.wait(.seconds(1)) == [.start(id, .dueTime)])
    }

    /// With 400 000 entries a look at all timers took 2.5 s.
    @Test mutating func timersThatGoStaleAreDroppedAFewAtATime() {
        bench = PendingBench { $0.heldClientCountMax = 2_000 }
        let ids = (0..<2_000).map { _ in bench.parked(.reset, policy: .fixture { $0.holdMax = .seconds(1_000_000) }) }
        for round in 1...8 {
            let patch = EntryPatch(expiresAt: bench.now + .seconds(1_000_000 + round))
            for id in ids { #expect(bench.set.patched(id, patch, now: bench.now).0 == .done) }
            #expect(bench.set.timers.count <= 1000 + 4 * (ids.count + 1))
        }
        for id in ids.dropFirst(10) { _ = bench.command(.cancel, id) }
        #expect(bench.set.timers.count <= 1000 + 4 * (10 + 1))
        #expect(bench.set.timers.completeLookCount == 0)
    }

    /// Regression: behind a gate that stayed shut every failed attempt left a place behind.
    @Test mutating func placesOfEndedEntriesDoNotPileUpBehindAShutGate() {
        let id = bench.parked(policy: .fixture { $0.holdMax = .seconds(1_000_000) })
        for _ in 0..<2_000 {
            _ = bench.command(.retry, id)
            _ = bench.fail(id)
            let other = bench.parked()
            _ = bench.command(.retry, other)
            _ = bench.command(.cancel, other)
        }
        _ = bench.fail(id)
        let line = bench.set.origins.states[PendingBench.origin]
        #expect((line?.placeCount ?? .max) < 200)
        #expect(bench.originAnswered().contains(.start(id, .reachability)))
    }

    @Test mutating func timerOfAnEarlierAttemptStartsNothing() {
        let id = bench.parked(.reset, delay: .seconds(5))
        #expect(bench.command(.retry, id).1 == [.start(id, .admin)])
        #expect(bench.fail(id, .reset, delay: .seconds(20)) == [])
        #expect(bench.wait(.seconds(19)) == [])
        #expect(bench.wait(.seconds(1)) == [.start(id, .dueTime)])
    }

    @Test mutating func nothingIsDueInAnEmptySet() {
        #expect(bench.set.nextWakeAt == nil)
        #expect(bench.wait(.seconds(1)) == [])
    }
}
