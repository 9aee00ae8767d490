package import LayoverCore
package import LayoverHTTP
package import NIOCore

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

/// A request as the cache sees it: as it goes upstream, because the response belongs to that form.
package struct CacheRequest: Sendable {
    package var origin: Origin
    /// The method token as the client sent it.
    package var method: String
    /// Path and query byte for byte.
    package var target: String
    /// As in `UpstreamRequest`.
    package var fields: RequestFields
    package var hasBody: Bool

    package init(origin: Origin, method: String, target: String, fields: RequestFields, hasBody: Bool = false) {
        self.origin = origin
        self.method = method
        self.target = target
        self.fields = fields
        self.hasBody = hasBody
    }
}

/// Why the cache is asked.
package enum CacheOccasion: Sendable, Hashable, CaseIterable {
    /// The origin cannot be reached: a stale response may be used, unless the client or the origin forbids it.
    case unreachable
    /// The client said `only-if-cached`: only what is fresh will do, or as stale as the client itself allows.
    case onlyIfCached
}

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

/// A request whose response would replace a cached one: without preconditions and without `Range`, because a 304 or
/// a part would renew nothing for others.
package struct CacheRefresh: Sendable {
    package var request: CacheRequest
    /// Equal for requests that would replace the same response.
    package var key: [UInt8]

    package init(request: CacheRequest, key: [UInt8]) {
        self.request = request
        self.key = key
    }
}

/// Takes the body of a response for the cache. For one event loop at a time; never blocks it.
///
/// The cache drops the response, silently, when the body is over a limit, when the disk is slower than the origin,
/// or when the response was outdated meanwhile: a client never waits for the cache. A writer that is released
/// before `finish` drops it too.
package protocol ResponseWriter: AnyObject, Sendable {
    func append(_ bytes: ByteBuffer)
    /// The response is complete. Only now it is kept.
    func commit()
    /// The response broke off, or is not read to its end: nothing is kept.
    func abandon()
}

/// When an exchange with the origin took place, in seconds since 1970 UTC: ages outlive a boot, and dates in
/// fields are wall-clock time.
package struct CacheTimes: Sendable, Hashable {
    /// When the attempt that was answered began.
    package var requestedAt: Int
    /// When the head of its response came.
    package var answeredAt: Int

    package init(requestedAt: Int, answeredAt: Int) {
        self.requestedAt = requestedAt
        self.answeredAt = answeredAt
    }
}

/// How much the cache holds, and how it is doing.
package struct CacheUsage: Sendable, Hashable {
    package var entryCount: Int
    package var entryCountMax: Int
    package var byteCount: Int
    package var byteCountMax: Int
    /// Why the last response could not be kept, for people; nil once a later one was kept.
    package var failure: String?

    package init(
        entryCount: Int = 0, entryCountMax: Int = 0, byteCount: Int = 0, byteCountMax: Int = 0, failure: String? = nil
    ) {
        self.entryCount = entryCount
        self.entryCountMax = entryCountMax
        self.byteCount = byteCount
        self.byteCountMax = byteCountMax
        self.failure = failure
    }
}
