extension JSONValue {
    /// The value as JSON on one line, names sorted, control characters escaped.
    package var text: String {
        switch self {
        case .null: "null"
        case .bool(let flag): flag ? "true" : "false"
        case .integer(let number): String(number)
        case .number(let number): String(number)
        case .text(let text): Self.quoted(text)
        case .array(let items): "[" + items.map(\.text).joined(separator: ",") + "]"
        case .object(let members):
            "{"
                + members.sorted { $0.key < $1.key }
                .map { Self.quoted($0.key) + ":" + $0.value.text }.joined(separator: ",") + "}"
        }
    }

    /// The value as JSON over several lines, two spaces a level, names sorted.
    package var indentedText: String { indented(by: "") }

    private func indented(by margin: String) -> String {
        guard case .object(let members) = self, !members.isEmpty else { return text }
        let inner = margin + "  "
        let lines = members.sorted { $0.key < $1.key }.map {
            inner + Self.quoted($0.key) + ": " + $0.value.indented(by: inner)
        }
        return "{\n" + lines.joined(separator: ",\n") + "\n" + margin + "}"
    }

    /// The text cut to what fits into a message.
    var excerpt: String { text.count <= 60 ? text : text.prefix(57) + "..." }

    /// The text with control characters escaped, so that it stays on its line and no terminal obeys
    /// it.
    static func escaped(_ text: String) -> String {
        text.unicodeScalars.reduce(into: "") { $0 += escape($1) ?? String(Character($1)) }
    }

    private static func quoted(_ text: String) -> String {
        let inner = text.unicodeScalars.reduce(into: "") { result, scalar in
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            default: result += escape(scalar) ?? String(Character(scalar))
            }
        }
        return "\"" + inner + "\""
    }

    /// What stands for a control character of C0 or C1, or DEL; nil for all others.
    private static func escape(_ scalar: Unicode.Scalar) -> String? {
        switch scalar.value {
        case 0x0A: return "\\n"
        case 0x09: return "\\t"
        case 0..<0x20, 0x7F...0x9F:
            let hex = String(scalar.value, radix: 16)
            return "\\u" + String(repeating: "0", count: 4 - hex.count) + hex
        default: return nil
        }
    }
}
