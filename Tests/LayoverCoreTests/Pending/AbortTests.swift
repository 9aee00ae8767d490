import Testing

@testable import LayoverCore

/// A person ends an attempt, and the entry is kept.
struct AbortTests {
    private static let unsent = Failure.fixture(.proxyInternalResponse, phase: .connecting)
    private static let sent = Failure.fixture(.proxyInternalResponse, phase: .awaitingResponse, evidence: .maybeApplied)
    private var bench = PendingBench()

    private mutating func attempting(_ policy: Policy = .fixture()) -> EntryID {
        let id = bench.parked(.reset, policy: policy)
        _ = bench.command(.retry, id)
        return id
    }

    @Test mutating func abortEndsTheAttemptUnderWay() {
        let id = attempting()
        let revision = bench.entry(id)?.revision
        #expect(bench.command(.abort, id) == (.done, [.abortAttempt(id, isCommanded: true)]))
        #expect(bench.state(id) == .attempting, "until the attempt has ended")
        #expect(bench.entry(id)?.revision == revision.map { $0 + 1 })
        #expect(bench.entry(id)?.lastCommand?.name == .abort)
        #expect(bench.fail(id, Self.unsent, delay: .seconds(5), rule: .aborted) == [])
        #expect(bench.state(id) == .waiting && bench.shutOrigins.isEmpty)
        #expect(bench.wait(of: id) == .seconds(5))
        #expect(bench.command(.abort, id) == (.conflict, []))
    }

    @Test mutating func abortedEntryIsInNoNewIncident() {
        let ticket = bench.accepted()
        #expect(bench.state(ticket) == .attempting)
        _ = bench.fail(ticket, Self.unsent, delay: .seconds(5), rule: .aborted)
        #expect(bench.entry(ticket)?.incident == nil && bench.set.incidentCount == 0)
    }

    @Test mutating func heldBackEntryIsHeldAgain() {
        let id = bench.parked(.reset)
        _ = bench.command(.hold, id)
        _ = bench.command(.retry, id)
        _ = bench.command(.abort, id)
        _ = bench.fail(id, Self.unsent, delay: .seconds(5), rule: .aborted)
        #expect(bench.state(id) == .held)
    }

    @Test mutating func entryThatMayHaveBeenAppliedIsUndecidedAndItsLaneWaits() {
        let ids = bench.lane(2)
        #expect(bench.command(.abort, ids[0]).0 == .done)
        _ = bench.fail(ids[0], Self.sent, asks: .maybeApplied, rule: .onMaybeApplied)
        #expect(bench.entry(ids[0])?.why == .maybeApplied)
        #expect(bench.reason(ids[1]) == .lane)
    }

    @Test mutating func responseThatAClientReadsIsNotAborted() {
        let id = attempting()
        _ = bench.answer(id)
        #expect(bench.entry(id)?.actions == [.cancel])
        #expect(bench.command(.abort, id) == (.conflict, []))
        let ticket = bench.accepted()
        _ = bench.answer(ticket)
        #expect(bench.entry(ticket)?.actions == [.cancel, .abort])
    }

    /// The network changed meanwhile: it is not made anew at once, because a person ended it.
    @Test mutating func abandonedAttemptThatIsAbortedWaits() {
        let id = attempting()
        _ = bench.reachable()
        _ = bench.command(.abort, id)
        #expect(bench.fail(id, Self.unsent, delay: .seconds(5), rule: .aborted) == [])
        #expect(bench.state(id) == .waiting && bench.wait(of: id) == .seconds(5))
    }

    // MARK: How far it is

    @Test mutating func attemptUnderWaySaysSinceWhen() {
        let id = attempting()
        #expect(bench.entry(id)?.attemptStartedAt == bench.now)
        #expect(bench.entry(id)?.attemptProgress == AttemptProgress(phase: .resolving, bytesSent: 0))
        _ = bench.answer(id)
        #expect(bench.entry(id)?.attemptProgress?.phase == .receiving)
        _ = bench.end(id)
        #expect(bench.entry(id)?.attemptStartedAt == nil && bench.entry(id)?.attemptProgress == nil)
    }
}
