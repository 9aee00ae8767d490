import LayoverText

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
