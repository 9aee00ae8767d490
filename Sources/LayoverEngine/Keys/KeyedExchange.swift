package import LayoverCore
package import NIOCore

/// A request with an `Idempotency-Key` whose client takes a ticket, as the engine reaches it.
package protocol KeyedExchange: AnyObject, Sendable {
    /// Hops to its loop; never from within the claim.
    func keyDecided(_ decision: KeyDecision)
}

/// What the engine says to a claim.
package enum KeyDecision: Sendable {
    /// It goes: nothing of its kind is under way.
    case go
    /// An equal request may be under way: it waits for the outcome.
    case join
    /// It is to become a ticket now, because an equal request has no time left.
    case offerTicket
    /// What the request with this payload came to; with another payload it means that the key is used.
    case outcome(KeyOutcome, payload: [UInt8])
    /// The key is used for another request that is under way.
    case reused
    case refused(limit: String, value: Int)
}

/// What a request came to, for others with the same key and payload.
package enum KeyOutcome: Sendable {
    /// It is a ticket.
    case ticket(EntryID)
    /// The origin answered.
    case answer(SharedAnswer)
    /// The proxy answered it itself.
    case own(status: Int, fields: [(name: String, value: String)], body: String)
}

/// An answer of an origin that is given to more clients than one.
package struct SharedAnswer: Sendable {
    package var status: Int
    /// Status line and fields, each line with its CRLF, as in `ResponseHead.bytes`.
    package var head: ByteBuffer
    /// Nil where no body can follow.
    package var body: CapturedBody?
    /// Whether there was a body that a limit or the disk did not let us keep.
    package var isBodyLost: Bool

    package init(status: Int, head: ByteBuffer, body: CapturedBody?, isBodyLost: Bool) {
        self.status = status
        self.head = head
        self.body = body
        self.isBodyLost = isBodyLost
    }
}
