/// The attempts of one exchange, for its timeline: the first ones and the newest, in bounded memory.
package struct AttemptLog: Sendable, Hashable {
    /// Oldest records that are kept for ever. Default: 10.
    private static let firstCountMax = 10
    /// Newest records that are kept besides. Default: 40.
    private static let lastCountMax = 40

    package private(set) var records: [AttemptRecord] = []
    /// Records between the first and the newest that were dropped.
    package private(set) var droppedCount = 0

    package init() {}

    package mutating func append(_ record: AttemptRecord) {
        // A record that the store stopped is replaced by the next record of its number. So a full disk drives out no other records.
        if let last = records.last, last.wasStoppedByStore, last.number == record.number { records.removeLast() }
        records.append(record)
        guard records.count > Self.firstCountMax + Self.lastCountMax else { return }
        records.remove(at: Self.firstCountMax)
        droppedCount += 1
    }

    /// A log that was kept elsewhere: its records and how many were dropped.
    package init(records: [AttemptRecord], droppedCount: Int) {
        self.records = records
        self.droppedCount = droppedCount
    }

    /// The same log with all its times moved.
    package func shifted(by nanoseconds: Int64) -> AttemptLog {
        var log = self
        for index in log.records.indices {
            log.records[index].startedAt = records[index].startedAt + .nanoseconds(nanoseconds)
            log.records[index].endedAt = records[index].endedAt.map { $0 + .nanoseconds(nanoseconds) }
        }
        return log
    }

    /// Replaces the verdict of the last attempt: the retry that was to follow it became something else.
    mutating func amendLast(_ verdict: Verdict) {
        guard !records.isEmpty else { return }
        records[records.count - 1].verdict = verdict
    }

    /// The response to the last attempt broke off after its head. Without a verdict the request is not sent again.
    mutating func lastBrokeOff(_ failure: Failure, _ verdict: Verdict = .deliver(.notRepeatable), at now: Timestamp) {
        guard !records.isEmpty else { return }
        records[records.count - 1].failure = failure
        records[records.count - 1].endedAt = now
        records[records.count - 1].verdict = verdict
    }

    /// The process ended while an attempt was under way, so nothing more of it is known.
    mutating func cutOff(_ record: AttemptRecord) {
        guard let last = records.last, last.number == record.number else { return append(record) }
        records[records.count - 1].failure = record.failure
        records[records.count - 1].endedAt = record.endedAt
        records[records.count - 1].verdict = record.verdict
    }

    package mutating func append(contentsOf new: [AttemptRecord]) {
        for record in new { append(record) }
    }
}
