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
