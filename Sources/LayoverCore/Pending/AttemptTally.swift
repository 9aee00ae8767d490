/// How many attempts an exchange has made, and what people may know of the newest.
package struct AttemptTally: Sendable, Hashable {
    package var counts: AttemptCounts
    package var automaticLeft: Int?
    package var isBodyReplayable: Bool
    /// The attempts that ended since the engine was told last.
    package var records: [AttemptRecord]
    /// How far its response is that broke off; nil where none did.
    @Boxed package var resume: ResumeProgress? = nil

    package init(
        _ counts: AttemptCounts = AttemptCounts(), automaticLeft: Int? = nil, isBodyReplayable: Bool = true,
        records: [AttemptRecord] = [], resume: ResumeProgress? = nil
    ) {
        _resume = Boxed(wrappedValue: resume)
        self.counts = counts
        self.automaticLeft = automaticLeft
        self.isBodyReplayable = isBodyReplayable
        self.records = records
    }
}
