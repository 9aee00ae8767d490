import LayoverCore
import LayoverEngine
import LayoverHTTP
import LayoverReplay
import NIOCore

/// Finds the tokens of a request that is to become a ticket, and replaces those whose value is known by then.
struct TicketTokens {
    /// What the request needs before it can be sent.
    struct Found: Sendable {
        var request: UpstreamRequest
        /// The body in place of the captured one; nil: the captured body is used.
        var body: ByteBuffer?
        var parents: [EntryID]
        var hasTokens: Bool
    }

    private var search: TildeSearch

    init(_ request: UpstreamRequest) {
        search = TildeSearch(BodyType(fields: request.fields))
    }

    /// Nil where the body is of a type that has no tokens.
    init?(inBodyOf request: UpstreamRequest) {
        let type = BodyType(fields: request.fields)
        guard type != .other else { return nil }
        search = TildeSearch(type)
    }

    /// Whether the target or a field has a token that has to be replaced, or a malformed one. Tokens in the body are found when the body
    /// is there.
    static func areInHead(of request: UpstreamRequest) -> Bool {
        if request.hasTokenInAuthority { return true }
        let scan = try? TokenScan(TokenRequest(target: request.target, fields: request.fields))
        return scan?.hasTokens ?? true
    }

    /// Reads along while the body arrives.
    mutating func read(_ bytes: ByteBuffer) { search.read(bytes) }

    /// Whether the body has to be looked at.
    var isBodySuspect: Bool { search.hasFound }

    /// - Parameters:
    ///   - body: The body to look for tokens in. Nil: it need not be looked at.
    ///   - uuid: The value of `~uuid~` in this request.
    static func found(
        in request: UpstreamRequest, body: ByteBuffer?, uuid: String
    ) throws(TokenError) -> Found {
        if request.hasTokenInAuthority {
            throw TokenError(
                .malformed, "A token is not allowed in the host or port of the target: the origin must be known at acceptance.")
        }
        let whole = TokenRequest(target: request.target, fields: request.fields, body: body)
        let scan = try TokenScan(whole)
        var found = Found(
            request: request, parents: scan.parents.compactMap { EntryID($0) }, hasTokens: !scan.parents.isEmpty)
        guard scan.usesUUID else { return found }
        let substitution = Substitution(
            values: TokenValues(parents: nil, uuid: uuid), origin: request.origin.description)
        let result = try substitution.applied(to: whole)
        found.request.target = result.target
        found.request.fields = result.fields
        if let new = result.body, let body, new != body {
            found.body = new
            if case .length = request.framing { found.request.framing = .length(new.readableBytes) }
        }
        return found
    }
}
