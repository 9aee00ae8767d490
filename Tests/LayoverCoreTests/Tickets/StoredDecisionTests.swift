import Testing

@testable import LayoverCore

/// Decisions of people survive a restart, and no decision is inferred from other facts.
struct StoredDecisionTests {
    private static let vouching = Policy.fixture { $0.repeatable = true }
    private var bench = PendingBench()

    /// The process dies, and whatever was under way had not been marked: only a mark makes a row `attempting`.
    private mutating func crash(policy: Policy = .fixture(), ended: [EntryID: EntryState] = [:]) -> [PendingAction] {
        let rows = bench.records().map { record in
            var row = record
            if row.state == .attempting { row.state = .waiting }
            return row
        }
        return bench.restart(rows, ended: ended, policy: policy)
    }

    // MARK: Force

    /// Its first attempt may have been applied and its policy vouched for it; while the second one was
    /// connecting a reload took that back, and then the process was killed.
    @Test mutating func unforcedTicketIsUndecidedAfterAReloadAndACrash() {
        let id = bench.accepted { ($0.policy, $0.isRepeatable) = (Self.vouching, false) }
        bench.counted(id)
        _ = bench.fail(id, .reset, delay: .seconds(5))
        #expect(bench.wait(.seconds(5)).started == [id])
        _ = bench.reroute(id, policy: .fixture())
        #expect(bench.state(id) == .attempting)
        #expect(crash().started == [])
        #expect(bench.why(id) == .maybeApplied)
        #expect(bench.wait(.seconds(9999)).started == [])
    }

    @Test mutating func unusedForceIsKeptAfterACrash() {
        let id = bench.accepted { $0.isRepeatable = false }
        bench.counted(id)
        _ = bench.fail(id, .reset, asks: .maybeApplied, rule: .onMaybeApplied)
        _ = bench.command(.force, id, acknowledgement: EntryCommand.duplicateRisk)
        #expect(bench.state(id) == .attempting)
        #expect(crash().contains(.start(id, .admin)))
        #expect(bench.entry(id)?.isForced == true)
    }

    @Test mutating func forceIsUsedUpByAnAttemptCutOffByACrash() {
        let id = bench.accepted { $0.isRepeatable = false }
        bench.counted(id)
        _ = bench.fail(id, .reset, asks: .maybeApplied, rule: .onMaybeApplied)
        _ = bench.command(.force, id, acknowledgement: EntryCommand.duplicateRisk)
        #expect(bench.restart().started == [], "it was marked")
        #expect(bench.why(id) == .maybeApplied && bench.entry(id)?.isForced == false)
    }

    /// As a store of an earlier version may have it: nobody knows whether it was forced.
    @Test mutating func ticketThatOnlyLooksForcedIsUndecided() throws {
        let id = bench.accepted { $0.isRepeatable = false }
        var record = try #require(bench.set.record(of: id))
        record.state = .waiting
        record.counts = AttemptCounts(all: 1, automatic: 1, mayHaveBeenApplied: true)
        #expect(bench.restart([record]).started == [] && bench.why(id) == .maybeApplied)
    }

    // MARK: Retry

    @Test(arguments: [UndecidedReason.exhausted, .credentialsExpired, .rejected])
    mutating func retryIsMadeAfterACrash(why: UndecidedReason) {
        let notAfter = bench.now + .seconds(why == .credentialsExpired ? 5 : 5000)
        let id = bench.accepted { $0.notAfter = notAfter }
        _ = bench.fail(id, .reset, delay: .seconds(100), asks: why)
        bench.now = bench.now + .seconds(10)
        _ = bench.mode(.offline)
        _ = bench.command(.retry, id)
        #expect(bench.state(id) == .waiting)
        #expect(crash().contains(.start(id, .admin)))
    }

    /// Windows begin with one attempt after a restart, so the second of two waits when the time of its credentials is looked at.
    @Test mutating func retriesOfTicketsWithExpiredCredentialsSurviveACrash() {
        let notAfter = bench.now + .seconds(5)
        let ids = (0..<3).map { _ in bench.accepted { $0.notAfter = notAfter } }
        for id in ids { _ = bench.fail(id, .reset, delay: .seconds(100), asks: .credentialsExpired) }
        bench.now = bench.now + .seconds(10)
        _ = bench.mode(.offline)
        for id in ids { _ = bench.command(.retry, id) }
        _ = crash()
        _ = bench.wait(.seconds(1))
        #expect(ids.map { bench.state($0) }.allSatisfy { $0 == .waiting || $0 == .attempting })
    }

