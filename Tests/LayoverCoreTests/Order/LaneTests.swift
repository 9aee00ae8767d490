import Testing

@testable import LayoverCore

/// Strict order within a lane.
struct LaneTests {
    private var bench = PendingBench()

    @Test mutating func laneStartsItsEntriesInOrderOneAtATime() {
        let ids = bench.lane(4)
        #expect(bench.states(ids) == [.attempting, .waiting, .waiting, .waiting])
        #expect(bench.reason(ids[1]) == .lane && bench.entry(ids[1])?.nextAttemptAt == nil)
        #expect(bench.entry(ids[1])?.waitingOn == ids[0] && bench.entry(ids[3])?.waitingOn == ids[0])
        #expect(bench.entry(ids[0])?.waitingOn == nil)
        for (one, next) in zip(ids, ids.dropFirst()) {
            #expect(bench.deliver(one).started == [next], "in the same fact")
        }
        #expect(bench.deliver(ids[3]).started == [])
        #expect(bench.set.lanes.states.isEmpty, "nobody is left in the lane")
    }

    @Test mutating func lanesDoNotBlockOtherTraffic() {
        let (one, two) = (bench.lane(2, named: "one"), bench.lane(2, named: "two"))
        let free = bench.accepted()
        #expect(bench.states([one[0], two[0], free]) == [.attempting, .attempting, .attempting])
        #expect(bench.states([one[1], two[1]]) == [.waiting, .waiting])
        _ = bench.fail(one[0], .reset, delay: .seconds(50))
        #expect(bench.deliver(two[0]).started == [two[1]], "a lane never blocks another")
    }

    @Test mutating func failedFrontIsRetriedBeforeTheRestOfItsLane() {
        let ids = bench.lane(3)
        #expect(bench.fail(ids[0], .reset, delay: .seconds(5)).started == [])
        #expect(bench.wait(.seconds(4)).started == [])
        #expect(bench.wait(.seconds(1)).started == [ids[0]])
        #expect(bench.deliver(ids[0]).started == [ids[1]])
    }

    @Test(arguments: [EntryState.held, .undecided])
    mutating func heldOrUndecidedFrontBlocksItsLane(state: EntryState) {
        let ids = bench.lane(2)
        _ = bench.fail(ids[0], .reset, asks: state == .undecided ? .maybeApplied : nil)
        if state == .held { _ = bench.command(.hold, ids[0]) }
        #expect(bench.state(ids[0]) == state)
        #expect(bench.wait(.seconds(100)).started + bench.reachable().started == [])
        #expect(bench.reason(ids[1]) == .lane)
        #expect(bench.command(.cancel, ids[0]).1.started == [ids[1]])
    }

    @Test mutating func heldEntryInTheMiddleBlocksItsLaneWhenItIsReached() {
        let ids = bench.lane(3)
        _ = bench.command(.hold, ids[1])
        #expect(bench.deliver(ids[0]).started == [])
        #expect(bench.command(.release, ids[1]).1.started + bench.wait(.zero).started == [ids[1]])
        #expect(bench.deliver(ids[1]).started == [ids[2]])
    }

    @Test(arguments: [0, 1, 2])
    mutating func laneKeepsItsOrderWhenAnEntryLeaves(index: Int) {
        var ids = bench.lane(4)
        let next = bench.command(.cancel, ids[index]).1.started
        #expect(next == (index == 0 ? [ids[1]] : []))
        ids.remove(at: index)
        var order = [ids[0]]
        for _ in 0..<3 { order += bench.deliver(order[order.count - 1]).started }
        #expect(order == ids)
    }

    @Test mutating func expiredFrontFreesItsLane() {
        let short = Policy.fixture { $0.lifetime = .seconds(10) }
        let first = bench.lane(1) { $0.policy = short }[0]
        let second = bench.lane(1)[0]
        _ = bench.fail(first, .reset, delay: .seconds(100))
        let actions = bench.wait(.seconds(10))
        #expect(actions.ended == [first] && actions.started == [second])
    }

    @Test mutating func cancellingAWholeLaneStartsNothing() {
        let ids = bench.lane(50)
        let (results, actions) = bench.set.commanded(.cancel, each: ids, now: bench.now)
        #expect(results.allSatisfy { $0 == .done } && actions.started == [])
        #expect(bench.set.count == 0 && bench.set.lanes.states.isEmpty)
    }

