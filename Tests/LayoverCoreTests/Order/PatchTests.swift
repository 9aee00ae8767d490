import Testing

@testable import LayoverCore

/// `PATCH /v1/pending/{id}`.
struct PatchTests {
    private var bench = PendingBench()

    @Test mutating func changedPriorityDecidesTheNextEntry() {
        bench = PendingBench(perOriginAttemptCountMax: 1)
        let ids = (0..<3).map { _ in bench.accepted() }
        let (result, actions) = bench.patch(ids[2], priority: 0)
        #expect(result == .done && actions == [] && bench.entry(ids[2])?.priority == 0)
        #expect(bench.deliver(ids[0]).started == [ids[2]])
        #expect(bench.set.record(of: ids[2])?.priority == 0)
    }

    @Test mutating func invalidPatchIsRefused() {
        let id = bench.accepted()
        #expect(bench.patch(id, priority: 8).0 == .conflict && bench.patch(id, priority: -1).0 == .conflict)
        #expect(bench.patch(id, revision: 99, priority: 1).0 == .stale)
        #expect(bench.patch(id, lane: "lane").0 == .conflict, "it is under way")
        _ = bench.deliver(id)
        #expect(bench.patch(id, priority: 1).0 == .conflict)
        #expect(bench.patch(EntryID(using: &bench.generator), priority: 1).0 == .unknown)
    }

    @Test mutating func deadlineSetByAPersonOutlastsPolicies() {
        let id = bench.held(wantsTicket: true)
        _ = bench.patch(id, expiresAt: bench.now + .seconds(5000))
        _ = bench.reroute(id, policy: .fixture { $0.holdMax = .seconds(1) })
        _ = bench.willStore(id)
        _ = bench.stored(id)
        #expect(bench.entry(id)?.expiresAt == bench.now + .seconds(5000))
    }

    @Test mutating func entryWithADeadlineInThePastEnds() {
        let ids = bench.lane(3)
        let (_, actions) = bench.patch(ids[1], expiresAt: bench.now)
        #expect(actions == [.end(ids[1], .expired)])
        #expect(bench.patch(ids[0], expiresAt: bench.now).1 == [], "an attempt in flight is let finish")
        let last = bench.fail(ids[0], .reset)
        #expect(last.ended == [ids[0]] && last.started == [ids[2]])
    }

    @Test mutating func entryThatLeavesItsLaneIsNotBlocked() {
        let ids = bench.lane(3)
        #expect(bench.patch(ids[1], lane: .some(nil)).1.started == [ids[1]])
        #expect(bench.entry(ids[1])?.lane == nil)
        #expect(bench.deliver(ids[0]).started == [ids[2]])
    }

    @Test mutating func entryThatChangesItsLaneIsOrderedByAge() {
        _ = bench.mode(.offline)
        let old = bench.lane(1, named: "old")[0]
        let ids = bench.lane(2, named: "new")
        _ = bench.patch(old, lane: "new")
        #expect(bench.reason(ids[0]) == .lane)
        #expect(bench.mode(.auto).started + bench.wait(.zero).started == [old])
        #expect(bench.deliver(old).started == [ids[0]])
        #expect(bench.set.lanes.states.count == 1)
    }

    @Test mutating func entryThatChangesItsLaneNeverPassesAnAttempt() {
        let first = bench.lane(2, named: "old")[1]
        let under = bench.lane(1, named: "new")[0]
        #expect(bench.patch(first, lane: "new").1.started == [] && bench.reason(first) == .lane)
        #expect(bench.deliver(under).started == [first])
    }

    @Test mutating func frontMovedToAnotherLaneFreesTheNext() {
        let ids = bench.lane(2)
        _ = bench.fail(ids[0], .reset, delay: .seconds(100))
        #expect(bench.patch(ids[0], lane: "elsewhere").1.started == [ids[1]])
        _ = bench.patch(ids[0], lane: "lane")
        #expect(bench.wait(.seconds(100)).started == [])
        #expect(bench.deliver(ids[1]).started + bench.wait(.zero).started == [ids[0]])
    }
}
