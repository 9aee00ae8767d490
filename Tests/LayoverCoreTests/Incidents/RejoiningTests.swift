import Testing

@testable import LayoverCore

/// Tickets of an earlier run wait on in the outages in which they waited.
struct RejoiningTests {
    private static let asking = Policy.fixture { $0.onExhausted = .ask }
    private var bench = PendingBench()

    private var open: [Incident] { bench.set.incidents(now: bench.now) }

    private func line(_ number: Int) -> AttemptRecord {
        var record = AttemptRecord(number: number, trigger: .dueTime, startedAt: bench.now)
        record.endedAt = bench.now
        record.failure = .refused
        record.verdict = .park(.init(delay: .zero, shutsGate: true))
        return record
    }

    private mutating func fail(_ id: EntryID, _ number: Int, asks: UndecidedReason? = nil) {
        let parking = Verdict.Parking(delay: .seconds(5), shutsGate: true, asks: asks)
        _ = bench.handle(AttemptFailed(id, .refused, parking, bench.tally(id, number, records: [line(number)])))
    }

    @Test mutating func exhaustedEntryStaysInTheIncident() throws {
        let id = bench.accepted { $0.policy = Self.asking }
        let began = bench.now
        fail(id, 1)
        _ = bench.wait(.seconds(5))
        fail(id, 2, asks: .exhausted)
        _ = bench.wait(.seconds(100))
        _ = bench.restart(policy: Self.asking)
        #expect(bench.incidents.map(\.kind) == [.opened])
        let incident = try #require(open.first)
        #expect(open.count == 1 && incident.scope == .origin(PendingBench.origin))
        #expect(incident.since == began && incident.waiting == 1)
        #expect(incident.manualOnly && incident.automaticLeft == 0)
        #expect(incident.cause == .init(kind: .connectionRefused, phase: .connecting))
        #expect(bench.entry(id)?.incident == incident.id && bench.why(id) == .exhausted)
        #expect(bench.command(.retry, incident: incident.id).1.started == [id])
    }

    @Test mutating func entryThatWaitsForItsOriginJoinsTheIncident() throws {
        let ids = [bench.accepted(), bench.accepted()]
        let began = bench.now
        fail(ids[0], 1)
        bench.now = bench.now + .milliseconds(500)
        fail(ids[1], 1)
        _ = bench.command(.hold, ids[1])
        _ = bench.restart()
        let incident = try #require(open.first)
        #expect(open.count == 1 && incident.waiting == 2)
        #expect(incident.since == began && !incident.manualOnly)
        #expect(bench.states(ids) == [.waiting, .held])
    }

    @Test mutating func entryUndecidedForAnotherReasonJoinsADecision() {
        let id = bench.accepted { $0.isRepeatable = false }
        bench.counted(id)
        _ = bench.fail(id, .reset, asks: .maybeApplied, rule: .onMaybeApplied)
        let slow = bench.accepted()
        _ = bench.fail(slow, .reset, delay: .seconds(50))
        _ = bench.restart()
        #expect(open.map(\.kind) == [.decision] && open.first?.waiting == 1)
    }

    /// The gate is open after a restart, so its opening says nothing.
    @Test mutating func responseOfTheOriginGivesLaterTicketsNewAttempts() {
        let id = bench.accepted { $0.policy = Self.asking }
        fail(id, 1, asks: .exhausted)
        _ = bench.restart(policy: Self.asking)
        _ = bench.originAnswered()
        let next = bench.accepted { $0.policy = Self.asking }
        fail(next, 1)
        #expect(bench.states([id, next]) == [.undecided, .waiting])
    }

    /// What failed before was no outage, and the mode is what it waits for now.
    @Test mutating func failureOfAnotherKindIsNotTheCauseOfTheOutageOfNow() throws {
        let id = bench.accepted()
        _ = bench.fail(id, .reset)
        let records = bench.records()
        bench.set = PendingSet()
        _ = bench.mode(.offline)
        _ = bench.handle(TicketsRestored(records.map { ($0, .fixture()) }, ended: [:]))
        let incident = try #require(open.first)
        #expect(incident.scope == .network && incident.waiting == 1 && incident.cause == nil)
    }

    @Test mutating func incidentKnowsAfterARestartWhenItsFirstTicketGoes() throws {
        let ids = [bench.accepted(), bench.accepted()]
        fail(ids[0], 1)
        bench.now = bench.now + .milliseconds(10)
        fail(ids[1], 1)
        let dueAt = try #require(bench.entry(ids[0])?.dueAt)
        _ = bench.restart()
        #expect(open.first?.nextAttemptAt == dueAt)
    }
}
