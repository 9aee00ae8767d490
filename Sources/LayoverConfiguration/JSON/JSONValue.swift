import LayoverText

/// A value of a configuration file, before it is known what it is for.
package indirect enum JSONValue: Sendable, Hashable {
    case null
    case bool(Bool)
    /// A number without fraction and exponent that fits.
    case integer(Int)
    case number(Double)
    case text(String)
    case array([JSONValue])
    case object([String: JSONValue])

    /// The message for a value of the wrong kind.
    func mismatch(_ needed: String) -> String {
        "expected \(needed), not \(excerpt)"
    }

    /// The kind of the value, as messages name it.
    package var kind: String {
        switch self {
        case .null: "null"
        case .bool: "a boolean"
        case .integer, .number: "a number"
        case .text: "a string"
        case .array: "a list"
        case .object: "an object"
        }
    }
}

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
    package var indentedText: String { indentedText(margin: "", unit: "  ") }

    /// - Parameters:
    ///   - margin: What the line begins with on which the value stands.
    ///   - unit: By what each level is indented.
    func indentedText(margin: String, unit: String) -> String {
        guard case .object(let members) = self, !members.isEmpty else { return text }
        let inner = margin + unit
        let lines = members.sorted { $0.key < $1.key }.map {
            inner + Self.quoted($0.key) + ": " + $0.value.indentedText(margin: inner, unit: unit)
        }
        return "{\n" + lines.joined(separator: ",\n") + "\n" + margin + "}"
    }

    /// The text cut to what fits into a message.
    var excerpt: String { text.count <= 60 ? text : text.prefix(57) + "..." }

    private static func quoted(_ text: String) -> String { "\"\(EscapedText.json(text, .visible))\"" }
}
