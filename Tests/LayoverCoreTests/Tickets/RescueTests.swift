import Testing

@testable import LayoverCore

/// Tickets whose attempt was under way when the process ended: what people are told of that attempt.
struct RescueTests {
    private var bench = PendingBench()

    /// As the disk has it: the attempt is counted in its note.
    private func stored(_ id: EntryID, all: Int = 1, automatic: Int = 1) -> TicketRecord? {
        var record = bench.set.record(of: id)
        record?.counts = AttemptCounts(all: all, automatic: automatic)
        return record
    }

    @Test(arguments: [true, false])
    mutating func attemptCutOffByACrashHasARecord(isRepeatable: Bool) throws {
        let id = bench.accepted { $0.isRepeatable = isRepeatable }
        let began = bench.now
        let record = try #require(stored(id))
        bench.now = bench.now + .seconds(60)
        _ = bench.mode(.offline)
        _ = bench.restart([record])
        let entry = try #require(bench.entry(id))
        let line = try #require(entry.attempts.records.first)
        #expect(entry.attempts.records.count == 1)
        #expect(line.number == 1 && line.trigger == .arrival)
        #expect(line.startedAt == began && line.endedAt == bench.now)
        #expect(line.failure?.kind == .proxyInternalError && line.evidence == .maybeApplied)
        #expect(line.verdict?.rule == "rescued" && line.verdict?.word == (isRepeatable ? "park" : "ask"))
        #expect(entry.lastFailure?.message == "The proxy ended during the attempt.")
        #expect(entry.lastFailureAt == bench.now)
        #expect(entry.attemptCount == 1 && entry.counts.automatic == 1)
        #expect(bench.set.record(of: id)?.attempts == entry.attempts, "to be stored")
    }

    @Test mutating func attemptCutOffByACrashIsRecordedOnce() throws {
        let id = bench.accepted { $0.isRepeatable = false }
        _ = bench.restart([try #require(stored(id))])
        let before = bench.set.record(of: id)
        _ = bench.restart()
        #expect(bench.set.record(of: id) == before)
    }

    /// Each death of the process is one attempt, and the limit on them holds.
    @Test mutating func everyCrashCountsAsOneAttempt() throws {
        let id = bench.accepted()
        for number in 1...3 {
            _ = bench.restart([try #require(stored(id, all: number, automatic: number))])
            #expect(bench.entry(id)?.attempts.records.map(\.number) == Array(1...number))
            #expect(bench.entry(id)?.counts.automatic == number)
        }
    }

    @Test mutating func attemptCountLostByAChangeIsRestored() throws {
        let policy = Policy.fixture { $0.automaticAttemptsMax = 4 }
        let id = bench.accepted { $0.policy = policy }
        _ = bench.restart([try #require(stored(id))], policy: policy)
        // The second attempt is under way; somebody has changed the priority meanwhile.
        _ = bench.restart([try #require(stored(id))], policy: policy)
        let entry = try #require(bench.entry(id))
        #expect(entry.attempts.records.map(\.number) == [1, 2])
        #expect(entry.counts.all == 2 && entry.counts.automatic == 2)
        #expect(entry.attemptCount == 2 && entry.automaticLeft == 2)
    }

    @Test mutating func attemptOfAPersonCutOffByACrashKeepsItsTrigger() throws {
        let id = bench.accepted()
        _ = bench.restart([try #require(stored(id))])
        var record = try #require(stored(id, all: 2, automatic: 1))
        record.isAskedFor = true
        _ = bench.restart([record])
        #expect(bench.entry(id)?.attempts.records.map(\.trigger) == [.arrival, .admin])
    }

    @Test mutating func responseCutOffByACrashBelongsToItsAttempt() throws {
        let id = bench.accepted()
        var answered = AttemptRecord(number: 1, trigger: .arrival, startedAt: bench.now)
        answered.endedAt = bench.now
        answered.status = 200
        answered.verdict = .deliver(.answered)
        _ = bench.handle(AttemptAnswered(id, bench.tally(id, 1, records: [answered])))
        _ = bench.restart([try #require(stored(id))])
        let lines = bench.entry(id)?.attempts.records
        #expect(lines?.count == 1 && lines?.first?.evidence == .maybeApplied && lines?.first?.status == 200)
    }
}
