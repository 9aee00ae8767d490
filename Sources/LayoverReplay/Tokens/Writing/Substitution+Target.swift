import LayoverHTTP
import LayoverText
import NIOCore

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
