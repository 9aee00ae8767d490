import LayoverHTTP
import NIOCore

/// The fields of a request or a response, in order. Names in lower case, values as bytes.
///
/// Read only where a policy asks for the cache, so plainness comes before speed here.
struct MessageFields: Sendable {
    struct Field: Sendable, Equatable {
        let name: String
        let value: [UInt8]
    }

    private(set) var all: [Field] = []

    init(_ fields: some Sequence<FieldSlice>) {
        for field in fields where field.isField {
            all.append(Field(name: field.name.lowercased(), value: Array(field.value.readableBytesView)))
        }
    }

    /// - Parameter head: A status line and field lines, each with its CRLF.
    init(responseHead head: ByteBuffer) {
        self.init(FieldLines(head, end: .lineBreak).dropFirst())
    }

    func contains(_ name: String) -> Bool { all.contains { $0.name == name } }

    func values(_ name: String) -> [[UInt8]] { all.filter { $0.name == name }.map(\.value) }

    func texts(_ name: String) -> [String] { values(name).map { String(decoding: $0, as: UTF8.self) } }

    /// The value of the first field of that name.
    func text(_ name: String) -> String? { texts(name).first }
}

/// Comma-separated lists whose members may hold quoted strings (RFC 9110 sections 5.6.1 and 5.6.4).
enum ListText {
    /// The members without white space around them. Empty ones are left out.
    static func members(of text: String) -> [String] {
        var members: [String] = []
        var member = ""
        var isQuoted = false
        var isEscaped = false
        for scalar in text.unicodeScalars {
            if scalar == ",", !isQuoted {
                members.append(member)
                member = ""
                continue
            }
            if isEscaped {
                isEscaped = false
            } else if isQuoted, scalar == "\\" {
                isEscaped = true
            } else if scalar == "\"" {
                isQuoted.toggle()
            }
            member.unicodeScalars.append(scalar)
        }
        members.append(member)
        return members.map { trimmed($0) }.filter { !$0.isEmpty }
    }

    static func trimmed(_ text: some StringProtocol) -> String {
        var rest = text[...]
        while let first = rest.first, first == " " || first == "\t" { rest = rest.dropFirst() }
        while let last = rest.last, last == " " || last == "\t" { rest = rest.dropLast() }
        return String(rest)
    }

    /// The inside of a quoted string; other text as it is.
    static func unquoted(_ text: String) -> String {
        guard text.count >= 2, text.first == "\"", text.last == "\"" else { return text }
        var result = ""
        var isEscaped = false
        for character in text.dropFirst().dropLast() {
            if !isEscaped, character == "\\" {
                isEscaped = true
                continue
            }
            isEscaped = false
            result.append(character)
        }
        return result
    }
}
