import LayoverHTTP
import LayoverText
import NIOCore

/// Puts values in the places of tokens.
///
/// Bytes that are no tokens stay as they are, and what has no tokens is the very same afterwards. A value that was
/// put in is not read for tokens again. Pure and repeatable: made anew for each attempt from the request as it was stored.
package struct Substitution: Sendable {
    let values: TokenValues
    /// The origin that the request goes to, taken apart; nil: it is no origin of http or https.
    let origin: [String]?

    /// - Parameter origin: Scheme, host and port that the request goes to, as `https://example.com:8443`. It was fixed
    ///   at acceptance; a location token in the path that leads to any other is rejected, for the request may carry credentials.
    package init(values: TokenValues, origin: String) {
        self.values = values
        self.origin = URLReference(Array(origin.utf8)).origin
    }

    /// The request as it is to be sent; the length of its body may have changed.
    ///
    /// - Throws: `missing` and `rejected` for a person to decide; `malformed` and `limit` as `TokenScan` does.
    package func applied(to request: TokenRequest) throws(TokenError) -> TokenRequest {
        let tokens = try RequestTokens(request, limits: values.limits)
        var result = request
        result.target = try target(request.target, tokens.target.filter { values.covers($0.token) })
        result.fields = try fields(request.fields, tokens.fields)
        if let body = request.body {
            result.body = try replacing(tokens.body.filter { values.covers($0.token) }, in: body)
        }
        return result
    }

    /// The text with the encoded values in it.
    func replacing(_ tokens: [FoundToken], in text: ByteBuffer) throws(TokenError) -> ByteBuffer {
        if tokens.isEmpty { return text }
        var result = ByteBuffer()
        let view = text.readableBytesView
        var offset = view.startIndex
        for found in tokens {
            result.writeBytes(view[offset..<(view.startIndex + found.range.lowerBound)])
            result.writeBytes(try encoded(found))
            offset = view.startIndex + found.range.upperBound
        }
        result.writeBytes(view[offset...])
        return result
    }

    func encoded(_ found: FoundToken) throws(TokenError) -> [UInt8] {
        try ValueWriter(token: found.token, place: found.place).encoded(try values.value(of: found.token))
    }

    private func fields(
        _ fields: RequestFields, _ tokens: [(number: Int, tokens: [FoundToken])]
    ) throws(TokenError) -> RequestFields {
        let replaced = tokens.filter { $0.tokens.contains { values.covers($0.token) } }
        if replaced.isEmpty { return fields }
        var rest = replaced[...]
        var result = RequestFields()
        for (number, field) in fields.enumerated() {
            if let next = rest.first, next.number == number {
                rest.removeFirst()
                result.append(field, value: try replacing(next.tokens.filter { values.covers($0.token) }, in: field.value))
            } else {
                result.append(field)
            }
        }
        try checkHead(result.byteCount, "fields")
        return result
    }

    func checkHead(_ byteCount: Int, _ what: String) throws(TokenError) {
        guard byteCount <= values.limits.headByteCountMax else {
            throw TokenError(
                .rejected, "With the token values, the request's \(what) would be longer than \(values.limits.headByteCountMax) bytes.")
        }
    }
}

/// The request target. It may get another path and query, never another origin.
extension Substitution {
    func target(_ target: String, _ tokens: [FoundToken]) throws(TokenError) -> String {
        if tokens.isEmpty { return target }
        let text = ByteBuffer(string: target)
        let result: ByteBuffer
        if let index = tokens.firstIndex(where: \.isLocationInPath) {
            result = try located(tokens[index], text, tokens[(index + 1)...])
        } else {
            result = try replacing(tokens, in: text)
        }
        try checkHead(result.readableBytes, "target")
        return String(buffer: result)
    }

