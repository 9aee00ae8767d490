package import LayoverCore
package import LayoverHTTP
package import NIOCore

/// A response from the cache, ready to be sent.
package struct CachedResponse: Sendable {
    /// As if the origin had sent it just now, with `Age`. `framing` is `length` where a body follows, else `none`.
    package var head: ResponseHead
    /// Nil where no body follows: HEAD, 204, 304.
    package var body: (any CachedBody)?
    /// Seconds since the origin made it or confirmed it.
    package var age: Int
    /// Seconds that it stays fresh; 0 and less for as long as it has been stale (`ttl` of RFC 9211).
    package var freshFor: Int
    /// The request that renews it, once the origin can be reached.
    package var refresh: CacheRefresh

    package init(
        head: ResponseHead, body: (any CachedBody)?, age: Int, freshFor: Int, refresh: CacheRefresh
    ) {
        self.head = head
        self.body = body
        self.age = age
        self.freshFor = freshFor
        self.refresh = refresh
    }

    /// RFC 9111 section 4.2: a response is fresh if its lifetime is longer than its age.
    package var isStale: Bool { freshFor <= 0 }

    /// The value of `Cache-Status` (RFC 9211 section 2).
    ///
    /// - Parameter identity: `proxy.identity`.
    package func cacheStatus(identity: String) -> String {
        "\(identity); hit; ttl=\(freshFor)" + (isStale ? "; detail=stale-if-error" : "")
    }
}

/// The body of a cached response. Readable as long as it is referenced, even if the cache has dropped it.
package protocol CachedBody: AnyObject, Sendable {
    var byteCount: Int { get }
    /// Reads in the background. `done(nil)` on an error; fewer bytes than asked for only at the end.
    func read(at offset: Int, count: Int, done: @escaping @Sendable (ByteBuffer?) -> Void)
}

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

/// Selects cached responses.
package enum CacheSelection: Sendable, Hashable {
    case all
    /// The responses of all origins with this host, in lower case, whatever the scheme and the port.
    case host(String)
    /// The responses of one URL, all variants.
    case url(Origin, target: String)
}

extension CacheSelection {
    /// All variants of the URL that a person wrote; nil if the text is no absolute http or https URL. Path and query must be
    /// those of the requests, byte for byte; a fragment is ignored.
    package init?(url text: String) {
        let whole = text.prefix { $0 != "#" }
        guard let colon = whole.firstIndex(of: ":"), whole[colon...].hasPrefix("://"),
            let scheme = Origin.Scheme(rawValue: whole[..<colon].lowercased()), scheme != .tunnel
        else { return nil }
        let rest = whole[colon...].dropFirst(3)
        let authorityText = rest.prefix { $0 != "/" && $0 != "?" }
        guard let authority = Authority(parsing: String(authorityText)) else { return nil }
        let path = rest[authorityText.endIndex...]
        self = .url(
            Origin(scheme: scheme, host: authority.host, port: authority.port),
            target: path.hasPrefix("/") ? String(path) : "/" + path)
    }
}
