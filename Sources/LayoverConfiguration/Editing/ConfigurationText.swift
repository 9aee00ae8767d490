/// The text of a configuration file in which `proxy.users` can be replaced; every other byte stays as it is.
package struct ConfigurationText: Sendable {
    package private(set) var bytes: [UInt8]

    /// - Throws: If the text is not JSON, or not an object.
    package init(_ bytes: [UInt8]) throws(JSONSyntaxError) {
        guard case .object = try JSONParser.parse(bytes) else {
            throw JSONSyntaxError(line: 1, column: 1, reason: "the file must contain a JSON object")
        }
        self.bytes = bytes
    }

    /// The value of `proxy.users` in the text, whether it is sound or not. Nil: the text has no such key.
    package var users: JSONValue? {
        guard case .object(let members)? = try? JSONParser.parse(bytes), case .object(let proxy)? = members["proxy"] else { return nil }
        return proxy["users"]
    }

    /// Replaces `proxy.users`, which comes behind the other keys of `proxy` where it is new.
    ///
    /// - Throws: If `proxy` is there and is no object.
    package mutating func setUsers(_ users: [String: JSONValue]) throws(JSONSyntaxError) {
        let start = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        guard let root = try JSONObjectSpan(in: bytes, at: start) else { return }
        guard let place = root["proxy"] else { return insert("proxy", .object(["users": .object(users)]), into: root) }
        guard let proxy = try JSONObjectSpan(in: bytes, at: place.lowerBound) else {
            throw JSONSyntaxError(line: 1, column: 1, reason: "proxy must be an object")
        }
        guard let old = proxy["users"] else { return insert("users", .object(users), into: proxy) }
        replace(old, JSONValue.object(users), margin: margin(of: old.lowerBound))
    }

    private mutating func insert(_ name: String, _ value: JSONValue, into object: JSONObjectSpan) {
        let quoted = JSONValue.text(name).text + ": "
        let isOnOneLine = !bytes[object.range].contains(UInt8(ascii: "\n"))
        guard let last = object.members.last else {
            let margin = margin(of: object.range.lowerBound)
            let text = "{\n" + margin + unit + quoted + value.indentedText(margin: margin + unit, unit: unit) + "\n" + margin + "}"
            bytes.replaceSubrange(object.range, with: text.utf8)
            return
        }
        let margin = margin(of: last.value.upperBound - 1)
        let text = isOnOneLine ? ", " + quoted + value.text : ",\n" + margin + quoted + value.indentedText(margin: margin, unit: unit)
        bytes.insert(contentsOf: text.utf8, at: last.value.upperBound)
    }

    private mutating func replace(_ range: Range<Int>, _ value: JSONValue, margin: String) {
        bytes.replaceSubrange(range, with: value.indentedText(margin: margin, unit: unit).utf8)
    }

    /// The indentation of one level: that of the first indented line, or two spaces.
    private var unit: String {
        for line in bytes.split(separator: UInt8(ascii: "\n")) {
            let space = line.prefix { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
            if !space.isEmpty, space.count < line.count { return String(decoding: space, as: UTF8.self) }
        }
        return "  "
    }

    /// The space at the beginning of the line of a place.
    private func margin(of place: Int) -> String {
        let start = bytes[..<place].lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        return String(decoding: bytes[start...].prefix { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }, as: UTF8.self)
    }
}

/// Where an object and its members stand in a text.
struct JSONObjectSpan {
    struct Member {
        let name: String
        let value: Range<Int>
    }

    /// From the brace that opens it to behind the one that closes it.
    let range: Range<Int>
    let members: [Member]

    /// The object that begins at this place.
    ///
    /// - Returns: Nil where something else stands there.
    init?(in bytes: [UInt8], at start: Int) throws(JSONSyntaxError) {
        var parser = JSONParser(bytes: bytes, position: start)
        parser.skipSpace()
        let start = parser.position
        guard parser.take("{") else { return nil }
        var members: [Member] = []
        parser.skipSpace()
        if !parser.take("}") {
            repeat {
                parser.skipSpace()
                let name = try parser.string()
                parser.skipSpace()
                guard parser.take(":") else { throw parser.error("expected a colon") }
                parser.skipSpace()
                let valueStart = parser.position
                _ = try parser.value(depth: 0)
                members.append(Member(name: name, value: valueStart..<parser.position))
                parser.skipSpace()
            } while parser.take(",")
            guard parser.take("}") else { throw parser.error("expected a comma or }") }
        }
        range = start..<parser.position
        self.members = members
    }

    subscript(name: String) -> Range<Int>? { members.first { $0.name == name }?.value }
}
