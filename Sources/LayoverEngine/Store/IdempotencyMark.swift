package import LayoverCore

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
