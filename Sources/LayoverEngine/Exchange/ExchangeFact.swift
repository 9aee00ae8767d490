package import LayoverCore

/// Facts of loops that concern more than the pending set: the table of exchanges, the store, the log, reachability. A fact that concerns
/// only the set is posted as it is (`PostedFact`). The fast path posts none.
package enum ExchangeFact: Sendable {
    /// An attempt of an entry failed, and the verdict was to wait.
    case attemptFailed(AttemptFailed)
    /// A response head came back for an entry, or its connection is open.
    case answered(AttemptAnswered)
    /// The exchange of an entry is over.
    case ended(ExchangeEnded)
    /// A request could not be prepared for sending, or must not be sent now.
    case notSendable(RequestNotSendable)
    /// The response to a ticket is complete, or broke off: then with the failure.
    case ticketDelivered(EntryID, StoredResponse, Failure?, AttemptTally)
    /// The exchange of an entry ends or has ended while its ticket was being made, and its client was never told of
    /// the ticket. Before `ended`.
    case ticketNeverAnnounced(EntryID)
    /// The client of an entry has left, and the entry cannot go on without it. Before `ended`.
    case notAdopted(EntryID, AdoptionObstacle)
    /// Evidence of an attempt that was cut off because its entry ended.
    case evidence(EntryID, Failure, AttemptTally)
    /// A request is to be accepted as a ticket, before any attempt.
    case accept(Acceptance, any AcceptingExchange)
    /// An exchange in the set is to become a ticket.
    case becomeTicket(Acceptance, any HeldExchange & AcceptingExchange)
    /// A client was told that its request may have been applied, and nobody is asked.
    case mayHaveBeenApplied(Origin, Failure)
    /// An origin responded while the network was in doubt.
    case networkAnswered
}
