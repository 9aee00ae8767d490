import LayoverHTTP

/// Whether a response is kept (RFC 9111 section 3, for a private cache). Decision 0016 has the reasons for what is
/// stricter here.
enum StoringRule {
    enum Verdict: Sendable, Equatable {
        case keep
        /// Nothing changed: what is kept was confirmed (RFC 9111 section 4.3.4).
        case renew
        /// The response is not kept, and the kept response for the request is removed.
        case drop(Reason)
        /// The response is not kept, and this verdict removes no kept response.
        case pass(Reason)
    }

    enum Reason: String, Sendable, Equatable, CaseIterable {
        case method, requestNoStore, status, partial, gone, noStore, noCache, varyAny, endUnknown, notExplicit
    }

    /// Kept only where the response says itself that it may be (RFC 9111 section 3).
    private static let goodIfExplicit = [302, 303, 307]

    static func verdict(on response: ResponseFacts, framing: ResponseFraming, to request: RequestFacts) -> Verdict {
        guard request.isCacheable else { return .pass(.method) }
        // RFC 9111 section 5.2.1.5: no part of the response may be stored, so a 304 must not renew a kept response either.
        if request.directives.has("no-store") { return .pass(.requestNoStore) }
        switch response.status {
        case 304: return .renew
        case 206: return .pass(.partial)
        case 404, 410: return .drop(.gone)
        default: break
        }
        let isGoodIfExplicit = goodIfExplicit.contains(response.status)
        guard response.isHeuristicallyCacheable || isGoodIfExplicit else { return .pass(.status) }
        // Of must-understand (section 5.2.2.3) only the strict half is obeyed: no-store counts beside it too.
        if response.directives.has("no-store") { return .drop(.noStore) }
        // To be confirmed before each use, and nobody can be asked when it would be used.
        if response.directives.isUnqualified("no-cache") { return .drop(.noCache) }
        if VarySelection(response) == nil { return .drop(.varyAny) }
        if isGoodIfExplicit, !isExplicit(response) { return .drop(.notExplicit) }
        // A close cannot be told from a broken connection, so a part could pass for the whole (section 3.3).
        if framing == .untilClose { return .pass(.endUnknown) }
        return .keep
    }

    private static func isExplicit(_ response: ResponseFacts) -> Bool {
        response.directives.has("public") || response.directives.has("private")
            || response.directives.has("max-age") || response.fields.contains("expires")
    }
}

/// The URLs whose kept responses a response to an unsafe request outdates (RFC 9111 section 4.4).
enum InvalidationRule {
    /// The target itself and, on the same origin, what `Location` and `Content-Location` name. Empty after safe
    /// methods and after errors. Foreign URLs are left alone: else any server could empty the cache of another's.
    static func outdated(by response: ResponseFacts, to request: RequestFacts, for url: CacheURL) -> [CacheURL] {
        guard !request.isSafe, (200...399).contains(response.status) else { return [] }
        var urls = [url]
        for name in ["location", "content-location"] {
            for reference in response.fields.texts(name) {
                guard let other = url.resolving(reference), other.origin == url.origin, !urls.contains(other) else {
                    continue
                }
                urls.append(other)
            }
        }
        return urls
    }
}