    @Test mutating func restoredTicketWithoutARetryWaitsForItsDueTime() {
        let id = bench.accepted()
        _ = bench.fail(id, .reset, delay: .seconds(100))
        #expect(crash().started == [])
        #expect(bench.wait(.seconds(100)).contains(.start(id, .dueTime)))
    }

    @Test(arguments: [true, false])
    mutating func retryOfAHeldTicketIsMadeOnceInSpiteOfACrash(isMade: Bool) {
        let id = bench.accepted()
        _ = bench.fail(id, .reset)
        _ = bench.command(.hold, id)
        _ = bench.command(.retry, id)
        if isMade { _ = bench.fail(id, .reset) }
        #expect(crash().started == (isMade ? [] : [id]))
        if !isMade { _ = bench.fail(id, .reset) }
        #expect(bench.state(id) == .held && bench.wait(.seconds(9999)).started == [])
    }

    // MARK: Deadlines and priorities

    @Test mutating func aDeadlineOfAPersonIsNotMovedByALongerLifetime() {
        let id = bench.accepted { $0.policy = .fixture { $0.lifetime = .seconds(100) } }
        _ = bench.fail(id, .reset, delay: .seconds(99_999))
        let deadline = bench.now + .seconds(200)
        _ = bench.patch(id, expiresAt: deadline)
        _ = crash(policy: .fixture { $0.lifetime = .seconds(100) })
        _ = bench.reroute(id, policy: .fixture { $0.lifetime = .seconds(5000) })
        #expect(bench.entry(id)?.expiresAt == deadline)
    }

    @Test mutating func aDeadlineOfAPolicyIsMovedByALongerLifetime() {
        let id = bench.accepted { $0.policy = .fixture { $0.lifetime = .seconds(100) } }
        let began = bench.now
        _ = bench.fail(id, .reset, delay: .seconds(99_999))
        _ = crash(policy: .fixture { $0.lifetime = .seconds(200) })
        _ = bench.reroute(id, policy: .fixture { $0.lifetime = .seconds(300) })
        #expect(bench.entry(id)?.expiresAt == began + .seconds(300), "nobody set it")
    }

    @Test(arguments: [true, false])
    mutating func priorityOfAPersonIsNotChangedByAPolicy(crashes: Bool) {
        let (own, other) = (bench.accepted(), bench.accepted())
        for id in [own, other] { _ = bench.fail(id, .reset, delay: .seconds(99_999)) }
        _ = bench.patch(own, priority: 3)
        if crashes { _ = crash() }
        for id in [own, other] { _ = bench.reroute(id, policy: .fixture { $0.priority = 6 }) }
        #expect([own, other].map { bench.entry($0)?.priority } == [3, 6])
    }

    // MARK: Parents

    @Test mutating func childRetriedWithoutItsParentKeepsWaitingAfterACrash() {
        let (failed, live) = (bench.accepted(), bench.accepted())
        let child = bench.accepted { $0.parents = [failed, live] }
        _ = bench.end(failed, as: .failed)
        #expect(bench.why(child) == .parentFailed)
        _ = bench.command(.retry, child)
        _ = bench.fail(live, .reset, delay: .seconds(50))
        _ = crash(ended: [failed: .failed])
        #expect(bench.reason(child) == .parent, "for the other one it still waits")
        _ = bench.wait(.seconds(50))
        #expect(bench.deliver(live).contains(.start(child, .admin)))
        _ = bench.fail(child, .reset, delay: .seconds(5))
        _ = crash(ended: [failed: .failed, live: .delivered])
        #expect(bench.wait(.seconds(5)).started == [child])
        _ = bench.fail(child, .reset)
        _ = crash(ended: [failed: .failed, live: .failed])
        #expect(bench.why(child) == .parentFailed, "the word was for one of them")
    }
}
