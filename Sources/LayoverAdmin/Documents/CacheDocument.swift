import LayoverCore
import LayoverEngine
import LayoverText

/// One page of the responses that are kept for reading offline, the newest first.
package struct CacheDocument: Codable, Sendable {
    package var data: [CachedResponseDocument]
    /// Of the whole cache, whatever was selected.
    package var usage: CacheUsageDocument
    @OrNull package var nextCursor: String?
}

/// One response that is kept.
package struct CachedResponseDocument: Codable, Sendable {
    enum CodingKeys: String, CodingKey {
        case method, url, host, status, contentType, bytes, storedAt, freshUntil, usedAt
        case isForOneUser = "private"
    }

    package var method: String
    /// Secrets are masked.
    package var url: String
    package var host: String
    package var status: Int
    @OrNull package var contentType: String?
    /// Of body and head.
    package var bytes: Int
    package var storedAt: String
    package var freshUntil: String
    /// When the response was last used, or else stored.
    package var usedAt: String
    /// Whether only requests with the same credentials get the response.
    package var isForOneUser: Bool
}

extension CachedResponseDocument {
    init(_ facts: CachedFacts) {
        self.init(
            method: facts.method, url: MaskedURL.text(facts.origin.description + facts.target),
            host: facts.origin.host, status: facts.status, contentType: facts.contentType, bytes: facts.byteCount,
            storedAt: RFC3339.text(seconds: facts.storedAt), freshUntil: RFC3339.text(seconds: facts.freshUntil),
            usedAt: RFC3339.text(seconds: facts.usedAt), isForOneUser: facts.isForOneUser)
    }
}

/// How much the cache holds.
package struct CacheUsageDocument: Codable, Sendable {
    package var entries: Int
    package var entriesMax: Int
    package var bytes: Int
    package var bytesMax: Int
    /// Why the last response could not be kept; null once one was kept after it.
    @OrNull package var failure: String?
}

extension CacheUsageDocument {
    init(_ usage: CacheUsage) {
        self.init(
            entries: usage.entryCount, entriesMax: usage.entryCountMax, bytes: usage.byteCount,
            bytesMax: usage.byteCountMax, failure: usage.failure)
    }
}

/// The result of a purge.
package struct CachePurgeDocument: Codable, Sendable {
    /// Responses that were dropped.
    package var purged: Int
}
