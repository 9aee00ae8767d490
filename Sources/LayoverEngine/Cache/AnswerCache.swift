package import LayoverHTTP

/// Answers kept for reading while their origin cannot be reached (policy `cache: staleIfError`).
///
/// `answered` and `lookup` may be called on any thread and never block it: they compute, and hand everything that
/// touches a disk to threads of the cache. Completions come on those threads, each once, and never from within the
/// call. No failure of the cache is a failure of an exchange: it forgets, and says so in `usage`.
package protocol AnswerCache: AnyObject, Sendable {
    /// A final answer of the origin has begun. Keeps it, if the rules of RFC 9111 section 3 allow that; renews or
    /// drops what is kept otherwise; after an unsafe method that succeeded, drops what it may have changed (section 4.4).
    ///
    /// - Returns: Where the body goes, also an empty one; nil if the answer is not kept.
    func answered(_ head: ResponseHead, to request: CacheRequest, at times: CacheTimes) -> (any AnswerWriter)?

    /// Looks for an answer that may be given now.
    ///
    /// - Parameter now: Seconds since 1970.
    func lookup(
        _ request: CacheRequest, _ occasion: CacheOccasion, now: Int,
        done: @escaping @Sendable (CacheLookup) -> Void)

    /// Whether the caller is the one who asks the origin anew for what it was given. Only one at a time is, until
    /// `refreshEnded`.
    func claimRefresh(_ refresh: CacheRefresh) -> Bool
    func refreshEnded(_ refresh: CacheRefresh)

    /// What is kept, newest first.
    ///
    /// - Parameter before: The `sequence` of the last one of the page before; nil for the first page.
    func list(_ selection: CacheSelection, before: Int64?, limit: Int) async throws -> [CachedFacts]

    /// Drops what is selected, files included, in small steps.
    ///
    /// - Returns: How many answers were dropped.
    func purge(_ selection: CacheSelection) async throws -> Int

    var usage: CacheUsage { get }

    /// Waits for what was handed in, and lets go of the files.
    func close() async
}
