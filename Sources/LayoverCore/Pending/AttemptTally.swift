/// How many attempts an exchange has made, and what people may know of the newest.
package struct AttemptTally: Sendable, Hashable {
    package var attemptCount: Int
    package var automaticLeft: Int?
    package var isBodyReplayable: Bool
    /// The same in full, for what is kept of a ticket.
    package var counts = AttemptCounts()
    /// The attempts that ended since the engine was told last.
    package var records: [AttemptRecord]

    package init(
        attemptCount: Int, automaticLeft: Int?, isBodyReplayable: Bool, records: [AttemptRecord] = []
    ) {
        self.attemptCount = attemptCount
        self.automaticLeft = automaticLeft
        self.isBodyReplayable = isBodyReplayable
        self.records = records
    }
}
