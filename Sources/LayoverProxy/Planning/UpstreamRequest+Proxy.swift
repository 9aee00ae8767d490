import LayoverCore
import LayoverEngine
import LayoverHTTP

/// A request to an origin as the parts of the proxy port see it: its route, its parent proxy, its ticket, the cache.
extension UpstreamRequest {
    /// Removes and sets the fields of the current route again, so that the next attempt carries a secret that was changed.
    ///
    /// Does nothing if the route's fields have not changed. Fields that a route adds, and values with a UUID, stay as at the first attempt.
    /// An added field stands beside those of the client and cannot be told from them.
    mutating func takeFields(of route: Route?) {
        guard let route else { return }
        var set = RequestFields()
        for field in route.setFields where !field.value.revealed.contains("~uuid~") { set.append(field.name, field.value.revealed) }
        let added = Set(route.addFields.map { $0.name.lowercased() })
        let removed = Set(route.removeFields.map { $0.lowercased() }).subtracting(added)
        let replaced = Set(set.map { $0.name.lowercased() })
        var kept = RequestFields()
        var before = RequestFields()
        var hasRemoved = false
        for field in fields {
            let name = field.name.lowercased()
            if removed.contains(name) {
                hasRemoved = true
            } else if replaced.contains(name) {
                before.append(field)
            } else {
                kept.append(field)
            }
        }
        guard hasRemoved || before != set else { return }
        for field in set { kept.append(field) }
        fields = kept
    }

    /// The failure for a 407 of the parent proxy. Nil: the 407 comes from the origin.
    func refusedCredentials(on connection: ConnectionFacts?) -> Failure? {
        guard parentProxyUse == .forward, purpose == .transfer else { return nil }
        return .parentProxyCredentialsRefused(remoteAddress: connection?.remoteAddress)
    }

    /// The same request without its body, by another method.
    func preflight(_ method: String) -> UpstreamRequest {
        var preflight = self
        preflight.method = method
        preflight.framing = .none
        preflight.body = nil
        preflight.expectsContinue = false
        preflight.mayBeSentTwice = Repeatability(method: method).mayBeSentTwice
        preflight.fields.removeAll { field in
            let name = field.name.lowercased()
            // These fields speak of the body, or of doing the request once.
            return name.hasPrefix("content-") || name == "idempotency-key"
        }
        return preflight
    }

    /// Whether a token for another ticket stands where none can be replaced.
    var hasTokenInAuthority: Bool { origin.host.contains("~ticket.") }

    /// The request in the eyes of the cache.
    var cacheRequest: CacheRequest {
        CacheRequest(origin: origin, method: method, target: target, fields: fields, hasBody: framing != .none)
    }

    /// Whether the client wants a response from the cache or none (RFC 9111 section 5.2.1.7).
    var isOnlyIfCached: Bool {
        fields.texts(of: "cache-control").contains { $0.lowercased().contains("only-if-cached") }
    }
}
