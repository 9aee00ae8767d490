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
    /// The exchange of an entry is about to be over, or was ended, without its client having been told of the ticket that
    /// was being made of it. Before `ended`.
    case ticketNeverAnnounced(EntryID)
    /// The client of an entry has left, and the entry cannot go on without it. Before `ended`.
    case notAdopted(EntryID, AdoptionObstacle)
    /// What an attempt had proved that was cut off because its entry ended.
    case evidence(EntryID, Failure, AttemptTally)
    /// A request is to be accepted as a ticket, before any attempt.
    case accept(Acceptance, any AcceptingExchange)
    /// An exchange joins the set whose first attempt is under way.
    case joined(NewEntry, any HeldExchange)
    /// An exchange in the set is to become a ticket.
    case becomeTicket(Acceptance, any HeldExchange & AcceptingExchange)
    /// The body of a request in the set has arrived whole.
    case bodyCompleted(EntryID, byteCount: Int, isReplayable: Bool)
    /// An exchange that was offered a ticket cannot become one.
    case declinesTicket(EntryID)
    /// The answer of a ticket is complete, or broke off: then with what broke it.
    case ticketDelivered(EntryID, StoredAnswer, Failure?, AttemptTally)
    /// A request could not be made ready to be sent, or must not be sent now. No failure: the last one says it all.
    case refusedToSend(EntryID, UndecidedReason, Failure?, AttemptTally)
    /// After a reload of the configuration: the route and the policy that an entry has found in it.
    case rerouted(EntryID, route: String?, Policy, automaticLeft: Int?)
    /// An origin answered while the network was in doubt.
    case networkAnswered
    /// A request outside the set was answered by an origin that the loop knows as shut or watched.
    case originAnswered(Origin)
    /// Fresh attempts to a watched origin began or ended.
    case freshUnderWay(Origin, changedBy: Int)
}

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