    /// The target from its location token on: the location's path and query, and what stands behind the token.
    ///
    /// What stands before it is dropped: the base path of a route, which a location already has.
    private func located(
        _ found: FoundToken, _ text: ByteBuffer, _ tokens: ArraySlice<FoundToken>
    ) throws(TokenError) -> ByteBuffer {
        let location = try location(found)
        var rest = text
        rest.moveReaderIndex(forwardBy: found.range.upperBound)
        let shifted = tokens.map { token in
            var token = token
            token.range = (token.range.lowerBound - found.range.upperBound)..<(token.range.upperBound - found.range.upperBound)
            return token
        }
        let behind = Array(try replacing(shifted, in: rest).readableBytesView)
        let mark = behind.firstIndex(of: UInt8(ascii: "?")) ?? behind.endIndex
        var path = location.path
        var query = location.query ?? []
        if mark > 0 {
            guard location.query == nil else {
                throw TokenError(.rejected, "The location that \(found.token) stands for has a query, so no path can follow it.")
            }
            // `/cards/7/` and `/pictures` have one slash between them.
            if path.last == UInt8(ascii: "/"), behind.first == UInt8(ascii: "/") { path.removeLast() }
            path += behind[..<mark]
        }
        if mark < behind.endIndex {
            if location.query != nil { query.append(UInt8(ascii: "&")) }
            query += behind[(mark + 1)...]
        }
        let hasQuery = location.query != nil || mark < behind.endIndex
        return ByteBuffer(bytes: path + (hasQuery ? [UInt8(ascii: "?")] + query : []))
    }

    /// The path, which begins with a slash, and the query. What a target must not contain is percent-encoded, as browsers do.
    private func location(_ found: FoundToken) throws(TokenError) -> (path: [UInt8], query: [UInt8]?) {
        guard let id = found.token.parent else { throw TokenError(.rejected, "\(found.token) is not a location token.") }
        let text = try values.value(of: found.token)
        let location = try values.location(of: id)
        guard let origin, location.origin == origin else {
            throw TokenError(
                .rejected,
                "The location that \(found.token) stands for is not at the origin that the request was accepted for.")
        }
        guard text.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
            throw TokenError(.rejected, "The location that \(found.token) stands for has a control character.")
        }
        let path = location.path.isEmpty ? [UInt8(ascii: "/")] : location.path
        return (Self.visible(path), location.query.map(Self.visible))
    }

    private static func visible(_ text: [UInt8]) -> [UInt8] {
        PercentCoding.encode(text) { (0x21...0x7E).contains($0) }
    }
}

/// Writes a value as the place of its token needs it.
struct ValueWriter {
    let token: Token
    let place: TokenPlace

    /// - Throws: `rejected` when the value cannot stand there in any spelling.
    func encoded(_ value: [UInt8]) throws(TokenError) -> [UInt8] {
        switch place {
        case .path:
            // An empty segment, `.` or `..` would name another resource than anybody meant, perhaps a whole collection.
            guard !value.isEmpty, value != Array(".".utf8), value != Array("..".utf8) else {
                throw rejected("is empty or consists of dots, which would change the path")
            }
            return PercentCoding.encode(value, isPlain: PercentCoding.isUnreserved)
        case .query:
            return PercentCoding.encode(value, isPlain: PercentCoding.isUnreserved)
        case .field:
            // RFC 9110 section 5.5. A line break would begin another field.
            guard value.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }) else {
                throw rejected("has a line break or another control character")
            }
            return value
        case .json:
            guard let text = String(validating: value, as: UTF8.self) else { throw rejected("is not UTF-8") }
            return Array(EscapedText.json(text, .required).utf8)
        case .form:
            return Self.formEncoded(value)
        }
    }

    private func rejected(_ what: String) -> TokenError {
        TokenError(.rejected, "The value of \(token) \(what), so it is not allowed in \(place.name).")
    }

    /// `application/x-www-form-urlencoded` as the URL standard serializes it (url.spec.whatwg.org, section 5.2).
    private static func formEncoded(_ value: [UInt8]) -> [UInt8] {
        let encoded = PercentCoding.encode(value) { byte in
            PercentCoding.isAlphanumeric(byte) || "*-._ ".utf8.contains(byte)
        }
        return encoded.map { $0 == UInt8(ascii: " ") ? UInt8(ascii: "+") : $0 }
    }
}
