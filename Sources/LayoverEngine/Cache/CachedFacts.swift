package import LayoverCore

/// The description of one cached response for people. Holds no field values besides the media type.
package struct CachedFacts: Sendable, Hashable {
    /// Higher for what was kept later; never used again.
    package var sequence: Int64
    package var method: String
    package var origin: Origin
    package var target: String
    package var status: Int
    package var contentType: String?
    /// Of body and head.
    package var byteCount: Int
    /// Seconds since 1970.
    package var storedAt: Int
    /// Seconds since 1970 from which on it is stale.
    package var freshUntil: Int
    /// Seconds since 1970: when it was last used, or else stored.
    package var usedAt: Int
    /// Whether only requests with the same credentials get it.
    package var isForOneUser: Bool

    package init(
        sequence: Int64, method: String, origin: Origin, target: String, status: Int, contentType: String?,
        byteCount: Int, storedAt: Int, freshUntil: Int, usedAt: Int, isForOneUser: Bool
    ) {
        self.sequence = sequence
        self.method = method
        self.origin = origin
        self.target = target
        self.status = status
        self.contentType = contentType
        self.byteCount = byteCount
        self.storedAt = storedAt
        self.freshUntil = freshUntil
        self.usedAt = usedAt
        self.isForOneUser = isForOneUser
    }
}
