import LayoverCore
import LayoverEngine
import LayoverHTTP
import LayoverText
import NIOCore

/// The facts of a request that the rules need.
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

/// The facts of a response that the rules need, of one that has just come or was kept.
struct ResponseFacts: Sendable {
    let status: Int
    let fields: MessageFields
    let directives: CacheDirectives

    init(_ head: ResponseHead) {
        self.init(status: head.status, head: head.bytes)
    }

    /// - Parameter head: A status line and field lines, each with its CRLF.
    init(status: Int, head: ByteBuffer) {
        self.status = status
        fields = MessageFields(responseHead: head)
        directives = CacheDirectives(fields)
    }

    /// Whether the response may be given to everybody, whatever credentials the request carried: a shared cache could keep it
    /// too (RFC 9111 section 3.5). Where two directives contradict each other, the narrower counts.
    var isForEveryone: Bool {
        (directives.has("public") || directives.has("s-maxage")) && !directives.has("private")
    }

    /// The date of a field in seconds since 1970; nil if the field is absent or is no date.
    ///
    /// - Parameter now: By which years of two digits are understood.
    func date(_ name: String, now: Int) -> Int? {
        fields.text(name).flatMap { Self.seconds($0, now: now) }
    }

    static func seconds(_ date: String, now: Int) -> Int? { HTTPDate.seconds(date, now: now) }

    /// RFC 9110 section 15.1 names these as heuristically cacheable. Of its list 206 is left out, because parts are
    /// not kept, and so are errors: an old error helps nobody while the origin is away.
    var isHeuristicallyCacheable: Bool { [200, 203, 204, 300, 301, 308].contains(status) }
}
