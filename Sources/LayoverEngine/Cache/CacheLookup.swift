/// What the cache has for a request.
package enum CacheLookup: Sendable {
    case found(CachedAnswer)
    case nothing(CacheMiss)
}

/// Why the cache has nothing to give.
package enum CacheMiss: String, Sendable, Hashable, CaseIterable {
    /// The request is none that a cache answers: its method, a body, a precondition that only the origin can judge.
    case notCacheable
    /// The client forbids it.
    case forbidden
    /// Nothing is kept for this URL, or for other credentials or other values of the fields in `Vary` only.
    case absent
    /// What is kept is older than the client, the origin or the limits allow.
    case tooStale
    /// The origin wants its answer confirmed before it is used again.
    case mustRevalidate
    /// It was kept, but cannot be read.
    case lost
}
