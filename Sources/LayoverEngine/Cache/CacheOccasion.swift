/// Why the cache is asked.
package enum CacheOccasion: Sendable, Hashable, CaseIterable {
    /// The origin cannot be reached: a stale response may be used, unless the client or the origin forbids it.
    case unreachable
    /// The client said `only-if-cached`: only what is fresh will do, or as stale as the client itself allows.
    case onlyIfCached
}
