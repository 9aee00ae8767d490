package import LayoverCore

/// One change of what is on disk.
package enum StoreChange: Sendable {
    /// A ticket is accepted, in the state that the record says. Its id is new; otherwise `stale`. With a mark whose
    /// key is there already nothing is inserted. Where nothing is inserted, its body's file is removed unless a row names it.
    case insert(TicketRecord, StoredRequest, IdempotencyMark?)
    /// A ticket stands differently. Applied only if the row's revision is lower and it is not final: rows may have
    /// missed steps, so every live state can become any other. Only `started` says `attempting`: a record in that
    /// state leaves a row that is `attempting` so, and makes any other one `waiting`.
    /// A final record lets go of the request and its body.
    case update(TicketRecord)
    /// The connection of an attempt stands, and its first byte is about to leave: the row becomes `attempting`.
    /// Applied only if the row is `waiting` or `attempting` and its revision is not higher; otherwise `stale`, and
    /// nothing may be sent.
    case started(EntryID, revision: Int, counts: AttemptCounts)
    /// What the last attempt of a final ticket proved, which had been cut off: counts, failure and timeline, and nothing
    /// else. Applied only if the row is in the same final state and its revision is lower.
    case learned(TicketRecord)
    /// An answer came: the record is final, and its answer is kept. Applied like `update`; where it is `stale`, the
    /// answer's file is removed unless a row names it.
    case delivered(TicketRecord, StoredAnswer)
    /// Nobody wants the answer any more: its bytes go, the row stays. Only of a final ticket.
    case dropAnswer(EntryID)
    /// Nobody was ever told of the ticket: its mark goes, so that it is not the answer to the same request.
    case unmark(EntryID)
    /// The date, as this boot of the machine has it, has come that far. Always applied.
    case seen(Timestamp)
}

extension StoreChange {
    /// One word for logs.
    var name: String {
        switch self {
        case .insert: "insert"
        case .update(let record): "update to \(record.state)"
        case .started: "started"
        case .learned: "learned"
        case .delivered: "delivered"
        case .dropAnswer: "dropAnswer"
        case .unmark: "unmark"
        case .seen: "seen"
        }
    }
}

/// What came of one change.
package enum StoreResult: Sendable, Hashable {
    /// It is on disk.
    case done
    /// A ticket with the same idempotency key was accepted before.
    case duplicate(of: EntryID, samePayload: Bool)
    /// The guard did not hold: the row is not there, or newer, or in a state that cannot become the new one.
    case stale
}
