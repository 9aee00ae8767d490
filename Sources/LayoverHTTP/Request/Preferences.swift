/// What a request prefers about waiting (RFC 7240), and what of its `Prefer` fields is left when that is honoured.
package struct Preferences: Sendable, Equatable {
    /// `respond-async` (section 4.1).
    package private(set) var respondsAsync = false
    /// `wait`, in seconds (section 4.3). Nil where it is missing or no number.
    package private(set) var wait: Int?
    /// The preferences that are not ours, as they came.
    package private(set) var others: [String] = []
    /// Whether `wait` was there, sound or not.
    private var isWaitSaid = false

    /// - Parameter values: The values of all Prefer fields, in order. Of two preferences with the same name the
    ///   first counts (section 2).
    package init(_ values: [String]) {
        for value in values {
            for member in Self.parts(of: value, at: ",") where !member.isEmpty { take(member) }
        }
    }

    private mutating func take(_ member: String) {
        // Parameters behind it say nothing to us (section 2).
        let preference = Self.parts(of: member, at: ";").first ?? ""
        let parts = preference.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let name = (parts.first.map { Self.trimmed($0) } ?? "").lowercased()
        let value = parts.count == 2 ? Self.unquoted(Self.trimmed(parts[1])) : ""
        switch name {
        case "respond-async" where value == "":
            respondsAsync = true
        case "wait" where !value.isEmpty && value.utf8.allSatisfy({ (48...57).contains($0) }):
            // A number that is too long for us is a long wait.
            if !isWaitSaid { wait = Int(value) ?? .max }
            isWaitSaid = true
        default:
            if name == "wait" { isWaitSaid = true }
            others.append(member)
        }
    }

    /// The content of a quoted string; a token as it is. What has only one quote is no value of ours.
    private static func unquoted(_ word: String) -> String {
        guard word.hasPrefix("\"") else { return word }
        var content = ""
        var isEscaped = false
        for (index, character) in word.dropFirst().enumerated() {
            if isEscaped {
                isEscaped = false
            } else if character == "\\" {
                isEscaped = true
                continue
            } else if character == "\"" {
                return index == word.count - 2 ? content : word
            }
            content.append(character)
        }
        return word
    }

    /// Parts at a separator outside of quoted strings.
    private static func parts(of value: String, at separator: Character) -> [String] {
        var parts: [String] = []
        var current = ""
        var isQuoted = false
        var isEscaped = false
        for character in value {
            if isEscaped {
                isEscaped = false
            } else if isQuoted, character == "\\" {
                isEscaped = true
            } else if character == "\"" {
                isQuoted.toggle()
            } else if character == separator, !isQuoted {
                parts.append(current)
                current = ""
                continue
            }
            current.append(character)
        }
        parts.append(current)
        return parts.map { trimmed($0) }
    }

    private static func trimmed(_ text: some StringProtocol) -> String {
        let isBlank = { (character: Character) in character == " " || character == "\t" }
        let front = text.drop(while: isBlank)
        return String(front.reversed().drop(while: isBlank).reversed())
    }
}

extension RequestFields {
    /// Removes `respond-async` and `wait`, because Layover honours them. Other preferences stay, in one field.
    package mutating func removeHonouredPreferences() {
        let values = filter { $0.isNamed("prefer") }.map(\.text)
        guard !values.isEmpty else { return }
        let others = Preferences(values).others
        removeAll { $0.isNamed("prefer") }
        if !others.isEmpty { append("Prefer", others.joined(separator: ", ")) }
    }
}

extension RequestHead {
    /// Nil where there is no Prefer field.
    package var preferences: Preferences? {
        guard fields.contains(.prefer) else { return nil }
        return Preferences(fields.values(.prefer).map { fields.string($0) })
    }
}
