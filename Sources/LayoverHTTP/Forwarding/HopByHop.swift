/// Which fields end at this proxy, in both directions: the hop-by-hop ones (RFC 9110 section 7.6.1).
extension KnownField {
    /// Fields that concern one connection only and are never forwarded.
    ///
    /// `Trailer` is not among them: we forward trailers, so its announcement stays true.
    /// `Proxy-Authenticate` and `Proxy-Authentication-Info` speak for the next proxy (RFC 9110
    /// section 11.7), and that is us.
    static let hopByHop = KnownFieldSet(
        .connection, .keepAlive, .proxyConnection, .te, .upgrade, .http2Settings,
        .transferEncoding, .proxyAuthorization, .proxyAuthenticate, .proxyAuthenticationInfo)

    /// Fields that no honest client nominates: a request whose `Connection` does is refused.
    static var refusedInNomination: KnownFieldSet {
        KnownFieldSet(.host, .contentLength, .transferEncoding, .authorization, .cookie)
    }

    /// Fields that stay even if `Connection` nominates them. A sender must not nominate what is
    /// meant for all recipients, and whoever does wants somebody's framing, routing or
    /// authorization to disappear.
    static var protectedFromNomination: KnownFieldSet {
        KnownFieldSet(
            .host, .contentLength, .trailer, .expect, .maxForwards, .via, .authorization, .cookie,
            .setCookie, .wwwAuthenticate, .date, .location, .contentType, .contentEncoding,
            .contentRange, .range, .cacheControl, .etag, .lastModified, .ifMatch, .ifNoneMatch,
            .ifRange, .ifModifiedSince, .ifUnmodifiedSince, .idempotencyKey, .retryAfter,
            .proxyStatus, .origin, .secFetchSite)
    }

    /// Fields that must not be sent as trailers, because they frame, route, authorize or steer the
    /// message they come too late for (RFC 9110 section 6.5.1). They are dropped.
    static var forbiddenInTrailers: KnownFieldSet {
        KnownFieldSet(
            .connection, .keepAlive, .proxyConnection, .te, .upgrade, .http2Settings,
            .proxyAuthorization, .proxyAuthenticate, .proxyAuthenticationInfo, .layover,
            .trailer, .expect, .maxForwards, .via, .prefer, .priority, .idempotencyKey, .retryAfter,
            .origin, .secFetchSite, .authorization, .cookie, .setCookie, .wwwAuthenticate, .date,
            .location, .contentType, .contentEncoding, .contentRange, .range, .cacheControl,
            .ifMatch, .ifNoneMatch, .ifRange, .ifModifiedSince, .ifUnmodifiedSince)
    }

    /// Trailer fields that no honest sender makes: a message that has one is refused.
    static var refusedInTrailers: KnownFieldSet {
        KnownFieldSet(.contentLength, .transferEncoding, .host)
    }
}