    // MARK: Commands

    @Test mutating func retriedEntryInALaneGoesInItsTurn() {
        let ids = bench.lane(3)
        _ = bench.fail(ids[0], .reset, delay: .seconds(5))
        #expect(bench.command(.retry, ids[1]).1.started == [])
        #expect(bench.reason(ids[1]) == .lane)
        _ = bench.wait(.seconds(5))
        let actions = bench.deliver(ids[0])
        #expect(actions.contains(.start(ids[1], .admin)))
    }

    @Test mutating func retryIsKeptWhenTheEntryMovesInItsLane() {
        let ids = bench.lane(2)
        _ = bench.command(.retry, ids[1])
        _ = bench.reroute(ids[1], policy: .fixture { $0.priority = 1 })
        _ = bench.reachable()
        #expect(bench.deliver(ids[0]).contains(.start(ids[1], .admin)))
    }

    @Test mutating func holdWithdrawsARetryInALane() {
        let ids = bench.lane(2)
        for command in [EntryCommand.retry, .hold, .release] { _ = bench.command(command, ids[1]) }
        #expect(bench.deliver(ids[0]).contains(.start(ids[1], .predecessor)))
    }

    // MARK: Skipping

    private static let skipping = Policy.fixture { $0.undecidedInLane = .skip }

    @Test mutating func undecidedEntryIsSkippedIfThePolicySaysSo() {
        let ids = bench.lane(3) { $0.policy = Self.skipping }
        #expect(bench.fail(ids[0], .reset, asks: .maybeApplied).started == [ids[1]])
        #expect(bench.deliver(ids[1]).started == [ids[2]])
    }

    @Test mutating func retriedEntryThatWasSkippedWaitsForTheOneUnderWay() {
        let ids = bench.lane(3) { $0.policy = Self.skipping }
        _ = bench.fail(ids[0], .reset, asks: .exhausted)
        #expect(bench.command(.retry, ids[0]).1.started == [])
        #expect(bench.reason(ids[0]) == .lane)
        let next = bench.deliver(ids[1])
        #expect(next.contains(.start(ids[0], .admin)) && next.started == [ids[0]], "it is the oldest again")
        #expect(bench.deliver(ids[0]).started == [ids[2]])
    }

    @Test mutating func retriedEntryThatWasSkippedStartsBeforeOneThatWaitsForItsTime() {
        let ids = bench.lane(2) { $0.policy = Self.skipping }
        _ = bench.fail(ids[0], .reset, asks: .exhausted)
        _ = bench.fail(ids[1], .reset, delay: .seconds(5))
        #expect(bench.command(.retry, ids[0]).1.started == [ids[0]])
        #expect(bench.wait(.seconds(5)).started == [] && bench.reason(ids[1]) == .lane)
        #expect(bench.deliver(ids[0]).started == [ids[1]])
    }

    @Test mutating func reloadDecidesWhetherAnUndecidedEntryBlocksItsLane() {
        let ids = bench.lane(3)
        _ = bench.fail(ids[0], .reset, asks: .maybeApplied)
        #expect(bench.reroute(ids[0], policy: Self.skipping).started == [ids[1]])
        _ = bench.reroute(ids[0], policy: .fixture())
        #expect(bench.deliver(ids[1]).started == [], "it blocks again")
    }

    @Test mutating func skippedEntryDoesNotSlowItsLane() {
        let stuck = bench.lane(1) { $0.policy = Self.skipping }[0]
        _ = bench.fail(stuck, .reset, asks: .maybeApplied)
        for _ in 0..<2000 { _ = bench.deliver(bench.lane(1)[0]) }
        #expect(bench.set.lanes.states["lane"]?.entryCount == 1)
        #expect(bench.set.lanes.states["lane"]?.first == nil, "nobody's turn is to come")
    }

    @Test mutating func cancelledEntriesDoNotPileUpBehindTheFront() {
        let front = bench.lane(1)[0]
        for _ in 0..<2000 { _ = bench.command(.cancel, bench.lane(1)[0]) }
        #expect((bench.set.lanes.states["lane"]?.comingCount ?? 0) < 200 && bench.state(front) == .attempting)
    }
}
