import Testing

@testable import LayoverCore

/// Tickets that an earlier run has left.
struct RestoringTests {
    private var bench = PendingBench()

    @Test(arguments: [true, false])
    mutating func restoredAttemptMayHaveBeenApplied(isRepeatable: Bool) {
        let id = bench.accepted { $0.isRepeatable = isRepeatable }
        let revision = bench.entry(id)?.revision ?? 0
        let actions = bench.restart()
        #expect(actions.started == (isRepeatable ? [id] : []))
        #expect(bench.why(id) == (isRepeatable ? nil : .maybeApplied))
        #expect((bench.entry(id)?.revision ?? 0) > revision, "to be stored")
        #expect(bench.set.record(of: id)?.counts.mayHaveBeenApplied == true)
    }

    /// Regression: a parent that had failed hid that its child may have been applied, and a plain retry sent it twice.
    @Test(arguments: [true, false])
    mutating func ticketOfAFailedParentStaysMaybeApplied(isRepeatable: Bool) throws {
        let parent = bench.accepted()
        let child = bench.accepted {
            $0.parents = [parent]
            $0.isRepeatable = isRepeatable
        }
        var record = try #require(bench.set.record(of: child))
        // A person forced it, and the process died before it could go.
        record.state = .waiting
        record.counts.mayHaveBeenApplied = true
        _ = bench.restart([record], ended: [parent: .failed])
        #expect(bench.why(child) == (isRepeatable ? .parentFailed : .maybeApplied))
        let (result, actions) = bench.command(.retry, child)
        #expect(result == (isRepeatable ? .done : .conflict))
        #expect(actions.started == (isRepeatable ? [child] : []))
    }

    @Test mutating func heldTicketIsHeldAfterARestart() {
        let id = bench.accepted()
        _ = bench.fail(id, .reset)
        _ = bench.command(.hold, id)
        _ = bench.command(.retry, id)
        #expect(bench.state(id) == .attempting)
        #expect(bench.restart().started == [] && bench.state(id) == .held)
    }

    @Test mutating func statesAndDeadlinesSurviveARestart() {
        let ids = (0..<4).map { _ in bench.accepted() }
        _ = bench.fail(ids[0], .reset, delay: .seconds(100))
        _ = bench.fail(ids[1], .reset, asks: .exhausted)
        _ = bench.fail(ids[2], .reset)
        _ = bench.command(.hold, ids[2])
        _ = bench.patch(ids[3], expiresAt: bench.now + .seconds(7))
        let before = ids.dropLast().map { bench.set.record(of: $0) }
        _ = bench.restart()
        #expect(ids.dropLast().map { bench.set.record(of: $0) } == before)
        _ = bench.fail(ids[3], .reset, delay: .seconds(100))
        _ = bench.reroute(ids[3], policy: .fixture { $0.lifetime = .seconds(100_000) })
        #expect(bench.wait(.seconds(7)).ended == [ids[3]], "a person set it")
    }

    @Test mutating func aRestartNeverShortensTheLifeOfATicket() {
        let id = bench.accepted { $0.policy = .fixture { $0.lifetime = .seconds(3600) } }
        _ = bench.fail(id, .reset, delay: .seconds(99_999))
        let began = bench.now
        _ = bench.wait(.seconds(100))
        #expect(bench.restart(policy: .fixture { $0.lifetime = .seconds(50) }).ended == [])
        #expect(bench.entry(id)?.expiresAt == began + .seconds(3600))
        _ = bench.reroute(id, policy: .fixture { $0.lifetime = .seconds(7200) })
        #expect(bench.entry(id)?.expiresAt == began + .seconds(7200), "nobody set it, so a longer one counts")
    }

    @Test mutating func theWindowStartsAtOneAndTheOldestGoesFirst() {
        _ = bench.mode(.offline)
        let ids = (0..<10).map { _ in bench.accepted() }
        #expect(bench.restart().started == [ids[0]])
        #expect(bench.deliver(ids[0]).started == [ids[1], ids[2]])
    }

    /// Tickets with parents are restored in a later portion than the tickets behind them in their lane.
    @Test mutating func aLaneKeepsItsOrderOverPortions() {
        let parent = bench.accepted()
        let child = bench.accepted {
            $0.lane = "lane"
            $0.parents = [parent]
        }
        let next = bench.accepted { $0.lane = "lane" }
        let records = bench.records()
        bench.set = PendingSet()
        bench.set.restoringBegan()
        for id in [next, child] {
            let portion = records.filter { $0.id == id }.map { ($0, Policy.fixture()) }
            #expect(bench.handle(TicketsRestored(portion, ended: [parent: .delivered])).started == [])
        }
        #expect(bench.handle(RestoringEnded()).started == [child])
        #expect(bench.reason(next) == .lane)
    }

