package import LayoverCore

/// One change in the store.
package enum StoreChange: Sendable {
    /// A ticket is accepted, in the state of the record. Its id is new; otherwise `stale`. With a mark whose key
    /// is in the store already, nothing is inserted; then the file of its body is removed unless a row names it.
    case insert(TicketRecord, StoredRequest, IdempotencyMark?)
    /// A ticket has changed. Applied only if the row's revision is lower and its state is not final: rows may have
    /// missed steps, so every live state can become any other. Only `started` sets `attempting`: an update to that
    /// state leaves an `attempting` row as it is, and makes any other one `waiting`.
    /// A final record removes the request and its body. The URL of the row stays as it was inserted: that of the record may
    /// be cut.
    case update(TicketRecord)
    /// The start record: the connection of an attempt is open, and its first byte is about to leave. The row becomes `attempting`.
    /// Applied only if the row is `waiting` or `attempting` and its revision is not higher; otherwise `stale`, and
    /// nothing may be sent.
    case started(EntryID, revision: Int, counts: AttemptCounts)
    /// Evidence of an attempt that was cut off by the end of its ticket: counts, failure and timeline, and nothing
    /// else. Applied only if the row is in the same final state and its revision is lower.
    case lateEvidence(TicketRecord)
    /// A response came: the record is final, and the response is kept. Applied like `update`; if it is `stale`, the
    /// file of the response is removed unless a row names it.
    case delivered(TicketRecord, StoredResponse)
    /// Removes the response of a final ticket; the row stays.
    case dropResponse(EntryID)
    /// No client was ever told of the ticket: its mark is removed, so that a repetition of the request is a new one.
    case forgetKey(EntryID)
    /// The current time, as this boot of the machine counts it. Always applied.
    case seen(Timestamp)
}

extension StoreChange {
    /// Whether the record is final and its URL is cut in memory: the whole URL is not needed there once the change is on disk.
    var hasLongURLOfEnded: Bool {
        switch self {
        case .update(let record), .delivered(let record, _), .lateEvidence(let record):
            record.state.isFinal && PendingSet.cutsURL(record.url)
        case .insert, .started, .dropResponse, .forgetKey, .seen: false
        }
    }

    /// Tells the store the time.
    static func time(_ now: Timestamp, by clock: TicketClock) -> StoreChange {
        .seen(Timestamp(nanoseconds: now.nanoseconds &+ clock.offset))
    }

    /// Name for logs.
    var name: String {
        switch self {
        case .insert: "insert"
        case .update(let record): "update to \(record.state)"
        case .started: "started"
        case .lateEvidence: "late evidence"
        case .delivered: "delivered"
        case .dropResponse: "dropAnswer"
        case .forgetKey: "forgetKey"
        case .seen: "seen"
        }
    }
}

/// The result of one change.
package enum StoreResult: Sendable, Hashable {
    /// The change is on disk.
    case done
    /// A ticket with the same idempotency key was accepted before.
    case duplicate(of: EntryID, samePayload: Bool)
    /// Not applied: the row does not exist, is newer, or is in a state that cannot become the new one.
    case stale
}

/// Compares two acceptances with the same `Idempotency-Key`
/// (draft-ietf-httpapi-idempotency-key-header).
package struct IdempotencyMark: Sendable, Hashable {
    /// A digest of the key, the origin and the identity of the client. 32 bytes.
    package var key: [UInt8]
    /// A digest of the method, the target and the body. 32 bytes.
    package var payload: [UInt8]

    package init(key: [UInt8], payload: [UInt8]) {
        self.key = key
        self.payload = payload
    }
}

/// A ticket that was found by the key of its mark.
package struct MarkedTicket: Sendable, Hashable {
    package var id: EntryID
    /// The payload of its mark.
    package var payload: [UInt8]

    package init(id: EntryID, payload: [UInt8]) {
        self.id = id
        self.payload = payload
    }
}
