package import LayoverCore

/// A request that is to become a ticket, complete and with its body where it outlives the process.
package struct Acceptance: Sendable {
    /// Its `ticket` is set. Its id is that of the entry, where it waits in the pending set already.
    package var new: NewEntry
    package var request: StoredRequest
    package var mark: IdempotencyMark?

    package init(new: NewEntry, request: StoredRequest, mark: IdempotencyMark? = nil) {
        self.new = new
        self.request = request
        self.mark = mark
    }
}

/// What became of a request that was to become a ticket.
package enum AcceptanceResult: Sendable, Hashable {
    /// It is on disk, and stands so. Nil here and below: how it stands is not in memory.
    case accepted(EntryID, TicketStanding?)
    /// The same request with the same key was accepted before, under this id.
    case duplicate(of: EntryID, TicketStanding?)
    /// The key was used for another request.
    case keyReused
    case refused(limit: String, value: Int)
    case draining
    /// It depends on a ticket that there is not.
    case unknownParent(EntryID)
    /// It is not known to be on disk. The id is told, because it may be there after all.
    case notStored(EntryID, StoreFailure)
    /// Its entry came to its end meanwhile.
    case gone

    /// The ticket that the client is told of; nil: there is none.
    package var ticket: EntryID? {
        switch self {
        case .accepted(let id, _), .duplicate(let id, _): id
        case .keyReused, .refused, .draining, .unknownParent, .notStored, .gone: nil
        }
    }

    /// Whether the body that was kept for it has no ticket, and never will. Where the store has said no, it has let go
    /// of the body itself.
    package var abandonsBody: Bool {
        switch self {
        case .accepted, .duplicate, .keyReused: false
        case .refused, .draining, .unknownParent, .gone: true
        case .notStored(_, let failure): !failure.mayBeKept
        }
    }
}

/// Who asks for a ticket. Each call hops to its loop.
package protocol AcceptingExchange: AnyObject, Sendable {
    /// Once, and never from within the request.
    func acceptance(_ result: AcceptanceResult)
}
