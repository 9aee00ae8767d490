package import LayoverCore

/// Facts that loops post to the engine. The fast path posts none.
package enum ExchangeFact: Sendable {
    /// An exchange asks to join the pending set.
    case parked(NewEntry, any HeldExchange)
    /// An attempt of an entry failed, and the verdict was to wait.
    case attemptFailed(EntryID, Failure, Verdict.Parking, AttemptTally)
    /// A response head came back for an entry, or its connection is open.
    case answered(EntryID, AttemptTally)
    /// The connection of the attempt stands, TLS included.
    case connected(EntryID)
    /// The exchange of an entry is over.
    case ended(EntryID, EntryState, Failure?, AttemptTally)
    /// The exchange of an entry ends or has ended while its ticket was being made, and its client was never told of
    /// the ticket. Before `ended`.
    case ticketNeverAnnounced(EntryID)
    /// The client of an entry has left, and its attempt goes on for so long at most.
    case wentUnattended(EntryID, Duration)
    /// Whether others with its key wait for the outcome of an entry whose time without a client is over.
    case foundOthers(EntryID, doWait: Bool)
    /// No others wait for the outcome of an entry any more.
    case othersLeft(EntryID)
    /// The client of an entry has left, and the entry cannot go on without it. Before `ended`.
    case notAdopted(EntryID, AdoptionObstacle)
    /// Evidence of an attempt that was cut off because its entry ended.
    case evidence(EntryID, Failure, AttemptTally)
    /// A request is to be accepted as a ticket, before any attempt.
    case accept(Acceptance, any AcceptingExchange)
    /// An exchange joins the set whose first attempt is under way.
    case joined(NewEntry, any HeldExchange)
    /// An exchange in the set is to become a ticket.
    case becomeTicket(Acceptance, any HeldExchange & AcceptingExchange)
    /// The body of a request in the set is complete.
    case bodyCompleted(EntryID, byteCount: Int, isReplayable: Bool)
    /// An exchange that was offered a ticket cannot become one.
    case declinesTicket(EntryID)
    /// The response to a ticket is complete, or broke off: then with the failure.
    case ticketDelivered(EntryID, StoredResponse, Failure?, AttemptTally)
    /// A request could not be prepared for sending, or must not be sent now. No failure: the last one stays.
    case refusedToSend(EntryID, UndecidedReason, Failure?, AttemptTally)
    /// After a reload of the configuration: the route and the policy that an entry has found in it.
    /// `parentProxyGate`: the gate of its parent proxy.
    case rerouted(EntryID, route: String?, Policy, automaticLeft: Int?, parentProxyGate: Origin? = nil, isUnderWay: Bool = true)
    /// The attempt that begins goes through another parent proxy than the engine took it to.
    case goesThrough(EntryID, Origin?)
    /// A client was told that its request may have been applied, and nobody is asked.
    case mayHaveBeenApplied(Origin, Failure)
    /// An origin responded while the network was in doubt.
    case networkAnswered
    /// A request outside the set got a response from an origin whose gate is shut or watched.
    case originAnswered(Origin)
    /// A response that is delivered asks the requests of a policy to stay away for a time.
    case originPaused(Origin, Policy, Duration)
    /// Fresh attempts to a watched origin began or ended.
    case freshUnderWay(Origin, changedBy: Int)
}
