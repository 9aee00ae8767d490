import Testing

@testable import LayoverCore

struct AttemptLogTests {
    private func record(
        _ number: Int, _ rule: Verdict.ParkingRule, evidence: Evidence = .neverSent
    ) -> AttemptRecord {
        var record = AttemptRecord(number: number, trigger: .dueTime, startedAt: .at(.seconds(number)))
        record.endedAt = record.startedAt
        record.failure = .fixture(.proxyInternalError, phase: .connecting, evidence: evidence)
        record.verdict = .park(.init(delay: .zero, shutsGate: false, rule: rule))
        return record
    }

    /// However long the disk is full, nothing of what was done is driven out.
    @Test func attemptStoppedByTheStoreGivesItsNumberToTheNext() {
        var log = AttemptLog()
        for number in 1...5 { log.append(record(number, .retryOn)) }
        for _ in 0..<100 { log.append(record(6, .store)) }
        #expect(log.records.map(\.number) == [1, 2, 3, 4, 5, 6])
        #expect(log.droppedCount == 0)
        log.append(record(6, .retryOn))
        #expect(log.records.map(\.number) == [1, 2, 3, 4, 5, 6])
        #expect(log.records.last == record(6, .retryOn))
    }

    @Test func attemptThatWasSentKeepsItsNumber() {
        var log = AttemptLog()
        log.append(record(1, .store, evidence: .maybeApplied))
        log.append(record(1, .store))
        log.append(record(2, .retryOn))
        #expect(log.records.map(\.number) == [1, 1, 2])
    }
}
