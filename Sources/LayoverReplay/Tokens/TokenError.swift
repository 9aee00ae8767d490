/// Why tokens cannot be read or replaced. The text is a sentence for a person; it never quotes a body or the value of a field.
package struct TokenError: Error, Sendable, Hashable, CustomStringConvertible {
    package enum Code: Sendable, Hashable {
        /// Something looks like a token and is none. The request is refused with 400 at acceptance.
        case malformed
        /// One of `TokenLimits` is exceeded.
        case limit
        /// The parent's response lacks the value of the token.
        case missing
        /// There is a value, but it must not stand where the token stands.
        case rejected
    }

    package var code: Code
    /// A complete sentence.
    package var description: String

    package init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }

    /// A body has tokens, and is too long for them to be replaced.
    package static func bodyTooLong(_ limits: TokenLimits = .init()) -> TokenError {
        TokenError(
            .limit, "The body has tokens and is longer than \(limits.bodyByteCountMax) bytes, so they cannot be replaced.")
    }
}
