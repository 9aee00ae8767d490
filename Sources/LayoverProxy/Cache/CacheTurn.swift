import LayoverCore
import LayoverEngine
import LayoverHTTP

/// What one exchange has to do with the cache. Nil for those that have nothing to do with it.
struct CacheTurn {
    let cache: any AnswerCache
    /// Whether its policy lets it be answered from the cache.
    let isReadable: Bool
    /// When the attempt under way began, in seconds since 1970.
    var requestedAt = 0
    /// Takes the answer that is being passed on.
    var writer: (any AnswerWriter)?
    var hasLooked = false
    /// Sends an answer from the cache.
    var sending: CachedBodySending?

    /// Reading needs the word of a policy; what changes a resource outdates what is kept of it, whoever says so.
    init?(_ cache: (any AnswerCache)?, _ request: UpstreamRequest, _ policy: Policy) {
        guard let cache, request.purpose == .transfer else { return nil }
        let isRead = request.method == "GET" || request.method == "HEAD"
        isReadable = isRead && policy.cache == .staleIfError
        guard isReadable || !RequestMethod.isSafe(request.method) else { return nil }
        self.cache = cache
    }
}

extension UpstreamRequest {
    /// The request in the eyes of the cache.
    var cacheRequest: CacheRequest {
        CacheRequest(origin: origin, method: method, target: target, fields: fields, hasBody: framing != .none)
    }

    /// Whether the client wants an answer from the cache or none (RFC 9111 section 5.2.1.7).
    var isOnlyIfCached: Bool {
        fields.texts(of: "cache-control").contains { $0.lowercased().contains("only-if-cached") }
    }
}