    @Test mutating func lanesKeepTheirOrder() {
        let (one, two) = (bench.lane(3, named: "one"), bench.lane(2, named: "two"))
        var order = bench.restart().started
        var next = 0
        while next < order.count {
            order += bench.deliver(order[next]).started
            next += 1
        }
        #expect(bench.set.count == 0)
        #expect(order.filter(one.contains) == one && order.filter(two.contains) == two)
    }

    @Test mutating func undecidedTicketStillBlocksItsLaneAfterARestart() {
        let ids = bench.lane(2) { $0.isRepeatable = false }
        #expect(bench.restart().started == [])
        #expect(bench.why(ids[0]) == .maybeApplied && bench.reason(ids[1]) == .lane)
        let skipping = Policy.fixture { $0.undecidedInLane = .skip }
        #expect(bench.restart(policy: skipping).started == [ids[1]])
    }

    @Test mutating func sequencesAreNeverUsedAgain() {
        _ = bench.lane(3)
        _ = bench.restart()
        #expect(bench.set.admitTicket() == .admitted(sequence: 4))
        bench.set.skipSequences(to: 10)
        #expect(bench.set.admitTicket() == .admitted(sequence: 11))
    }

    @Test mutating func ticketsRestoredInPortionsKeepTheirOrder() {
        _ = bench.mode(.offline)
        let parent = bench.accepted()
        let ids = bench.lane(3) { $0.parents = [parent] }
        let records = bench.records()
        #expect(bench.restart(Array(records.prefix(2))).started == [parent])
        let rest = records.dropFirst(2).map { ($0, Policy.fixture()) }
        #expect(bench.handle(TicketsRestored(rest, ended: [:])).started == [])
        #expect(bench.deliver(parent).started == [ids[0]])
        #expect(bench.deliver(ids[0]).started == [ids[1]])
    }

    // MARK: Parents

    @Test mutating func childrenWaitForTheirParentsAsBefore() {
        let parent = bench.accepted()
        let child = bench.accepted { $0.parents = [parent] }
        _ = bench.restart(bench.records().reversed())
        #expect(bench.reason(child) == .parent)
        #expect(bench.deliver(parent).started == [child])
    }

    @Test(arguments: [EntryState.delivered, .cancelled, nil])
    mutating func parentThatEndedBeforeTheRestartDecidesItsChildren(state: EntryState?) {
        let parent = bench.accepted()
        let ids = [EntryState.waiting, .held].map { wanted in
            let id = bench.accepted { $0.parents = [parent] }
            if wanted == .held { _ = bench.command(.hold, id) }
            return id
        }
        let records = bench.records().filter { $0.id != parent }
        let started = bench.restart(records, ended: state.map { [parent: $0] } ?? [:]).started
        #expect(started == (state == .delivered ? [ids[0]] : []))
        #expect(bench.states(ids) == (state == .delivered ? [.attempting, .held] : [.undecided, .undecided]))
    }

    // MARK: What is over

    @Test mutating func ticketThatExpiredBeforeTheRestartIsNotStarted() {
        let short = Policy.fixture { $0.lifetime = .seconds(10) }
        let id = bench.accepted { $0.policy = short }
        let child = bench.accepted { $0.parents = [id] }
        _ = bench.fail(id, .reset)
        let records = bench.records()
        bench.now = bench.now + .seconds(10)
        let actions = bench.restart(records, policy: short)
        #expect(actions.started == [] && actions.ended.contains(id))
        #expect([.expired, .undecided].contains(bench.state(child)))
    }

    @Test mutating func ticketWithExpiredCredentialsIsNotSentAfterARestart() {
        let notAfter = bench.now + .seconds(10)
        let id = bench.accepted { $0.notAfter = notAfter }
        _ = bench.fail(id, .reset)
        let records = bench.records()
        bench.now = bench.now + .seconds(10)
        #expect(bench.restart(records).started == [] && bench.why(id) == .credentialsExpired)
    }

    @Test mutating func aRecordSurvivesTheRoundTrip() {
        let id = bench.accepted {
            $0.preconditions = "If-Match: 1"
            $0.priority = 1
            $0.lane = "lane"
        }
        _ = bench.fail(id, .refused, delay: .seconds(9))
        let record = bench.set.record(of: id)
        #expect(record?.shifted(by: TicketClock(offset: 5)).shifted(by: -TicketClock(offset: 5)) == record)
        _ = bench.restart()
        #expect(bench.set.record(of: id) == record)
    }
}
