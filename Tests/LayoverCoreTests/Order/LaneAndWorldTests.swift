import Testing

@testable import LayoverCore

/// Lanes together with gates, windows, modes, portals and the end of the process.
struct LaneAndWorldTests {
    private var bench = PendingBench()

    @Test mutating func laneOverSeveralOriginsContinuesAtOnce() {
        let here = bench.lane(1)[0]
        let there = bench.lane(1) { $0.origin = PendingBench.other }[0]
        #expect(bench.state(there) == .waiting)
        #expect(bench.deliver(here).started == [there])
    }

    @Test mutating func behindAShutGateOnlyTheFrontIsACanary() {
        let ids = bench.lane(3)
        _ = bench.fail(ids[0], .refused, delay: .seconds(50))
        #expect(bench.reason(ids[0]) == .origin && bench.reason(ids[1]) == .lane)
        #expect(bench.wait(.seconds(1)).started == [ids[0]], "when the gate wants its canary")
        _ = bench.fail(ids[0], .refused, delay: .seconds(50))
        #expect(bench.originAnswered().started == [ids[0]])
        #expect(bench.deliver(ids[0]).started == [ids[1]])
    }

    @Test mutating func frontAtAnUnreachableOriginBlocksOnlyItsLane() {
        let away = bench.lane(1)[0]
        let there = bench.lane(1) { $0.origin = PendingBench.other }[0]
        _ = bench.fail(away, .refused, delay: .seconds(50))
        let (free, actions) = bench.accept { $0.origin = PendingBench.other }
        #expect(actions.started == [free] && bench.state(there) == .waiting)
    }

    @Test mutating func entryUnblockedBehindAShutGateWaitsForTheGate() {
        let ids = bench.lane(2)
        _ = bench.fail(ids[0], .refused, delay: .seconds(50))
        _ = bench.command(.cancel, ids[0])
        #expect(bench.state(ids[1]) == .waiting && bench.reason(ids[1]) == .origin)
        #expect(bench.originAnswered().started == [ids[1]])
    }

    @Test mutating func blockedEntryWithAnOpenGateGoesAfterItsLane() {
        let skipping = Policy.fixture { $0.undecidedInLane = .skip }
        let ids = bench.lane(2) { $0.policy = skipping }
        _ = bench.fail(ids[0], .reset, asks: .exhausted)
        _ = bench.fail(ids[1], .refused, delay: .seconds(300))
        _ = bench.command(.retry, ids[0])
        #expect(bench.state(ids[0]) == .attempting)
        // The response opened the gate while the second was blocked by the first.
        #expect(bench.deliver(ids[0]).started == [ids[1]], "not after five minutes")
    }

    @Test mutating func laneWaitsWhileOfflineAndThenStartsInOrder() {
        _ = bench.mode(.offline)
        let ids = bench.lane(3)
        #expect(bench.states(ids) == [.waiting, .waiting, .waiting])
        #expect(bench.reason(ids[0]) == .network && bench.reason(ids[1]) == .lane)
        #expect(bench.mode(.auto).started + bench.wait(.zero).started == [ids[0]])
        #expect(bench.deliver(ids[0]).started == [ids[1]])
    }

    @Test mutating func portalBlocksTheFrontAndItsLane() {
        let blocker = bench.lane(1)[0]
        let exposed = EntryID(using: &bench.generator)
        guard case .admitted(let sequence) = bench.set.admitTicket() else { return }
        var new = PendingBench.Wish(lane: "lane").entry(exposed, now: bench.now)
        new.request.isExposed = true
        _ = bench.handle(NewTicketStored(new, sequence: sequence))
        let last = bench.lane(1)[0]
        _ = bench.portal(true)
        #expect(bench.deliver(blocker).started == [] && bench.reason(exposed) == .network)
        #expect(bench.reason(last) == .lane)
        #expect(bench.portal(false).started == [exposed])
        #expect(bench.deliver(exposed).started == [last])
    }

    @Test mutating func retryByAPersonStartsBehindAPortal() {
        let ids = bench.lane(2)
        _ = bench.portal(true)
        _ = bench.command(.retry, ids[1])
        #expect(bench.deliver(ids[0]).started == [ids[1]])
    }

    @Test mutating func drainingStartsNoEntryOfALane() {
        let ids = bench.lane(3)
        _ = bench.drain()
        #expect(bench.deliver(ids[0]).started == [])
        #expect(bench.states([ids[1], ids[2]]) == [.waiting, .waiting], "they go on after the next start")
    }

    @Test mutating func windowOfTheOriginLimitsLanes() {
        bench = PendingBench(perOriginAttemptCountMax: 2)
        let fronts = ["one", "two", "three"].map { bench.lane(1, named: $0)[0] }
        #expect(bench.states(fronts) == [.attempting, .attempting, .waiting])
        #expect(bench.reason(fronts[2]) == .turn)
        #expect(bench.deliver(fronts[0]).started == [fronts[2]], "who came first goes first")
    }

    @Test mutating func heldRequestsAndTicketsShareALane() {
        let held = bench.held(lane: "lane")
        let ticket = bench.lane(1)[0]
        #expect(bench.state(ticket) == .waiting)
        #expect(bench.wait(.seconds(5)).started == [held])
        #expect(bench.end(held, as: .cancelled).started == [ticket])
    }

    @Test mutating func ticketAdmittedFirstStartsFirstEvenIfStoredLater() {
        _ = bench.mode(.offline)
        guard case .admitted(let sequence) = bench.set.admitTicket() else { return }
        let newer = bench.lane(1)[0]
        let older = EntryID(using: &bench.generator)
        let new = PendingBench.Wish(lane: "lane").entry(older, now: bench.now)
        _ = bench.handle(NewTicketStored(new, sequence: sequence))
        #expect(bench.mode(.auto).started + bench.wait(.zero).started == [older])
        #expect(bench.deliver(older).started == [newer])
    }
}
