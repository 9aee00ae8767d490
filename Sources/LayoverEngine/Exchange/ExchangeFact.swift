package import LayoverCore

/// What loops tell the engine. The fast path tells it nothing.
package enum ExchangeFact: Sendable {
    /// An exchange asks to join the pending set.
    case parked(NewEntry, any HeldExchange)
    /// An attempt of an entry failed, and the verdict was to wait.
    case attemptFailed(EntryID, Failure, Verdict.Parking, AttemptTally)
    /// A response head came back for an entry, or its connection stands.
    case answered(EntryID, AttemptTally)
    /// The exchange of an entry is over.
    case ended(EntryID, EntryState, Failure?, AttemptTally)
    /// What an attempt had proved that was cut off because its entry ended.
    case evidence(EntryID, Failure)
    /// A request outside the set was answered by an origin that the loop knows as shut or watched.
    case originAnswered(Origin)
    /// Fresh attempts to a watched origin began or ended.
    case freshUnderWay(Origin, changedBy: Int)
}

/// How many attempts an exchange has made.
package struct AttemptTally: Sendable, Hashable {
    package var attemptCount: Int
    package var automaticLeft: Int?
    package var isBodyReplayable: Bool

    package init(attemptCount: Int, automaticLeft: Int?, isBodyReplayable: Bool) {
        self.attemptCount = attemptCount
        self.automaticLeft = automaticLeft
        self.isBodyReplayable = isBodyReplayable
    }
}
