/// How many attempts an exchange has made, and what people may know of the newest.
package struct AttemptTally: Sendable, Hashable {
    package var counts: AttemptCounts
    package var automaticLeft: Int?
    package var isBodyReplayable: Bool
    /// The attempts that ended since the engine was told last.
    package var records: [AttemptRecord]

    package init(
        _ counts: AttemptCounts = AttemptCounts(), automaticLeft: Int? = nil, isBodyReplayable: Bool = true,
        records: [AttemptRecord] = []
    ) {
        self.counts = counts
        self.automaticLeft = automaticLeft
        self.isBodyReplayable = isBodyReplayable
        self.records = records
    }
}
