import Testing

@testable import LayoverCore

struct CommandTests {
    private var bench = PendingBench()

    // MARK: retry

    @Test mutating func retryStartsAWaitingEntryAtOnce() {
        let id = bench.parked(delay: .seconds(30))
        #expect(bench.command(.retry, id) == (.done, [.start(id, .admin)]))
        #expect(bench.reports == [.changed, .attempted])
    }

    @Test mutating func retryWaitsForTheCanary() {
        let waiting = bench.parked(delay: .seconds(30))
        let (canary, _) = bench.park(nil)
        #expect(bench.command(.retry, waiting) == (.done, []))
        #expect(bench.entry(waiting)?.revision == 2)
        // Eligible by a person's word, it is the next to test the way, and at once.
        #expect(bench.fail(canary).last == nil)
        #expect(bench.wait(.seconds(4)).first == .start(waiting, .admin))
    }

    @Test mutating func retryOfflineWaitsUntilTheModeChanges() {
        let id = bench.parked()
        _ = bench.mode(.offline)
        #expect(bench.command(.retry, id) == (.done, []))
        #expect(bench.mode(.online) == [.start(id, .admin)])
    }

    @Test mutating func retryAgainChangesNothing() {
        bench = PendingBench(perOriginAttemptCountMax: 1)
        let first = bench.parked(.reset, delay: .zero)
        _ = bench.wait(.zero)
        let second = bench.parked(.reset, delay: .seconds(30))
        #expect(bench.command(.retry, second) == (.done, []))
        #expect(bench.command(.retry, second) == (.done, []))
        #expect(bench.end(first) == [.start(second, .admin)])
        #expect(bench.end(second) == [.forgotten()])
    }

    // MARK: cancel

    @Test mutating func cancelEndsAWaitingEntry() {
        let id = bench.parked()
        #expect(bench.command(.cancel, id, reason: "not wanted") == (.done, [.end(id, .cancelled(reason: "not wanted"))]))
        #expect(bench.reports == [.ended])
        let entry = bench.entry(id)
        #expect(entry?.state == .cancelled)
        #expect(entry?.endedAt == bench.now)
        #expect(entry?.revision == 2)
        #expect(entry?.actions == [])
        #expect(bench.wait(.seconds(3600)) == [])
        #expect(bench.reachable() == [])
    }

    @Test mutating func cancelIsFinalWhileAttemptingToo() {
        let id = bench.parked()
        _ = bench.command(.retry, id)
        #expect(bench.command(.cancel, id) == (.done, [.end(id, .cancelled(reason: nil))]))
        // Late words of the attempt that was aborted.
        #expect(bench.fail(id) == [])
        #expect(bench.answer(id) == [])
        #expect(bench.end(id) == [])
        #expect(bench.state(id) == .cancelled)
        #expect(bench.set.origins.states[PendingBench.origin]?.underWay == 0)
    }

    private func tally(_ count: Int, _ records: [AttemptRecord]) -> AttemptTally {
        AttemptTally(AttemptCounts(all: count, automatic: min(count, 1)), records: records)
    }

    @Test mutating func attemptCutOffByACancelIsCounted() {
        let id = bench.parked()
        _ = bench.command(.retry, id)
        _ = bench.command(.cancel, id)
        #expect(bench.entry(id)?.attemptCount == 1)
        let revision = bench.entry(id)?.revision ?? 0
        let failure = Failure.reset
        bench.set.recorded(
            failure, tally(2, [AttemptRecord(number: 2, trigger: .admin, startedAt: bench.now)]), of: id, now: bench.now)
        let entry = bench.entry(id)
        #expect(entry?.state == .cancelled)
        #expect(entry?.attemptCount == 2)
        #expect(entry?.attempts.records.map(\.number) == [2])
        #expect(entry?.lastFailure == failure)
        #expect(entry?.revision == revision + 1)
    }

    @Test mutating func attemptCutOffByACancelIsCountedForATicket() {
        let id = bench.accepted()
        _ = bench.command(.cancel, id)
        #expect(bench.set.record(of: id)?.counts.all == 0)
        bench.set.recorded(
            .reset, tally(1, [AttemptRecord(number: 1, trigger: .arrival, startedAt: bench.now)]), of: id, now: bench.now)
        let record = bench.set.record(of: id)
        #expect(record?.state == .cancelled)
        #expect(record?.counts == AttemptCounts(all: 1, automatic: 1, mayHaveBeenApplied: true))
        #expect(record?.attempts.records.count == 1)
        // What is older says nothing new.
        bench.set.recorded(nil, tally(0, []), of: id, now: bench.now)
        #expect(bench.set.record(of: id)?.counts.all == 1)
        #expect(bench.entry(id)?.attemptCount == 1)
    }

    @Test mutating func cancelOfAnAttemptFreesTheWindow() {
        bench = PendingBench(perOriginAttemptCountMax: 1)
        let first = bench.parked(.reset, delay: .zero)
        let second = bench.parked(.reset, delay: .zero)
        #expect(bench.wait(.zero) == [.start(first, .dueTime)])
        #expect(
            bench.command(.cancel, first).1 == [
                .end(first, .cancelled(reason: nil)), .start(second, .dueTime),
            ])
    }

    // MARK: Guards

    @Test(arguments: [EntryCommand.retry, .cancel])
    mutating func aRevisionThatIsNotTheNewestIsStale(command: EntryCommand) {
        let id = bench.parked(delay: .seconds(1))
        #expect(bench.command(command, id, revision: 0) == (.stale, []))
        #expect(bench.command(command, id, revision: 2) == (.stale, []))
        let canary = bench.wait(.seconds(1))
        #expect(canary == [.start(id, .dueTime)])
        _ = bench.fail(id)
        #expect(bench.entry(id)?.revision == 3)
        #expect(bench.command(command, id, revision: 1) == (.stale, []))
        #expect(bench.command(command, id, revision: 3).0 == .done)
    }

    @Test(arguments: [EntryState.delivered, .cancelled, .failed, .expired])
    mutating func aFinalEntryTakesNoCommand(state: EntryState) {
        let id = bench.parked()
        if state == .expired { _ = bench.wait(.seconds(700)) }
        if state == .expired { _ = bench.fail(id) } else { _ = bench.end(id, as: state) }
        #expect(bench.state(id) == state)
        for command in EntryCommand.allCases {
            #expect(bench.command(command, id) == (.conflict, []))
            #expect(bench.command(command, id, revision: 99) == (.conflict, []))
        }
    }

    @Test mutating func anEntryThatNeverWasIsUnknown() {
        let id = EntryID(using: &bench.generator)
        for command in EntryCommand.allCases { #expect(bench.command(command, id) == (.unknown, [])) }
    }

    // MARK: History

    @Test mutating func theNewestTenThousandAreRemembered() {
        let ids = (0..<10_003).map { _ in
            let id = bench.parked()
            _ = bench.command(.cancel, id)
            return id
        }
        #expect(bench.set.rememberedEntries.count == 10_000)
        #expect(ids.prefix(3).map { bench.command(.retry, $0).0 } == [.unknown, .unknown, .unknown])
        #expect(bench.command(.retry, ids[3]).0 == .conflict)
        #expect(bench.command(.retry, ids[10_002]).0 == .conflict)
    }

    @Test mutating func noEndedEntryIsRememberedIfTheLimitIsZero() {
        bench = PendingBench { $0.rememberedCountMax = 0 }
        let id = bench.parked()
        _ = bench.command(.cancel, id)
        #expect(bench.command(.cancel, id).0 == .unknown)
        #expect(bench.set.rememberedEntries.isEmpty)
    }
}
