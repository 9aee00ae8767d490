package import LayoverHTTP

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
