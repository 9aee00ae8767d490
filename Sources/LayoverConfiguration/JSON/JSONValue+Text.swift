import LayoverText

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

    private static func quoted(_ text: String) -> String { "\"\(EscapedText.json(text, .visible))\"" }
}
