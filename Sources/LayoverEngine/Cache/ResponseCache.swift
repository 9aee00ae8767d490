package import LayoverHTTP

/// Responses kept for reading while their origin cannot be reached (policy `cache: staleIfError`).
///
/// `answered` and `lookup` may be called on any thread and never block it: they compute, and hand everything that
/// touches a disk to threads of the cache. Completions come on those threads, each once, and never from within the
/// call. No failure of the cache is a failure of an exchange: the response is dropped, and `usage` has the failure.
package protocol ResponseCache: AnyObject, Sendable {
    /// A final response of the origin has begun. Keeps it if RFC 9111 section 3 allows that; otherwise renews or drops
    /// the kept one; after an unsafe method that succeeded, drops responses that it may have changed (section 4.4).
    ///
    /// - Returns: The writer for the body, also an empty one; nil if the response is not kept.
    func answered(_ head: ResponseHead, to request: CacheRequest, at times: CacheTimes) -> (any ResponseWriter)?

    /// Finds a response that may be used now.
    ///
    /// - Parameter now: Seconds since 1970.
    func lookup(
        _ request: CacheRequest, _ occasion: CacheOccasion, now: Int,
        done: @escaping @Sendable (CacheLookup) -> Void)

    /// Whether the caller may refresh the response that it was given. Only one caller at a time may, until `refreshEnded`.
    func claimRefresh(_ refresh: CacheRefresh) -> Bool
    func refreshEnded(_ refresh: CacheRefresh)

    /// The kept responses, newest first.
    ///
    /// - Parameter before: The `sequence` of the last one of the page before; nil for the first page.
    func list(_ selection: CacheSelection, before: Int64?, limit: Int) async throws -> [CachedFacts]

    /// Drops what is selected, files included, in small steps.
    ///
    /// - Returns: How many responses were dropped.
    func purge(_ selection: CacheSelection) async throws -> Int

    var usage: CacheUsage { get }

    /// Waits for all work handed in, and closes the files.
    func close() async
}
