/// What people will be shown of the attempts of one exchange, until the engine is told.
package struct AttemptTimeline: Sendable {
    /// The attempt under way.
    package private(set) var begun: (number: Int, trigger: AttemptTrigger, at: Timestamp)?
    /// The path of the attempt under way.
    private var path: AttemptPath?
    /// Attempts that ended since the engine was told last.
    private var records: [AttemptRecord] = []

    package init() {}

    package mutating func began(_ number: Int, _ trigger: AttemptTrigger, at time: Timestamp) {
        begun = (number, trigger, time)
        path = nil
    }

    /// Sets the path of the attempt under way.
    package mutating func goes(by path: AttemptPath?) { self.path = path }

    /// Writes down the attempt that has ended.
    package mutating func ended(
        at time: Timestamp, _ verdict: Verdict?, failure: Failure?, status: Int?, connection: ConnectionFacts?
    ) {
        guard let begun else { return }
        self.begun = nil
        var record = AttemptRecord(number: begun.number, trigger: begun.trigger, startedAt: begun.at)
        record.endedAt = time
        record.path = path
        record.failure = failure
        record.status = status
        if status != nil { record.connection = connection }
        record.verdict = verdict
        records.append(record)
    }

    /// Each record once.
    package mutating func takeRecords() -> [AttemptRecord] {
        defer { records = [] }
        return records
    }
}
