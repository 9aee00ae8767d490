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

/// A request that is to become a ticket, complete and with its body where it outlives the process.
package struct Acceptance: Sendable {
    /// The new entry, with its `ticket` set. If the request waits in the pending set already, the id is that of its entry there.
    package var new: NewEntry
    package var request: StoredRequest
    package var mark: IdempotencyMark?

    package init(new: NewEntry, request: StoredRequest, mark: IdempotencyMark? = nil) {
        self.new = new
        self.request = request
        self.mark = mark
    }
}

/// The result of accepting a ticket.
package enum AcceptanceResult: Sendable, Hashable {
    /// The ticket is on disk, and looks like this. A view of nil, here and below, is not in memory.
    case accepted(EntryID, TicketView?)
    /// The same request with the same key was accepted before, under this id.
    case duplicate(of: EntryID, TicketView?)
    /// The key was used for another request.
    case keyReused
    case refused(limit: String, value: Int)
    case draining
    /// The request depends on an unknown ticket.
    case unknownParent(EntryID)
    /// The ticket may not be on disk. The client gets the id, because the ticket may be on disk after all.
    case notStored(EntryID, StoreFailure)
    /// The entry of the request has ended meanwhile.
    case gone

    /// The ticket that the client is told of; nil: there is none.
    package var ticket: EntryID? {
        switch self {
        case .accepted(let id, _), .duplicate(let id, _): id
        case .keyReused, .refused, .draining, .unknownParent, .notStored, .gone: nil
        }
    }

    /// Whether it is unknown if the store has the ticket.
    package var isInDoubt: Bool {
        if case .notStored(_, let failure) = self { failure.mayBeStored } else { false }
    }

    /// Whether the body that was kept for it will never have a ticket. A store that refused the ticket has removed
    /// the body itself.
    package var abandonsBody: Bool {
        switch self {
        case .accepted, .duplicate, .keyReused: false
        case .refused, .draining, .unknownParent, .gone: true
        case .notStored(_, let failure): !failure.mayBeStored
        }
    }
}

extension AcceptanceResult {
    /// Why the store did not insert a ticket. Nil: it is on disk.
    ///
    /// - Parameter view: How a ticket looks that is in memory.
    init?(ofInserting id: EntryID, _ result: Result<[StoreResult], StoreFailure>, view: (EntryID) -> TicketView?) {
        switch result {
        case .success(let results):
            switch results.first {
            case .done: return nil
            case .duplicate(let other, let isSame): self = isSame ? .duplicate(of: other, view(other)) : .keyReused
            case .stale, nil:
                // Whatever is there under this id is not ours to remove.
                self = .notStored(id, StoreFailure(.other, "The store already has a ticket with this id.", mayBeStored: true))
            }
        case .failure(let failure): self = .notStored(id, failure)
        }
    }
}

/// An exchange that asks for a ticket. Each call switches to its loop.
package protocol AcceptingExchange: AnyObject, Sendable {
    /// Once, and never from within the request.
    func acceptance(_ result: AcceptanceResult)
}
