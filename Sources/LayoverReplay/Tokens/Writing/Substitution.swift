import LayoverHTTP
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
