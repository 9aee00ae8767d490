import NIOCore

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
