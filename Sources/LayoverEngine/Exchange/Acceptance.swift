package import LayoverCore

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
    /// The ticket is on disk, and this is its standing. A standing of nil, here and below, is not in memory.
    case accepted(EntryID, TicketStanding?)
    /// The same request with the same key was accepted before, under this id.
    case duplicate(of: EntryID, TicketStanding?)
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
        if case .notStored(_, let failure) = self { failure.mayBeKept } else { false }
    }

    /// Whether the body that was kept for it will never have a ticket. A store that refused the ticket has removed
    /// the body itself.
    package var abandonsBody: Bool {
        switch self {
        case .accepted, .duplicate, .keyReused: false
        case .refused, .draining, .unknownParent, .gone: true
        case .notStored(_, let failure): !failure.mayBeKept
        }
    }
}

/// An exchange that asks for a ticket. Each call switches to its loop.
package protocol AcceptingExchange: AnyObject, Sendable {
    /// Once, and never from within the request.
    func acceptance(_ result: AcceptanceResult)
}
