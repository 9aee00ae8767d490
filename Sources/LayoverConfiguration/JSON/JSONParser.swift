/// Reads JSON as RFC 8259 has it: no comments, no trailing commas, no name twice in one object.
///
/// Foundation's decoder keeps one of two equal names and says nothing; in a configuration that
/// loses a policy or a route.
struct JSONParser {
    /// Deeper nesting is refused, so that no file can exhaust the stack.
    static let depthMax = 64

    let bytes: [UInt8]
    var position = 0

    static func parse(_ bytes: some Sequence<UInt8>) throws(JSONSyntaxError) -> JSONValue {
        var parser = JSONParser(bytes: Array(bytes))
        parser.skipByteOrderMark()
        let value = try parser.value(depth: 0)
        parser.skipSpace()
        guard parser.next == nil else { throw parser.error("unexpected text after the value") }
        return value
    }

    var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    mutating func skipSpace() {
        while let byte = next, [0x20, 0x09, 0x0A, 0x0D].contains(byte) { position += 1 }
    }

    mutating func value(depth: Int) throws(JSONSyntaxError) -> JSONValue {
        guard depth <= Self.depthMax else { throw error("nested deeper than \(Self.depthMax) levels") }
        skipSpace()
        guard let first = next else { throw error("unexpected end: a value is missing") }
        switch first {
        case UInt8(ascii: "{"): return try object(depth: depth)
        case UInt8(ascii: "["): return try array(depth: depth)
        case UInt8(ascii: "\""): return .text(try string())
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return try number()
        default: return try word()
        }
    }

    private mutating func object(depth: Int) throws(JSONSyntaxError) -> JSONValue {
        var members: [String: JSONValue] = [:]
        position += 1
        skipSpace()
        if take("}") { return .object(members) }
        repeat {
            skipSpace()
            guard next == UInt8(ascii: "\"") else { throw error("expected a name in double quotes") }
            let start = position
            let name = try string()
            skipSpace()
            guard take(":") else { throw error("expected a colon after the name \"\(name)\"") }
            let member = try value(depth: depth + 1)
            guard members.updateValue(member, forKey: name) == nil else {
                throw error("the name \(JSONValue.text(name).excerpt) appears twice in one object", at: start)
            }
            skipSpace()
        } while take(",")
        guard take("}") else { throw error("expected a comma or }") }
        return .object(members)
    }

    private mutating func array(depth: Int) throws(JSONSyntaxError) -> JSONValue {
        var items: [JSONValue] = []
        position += 1
        skipSpace()
        if take("]") { return .array(items) }
        repeat {
            items.append(try value(depth: depth + 1))
            skipSpace()
        } while take(",")
        guard take("]") else { throw error("expected a comma or ]") }
        return .array(items)
    }

    mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard next == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    private mutating func skipByteOrderMark() {
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
    }

    func error(_ reason: String, at place: Int? = nil) -> JSONSyntaxError {
        let before = bytes[..<min(place ?? position, bytes.count)]
        let lineStart = before.lastIndex(of: 0x0A).map { $0 + 1 } ?? 0
        let line = before.count { $0 == 0x0A } + 1
        return JSONSyntaxError(line: line, column: before.count - lineStart + 1, reason: reason)
    }
}
