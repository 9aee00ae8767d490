/// What the cache has for a request.
package enum CacheLookup: Sendable {
    case found(CachedResponse)
    case nothing(CacheMiss)
}

/// Why the cache has no response.
package enum CacheMiss: String, Sendable, Hashable, CaseIterable {
    /// The cache never answers such a request: its method, a body, a precondition that only the origin can judge.
    case notCacheable
    /// The client forbids it.
    case forbidden
    /// Nothing is kept for this URL, or for other credentials or other values of the fields in `Vary` only.
    case absent
    /// The kept response is older than the client, the origin or the limits allow.
    case tooStale
    /// The origin requires revalidation before the response is used again.
    case mustRevalidate
    /// A response was kept, but cannot be read.
    case lost
}
