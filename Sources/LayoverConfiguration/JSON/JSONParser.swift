import LayoverText

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

extension JSONParser {
    /// `true`, `false` or `null`.
    mutating func word() throws(JSONSyntaxError) -> JSONValue {
        let words: [(String, JSONValue)] = [
            ("true", .bool(true)), ("false", .bool(false)), ("null", .null),
        ]
        for (word, value) in words where bytes[position...].starts(with: word.utf8) {
            position += word.utf8.count
            return value
        }
        throw error("unexpected character (comments are not allowed)")
    }

    mutating func number() throws(JSONSyntaxError) -> JSONValue {
        let start = position
        _ = take("-")
        let leadingZero = next == UInt8(ascii: "0")
        let wholeDigits = skipDigits()
        var isWhole = true
        guard wholeDigits == 1 || (wholeDigits > 1 && !leadingZero) else {
            throw error("invalid number", at: start)
        }
        if take(".") {
            isWhole = false
            guard skipDigits() > 0 else { throw error("invalid number", at: start) }
        }
        if take("e") || take("E") {
            isWhole = false
            if !take("+") { _ = take("-") }
            guard skipDigits() > 0 else { throw error("invalid number", at: start) }
        }
        let text = String(decoding: bytes[start..<position], as: UTF8.self)
        if isWhole, let integer = Int(text) { return .integer(integer) }
        guard let number = Double(text), number.isFinite else {
            throw error("the number is too large", at: start)
        }
        return .number(number)
    }

    private mutating func skipDigits() -> Int {
        let start = position
        while let byte = next, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { position += 1 }
        return position - start
    }

    mutating func string() throws(JSONSyntaxError) -> String {
        let start = position
        var content: [UInt8] = []
        position += 1
        while let byte = next {
            switch byte {
            case UInt8(ascii: "\""):
                position += 1
                guard let text = String(validating: content, as: UTF8.self) else {
                    throw error("the string is not valid UTF-8", at: start)
                }
                return text
            case UInt8(ascii: "\\"):
                content += try escape()
            case 0..<0x20:
                throw error("a line break or control character in a string must be escaped")
            default:
                content.append(byte)
                position += 1
            }
        }
        throw error("the string is not closed", at: start)
    }

    private mutating func escape() throws(JSONSyntaxError) -> [UInt8] {
        let start = position
        position += 1
        let letter = next
        position += 1
        switch letter {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return [letter ?? 0]
        case UInt8(ascii: "b"): return [0x08]
        case UInt8(ascii: "f"): return [0x0C]
        case UInt8(ascii: "n"): return [0x0A]
        case UInt8(ascii: "r"): return [0x0D]
        case UInt8(ascii: "t"): return [0x09]
        case UInt8(ascii: "u"):
            guard let scalar = escapedScalar() else { throw error("invalid Unicode escape", at: start) }
            return Array(String(Character(scalar)).utf8)
        default: throw error("invalid escape sequence", at: start)
        }
    }

    /// What follows `\u`: four hexadecimal digits, or two such groups for a surrogate pair.
    private mutating func escapedScalar() -> Unicode.Scalar? {
        guard let first = hexadecimalGroup() else { return nil }
        guard (0xD800..<0xDC00).contains(first) else { return Unicode.Scalar(first) }
        guard take("\\"), take("u"), let second = hexadecimalGroup(), (0xDC00..<0xE000).contains(second)
        else { return nil }
        return Unicode.Scalar(0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00))
    }

    private mutating func hexadecimalGroup() -> UInt32? {
        let number = bytes.withUnsafeBytes { Hexadecimal.number(at: position, count: 4, in: $0, end: $0.count) }
        if number != nil { position += 4 }
        return number
    }
}

/// Why a text is not JSON, and where.
package struct JSONSyntaxError: Error, Sendable, Hashable, CustomStringConvertible {
    /// From 1.
    package var line: Int
    /// From 1, counted in bytes.
    package var column: Int
    package var reason: String

    package var description: String { "line \(line), column \(column): \(reason)" }
}
