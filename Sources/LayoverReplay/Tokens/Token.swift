import LayoverText

/// A token: text that stands in a request for what is known only later.
///
///     ~uuid~
///     ~ticket.<id>.location~
///     ~ticket.<id>.field.<name>~
///     ~ticket.<id>.json.<key>.<key>…~
///
/// `<id>` is the id of a ticket, 32 hexadecimal digits in lower case. A name or key consists of ASCII letters,
/// digits and `-_!$'()*,;:@`; every other character is written percent-encoded in UTF-8 (`%2E` for a dot inside
/// a key, `%25`, `%7E`). A key that leads into an array is an index from 0.
package enum Token: Sendable, Hashable {
    /// A UUID that belongs to the request: the same wherever it stands in it, and for all attempts.
    case uuid
    /// A part of the response to another ticket, the parent.
    case ticket(id: String, Part)

    /// Which part of a parent's response.
    package enum Part: Sendable, Hashable {
        /// The URL of its Location field, made absolute.
        case location
        /// The value of a field. The name is in lower case.
        case field(String)
        /// The string, number or boolean that the keys lead to in its JSON body. Never empty.
        case json([String])
    }

    /// The id of the parent; nil for `uuid`.
    package var parent: String? {
        switch self {
        case .uuid: nil
        case .ticket(let id, _): id
        }
    }
}

extension Token: CustomStringConvertible {
    /// The token as a client would write it in a target. What is long is cut off, for this is for sentences and logs.
    package var description: String {
        switch self {
        case .uuid: "~uuid~"
        case .ticket(let id, let part): "~ticket.\(id).\(part)~"
        }
    }
}

extension Token.Part: CustomStringConvertible {
    /// Most characters of a name or of keys that are shown.
    private static var shownMax: Int { 200 }

    package var description: String {
        switch self {
        case .location: "location"
        case .field(let name): "field." + Self.shown([name])
        case .json(let keys): "json." + Self.shown(keys)
        }
    }

    private static func shown(_ words: [String]) -> String {
        let text = words.map { word in
            let bytes = PercentCoding.encode(word.utf8) { PercentCoding.isAlphanumeric($0) || "-_@$:".utf8.contains($0) }
            return String(decoding: bytes, as: UTF8.self)
        }.joined(separator: ".")
        return text.utf8.count <= shownMax ? text : text.prefix(shownMax) + "…"
    }
}

/// Limits on tokens and what is put in their places. All sizes are in bytes.
package struct TokenLimits: Sendable, Hashable {
    /// Most tokens in one request. Default: 100.
    package var tokenCountMax = 100

    /// Longest text of a token between its tildes. Default: 1 KiB.
    package var tokenByteCountMax = 1024

    /// Longest value, before it is encoded for its place. Default: 8 KiB.
    package var valueByteCountMax = 8 << 10

    /// Longest target, and longest block of field lines, with the values in them. Default: 64 KiB.
    package var headByteCountMax = 64 << 10

    /// Longest body in which tokens are replaced. A longer one without tokens is left as it is; one with tokens is
    /// refused, because sending the tokens themselves would be worse. Default: 16 MiB.
    package var bodyByteCountMax = 16 << 20

    /// Longest body of a parent's response that is read for a `json` token. Default: 1 MiB.
    package var responseByteCountMax = 1 << 20

    /// How deep objects and arrays may be nested in a parent's response, and how many keys a token may have. Default: 128.
    package var jsonDepthMax = 128

    package init() {}
}

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
