/// A field name that some rule of the proxy looks for. Names compare without regard to case.
///
/// There must be at most 64, so that a set of them fits into one word (`KnownFieldSet`).
package enum KnownField: UInt8, Sendable, CaseIterable {
    /// Any name that is not listed here.
    case other
    // Framing and routing.
    case host, contentLength, transferEncoding, trailer, expect, maxForwards, via
    // Hop-by-hop.
    case connection, keepAlive, proxyConnection, te, upgrade, http2Settings
    case proxyAuthorization, proxyAuthenticate, proxyAuthenticationInfo
    // Ours: every name that begins with `Layover-`.
    case layover
    // Read by the rules of the proxy.
    case prefer, priority, idempotencyKey, retryAfter, proxyStatus
    case origin, secFetchSite, userAgent, referer
    // End-to-end fields. They are listed here because a `Connection` field must not remove them by nominating them.
    case authorization, cookie, setCookie, wwwAuthenticate, date, location
    case contentType, contentEncoding, contentRange, range, cacheControl
    case etag, lastModified, ifMatch, ifNoneMatch, ifRange, ifModifiedSince, ifUnmodifiedSince

    /// Recognises a name without allocating: candidates of the same length are compared in place.
    @inline(__always)
    static func recognise(_ bytes: UnsafeRawBufferPointer, _ range: Range<Int>) -> Self {
        let field = byLength(bytes, range)
        if field == .other, range.count > 8, bytes[range.lowerBound] | 0x20 == 0x6C,
            ByteText.equalsIgnoringCase(
                "layover-", in: bytes, range.lowerBound..<(range.lowerBound &+ 8))
        {
            return .layover
        }
        return field
    }

    private static func byLength(_ bytes: UnsafeRawBufferPointer, _ range: Range<Int>) -> Self {
        @inline(__always) func has(_ name: StaticString) -> Bool {
            ByteText.equalsIgnoringCase(name, in: bytes, range)
        }
        switch range.count {
        case 2: return has("te") ? .te : .other
        case 3: return has("via") ? .via : .other
        case 4: return has("host") ? .host : has("date") ? .date : has("etag") ? .etag : .other
        case 5: return has("range") ? .range : .other
        case 6:
            return has("cookie")
                ? .cookie
                : has("expect")
                    ? .expect
                    : has("origin") ? .origin : has("prefer") ? .prefer : .other
        case 7:
            return has("upgrade") ? .upgrade : has("trailer") ? .trailer : has("referer") ? .referer : .other
        case 8:
            return has("if-match")
                ? .ifMatch
                : has("if-range")
                    ? .ifRange
                    : has("location") ? .location : has("priority") ? .priority : .other
        case 10:
            return has("connection")
                ? .connection
                : has("user-agent")
                    ? .userAgent
                    : has("keep-alive") ? .keepAlive : has("set-cookie") ? .setCookie : .other
        case 11: return has("retry-after") ? .retryAfter : .other
        case 12:
            return has("content-type")
                ? .contentType
                : has("max-forwards") ? .maxForwards : has("proxy-status") ? .proxyStatus : .other
        default: return byGreaterLength(bytes, range)
        }
    }

    private static func byGreaterLength(
        _ bytes: UnsafeRawBufferPointer, _ range: Range<Int>
    ) -> Self {
        @inline(__always) func has(_ name: StaticString) -> Bool {
            ByteText.equalsIgnoringCase(name, in: bytes, range)
        }
        switch range.count {
        case 13:
            return has("authorization")
                ? .authorization
                : has("cache-control")
                    ? .cacheControl
                    : has("content-range")
                        ? .contentRange
                        : has("if-none-match")
                            ? .ifNoneMatch
                            : has("last-modified") ? .lastModified : .other
        case 14:
            return has("content-length")
                ? .contentLength
                : has("http2-settings")
                    ? .http2Settings
                    : has("sec-fetch-site") ? .secFetchSite : .other
        case 15: return has("idempotency-key") ? .idempotencyKey : .other
        case 16:
            return has("proxy-connection")
                ? .proxyConnection
                : has("content-encoding")
                    ? .contentEncoding
                    : has("www-authenticate") ? .wwwAuthenticate : .other
        case 17:
            return has("transfer-encoding")
                ? .transferEncoding
                : has("if-modified-since") ? .ifModifiedSince : .other
        case 18: return has("proxy-authenticate") ? .proxyAuthenticate : .other
        case 19:
            return has("proxy-authorization")
                ? .proxyAuthorization
                : has("if-unmodified-since") ? .ifUnmodifiedSince : .other
        case 25: return has("proxy-authentication-info") ? .proxyAuthenticationInfo : .other
        default: return .other
        }
    }
}

/// A set of known fields in one word.
package struct KnownFieldSet: Sendable, Equatable {
    private var bits: UInt64 = 0

    package init() {}

    package init(_ fields: KnownField...) {
        for field in fields { insert(field) }
    }

    package mutating func insert(_ field: KnownField) { bits |= 1 << UInt64(field.rawValue) }

    package func contains(_ field: KnownField) -> Bool {
        bits & (1 << UInt64(field.rawValue)) != 0
    }

    package func union(_ other: Self) -> Self {
        var union = self
        union.bits |= other.bits
        return union
    }
}
