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
