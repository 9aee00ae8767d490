package import LayoverHTTP
package import NIOCore

/// What tokens a request has. Made at acceptance; a request without a tilde costs one search for that byte.
///
/// Tokens stand in the target, in the values of fields, in the strings of a JSON body (values and keys) and in the
/// names and values of a form body. Anywhere else their text is ordinary text.
package struct TokenScan: Sendable, Hashable {
    /// The ids of the tickets whose responses are needed, in order of first appearance, each once.
    package private(set) var parents: [String] = []
    /// Whether the request needs a UUID.
    package private(set) var usesUUID = false
    /// Whether any token is in the body.
    package private(set) var isInBody = false

    /// Whether the request has any token.
    package var hasTokens: Bool { usesUUID || !parents.isEmpty }

    /// - Throws: `malformed` when `~ticket.` begins no valid token, `limit` when there are too many, or any in too long a body.
    package init(_ request: TokenRequest, limits: TokenLimits = .init()) throws(TokenError) {
        let tokens = try RequestTokens(request, limits: limits)
        isInBody = !tokens.body.isEmpty
        var known: Set<String> = []
        for token in tokens.all {
            if let parent = token.parent {
                if known.insert(parent).inserted { parents.append(parent) }
            } else {
                usesUUID = true
            }
        }
    }
}

/// All tokens of a request, by where they stand.
struct RequestTokens {
    private(set) var target: [FoundToken] = []
    /// By the number of the field; fields without tokens are not there. Ranges are offsets in the value.
    private(set) var fields: [(number: Int, tokens: [FoundToken])] = []
    private(set) var body: [FoundToken] = []

    var all: [Token] { (target + fields.flatMap(\.tokens) + body).map(\.token) }

    init(_ request: TokenRequest, limits: TokenLimits) throws(TokenError) {
        if request.target.utf8.contains(where: { $0 == UInt8(ascii: "~") || $0 == UInt8(ascii: "%") }) {
            target = try TokenFinder.target(ByteBuffer(string: request.target), limits: limits)
        }
        if request.fields.lines.readableBytesView.contains(UInt8(ascii: "~")) {
            try readFields(request.fields, limits: limits)
        }
        if let bytes = request.body { try readBody(bytes, request.fields, limits: limits) }
        guard target.count + fields.reduce(0, { $0 + $1.tokens.count }) + body.count <= limits.tokenCountMax else {
            throw TokenError(.limit, "The request has more than \(limits.tokenCountMax) tokens.")
        }
    }

    private mutating func readFields(_ all: RequestFields, limits: TokenLimits) throws(TokenError) {
        for (number, field) in all.enumerated() {
            let tokens = try TokenFinder.field(field.name, field.value, limits: limits)
            if !tokens.isEmpty { fields.append((number, tokens)) }
        }
    }

    private mutating func readBody(_ bytes: ByteBuffer, _ fields: RequestFields, limits: TokenLimits) throws(TokenError) {
        let type = BodyType(fields: fields)
        guard type != .other, bytes.withUnsafeReadableBytes({ TildeSearch.hasTilde($0, type) }) else { return }
        body = try TokenFinder.body(bytes, type: type, limits: limits)
        guard body.isEmpty || bytes.readableBytes <= limits.bodyByteCountMax else {
            throw .bodyTooLong(limits)
        }
    }
}

/// The parts of a request in which tokens may stand.
package struct TokenRequest: Sendable, Hashable {
    /// Path and query, or `*`.
    package var target: String
    /// As they go upstream.
    package var fields: RequestFields
    /// Nil when there is none, and when a `TildeSearch` has found no tilde in it.
    package var body: ByteBuffer?

    package init(target: String, fields: RequestFields, body: ByteBuffer? = nil) {
        self.target = target
        self.fields = fields
        self.body = body
    }
}

/// The type of a body, as far as tokens are concerned.
package enum BodyType: Sendable, Hashable {
    /// `application/json` or `application/*+json` (RFC 6839 section 3.1).
    case json
    /// `application/x-www-form-urlencoded`.
    case form
    /// Anything else, also JSON that is compressed. It has no tokens.
    case other

    /// Reads it from Content-Type and Content-Encoding.
    package init(fields: RequestFields) {
        let codings = fields.texts(of: "content-encoding")
        guard codings.allSatisfy({ $0.isEmpty || $0.lowercased() == "identity" }) else {
            self = .other
            return
        }
        let type = fields.texts(of: "content-type").first ?? ""
        let essence = type.prefix { $0 != ";" && $0 != " " && $0 != "\t" }.lowercased()
        if essence == "application/json" || (essence.hasPrefix("application/") && essence.hasSuffix("+json")) {
            self = .json
        } else {
            self = essence == "application/x-www-form-urlencoded" ? .form : .other
        }
    }
}
