import LayoverCore
import LayoverEngine
import LayoverHTTP

/// What the rules look at in a request.
struct RequestFacts: Sendable {
    let method: String
    let hasBody: Bool
    let fields: MessageFields
    let directives: CacheDirectives

    init(_ request: CacheRequest) {
        method = request.method
        hasBody = request.hasBody
        fields = MessageFields(request.fields)
        directives = CacheDirectives(fields)
    }

    var isHead: Bool { method == "HEAD" }

    /// Whether responses to such a request are kept and given at all (RFC 9111 section 3). A body on GET or HEAD has no
    /// meaning that anybody could rely on (RFC 9110 section 9.3.1), so it is better left to the origin.
    var isCacheable: Bool { (method == "GET" || method == "HEAD") && !hasBody }

    /// RFC 9110 section 9.2.1. A method that nobody knows may change anything (RFC 9111 section 4.4).
    var isSafe: Bool { RequestMethod.isSafe(method) }

    /// Whether the client wants nothing but what the origin says now. `Pragma` counts only where there is no
    /// `Cache-Control` (RFC 9111 section 5.4).
    var forbidsCache: Bool {
        if directives.has("no-cache") || directives.has("no-store") { return true }
        guard !fields.contains("cache-control") else { return false }
        return fields.texts("pragma").contains { value in
            ListText.members(of: value).contains { $0.lowercased() == "no-cache" }
        }
    }
}
