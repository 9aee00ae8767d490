/// Why the cache is asked.
package enum CacheOccasion: Sendable, Hashable, CaseIterable {
    /// The origin cannot be reached: what is stale will do, where nobody forbids it.
    case unreachable
    /// The client said `only-if-cached`: only what is fresh will do, or as stale as the client itself allows.
    case onlyIfCached
}
