/// The preferences of a request about waiting (RFC 7240), and the rest of its `Prefer` fields when those are honoured.
package struct Preferences: Sendable, Equatable {
    /// `respond-async` (section 4.1).
    package private(set) var respondsAsync = false
    /// `wait`, in seconds (section 4.3). Nil: `wait` is missing or no number.
    package private(set) var wait: Int?
    /// The preferences that are not ours, as they came.
    package private(set) var others: [String] = []
    /// Whether `wait` was there, sound or not.
    private var isWaitSaid = false

    /// - Parameter values: The values of all Prefer fields, in order. Of two preferences with the same name the
    ///   first counts (section 2).
    package init(_ values: [String]) {
        for value in values {
            for member in Self.parts(of: Substring(value), at: UInt8(ascii: ",")) where !member.isEmpty { take(member) }
        }
    }

    private mutating func take(_ member: Substring) {
        // Parameters behind it say nothing to us (section 2).
        let preference = Self.parts(of: member, at: UInt8(ascii: ";")).first ?? ""
        let parts = preference.utf8.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
        let name = (parts.first.map { Self.trimmed(Substring($0)) } ?? "").lowercased()
        let value = parts.count == 2 ? Self.unquoted(Self.trimmed(Substring(parts[1]))) : ""
        switch name {
        case "respond-async" where value == "":
            respondsAsync = true
        case "wait" where !value.isEmpty && value.utf8.allSatisfy({ (48...57).contains($0) }):
            // A number that is too long for us is a long wait.
            if !isWaitSaid { wait = Int(value) ?? .max }
            isWaitSaid = true
        default:
            if name == "wait" { isWaitSaid = true }
            others.append(String(member))
        }
    }

    private static let quote = UInt8(ascii: "\"")
    private static let backslash = UInt8(ascii: "\\")

    /// Returns the content of a quoted string. A token is returned as it is.
    /// A text with only one quote is no value of a preference that Layover knows.
    private static func unquoted(_ word: Substring) -> String {
        guard word.utf8.first == quote else { return String(word) }
        var content: [UInt8] = []
        var isEscaped = false
        for index in word.utf8.indices.dropFirst() {
            let byte = word.utf8[index]
            if isEscaped {
                isEscaped = false
            } else if byte == backslash {
                isEscaped = true
                continue
            } else if byte == quote {
                return word.utf8.index(after: index) == word.endIndex ? String(decoding: content, as: UTF8.self) : String(word)
            }
            content.append(byte)
        }
        return String(word)
    }

    /// Parts at a separator outside of quoted strings.
    private static func parts(of value: Substring, at separator: UInt8) -> [Substring] {
        var parts: [Substring] = []
        var start = value.startIndex
        var isQuoted = false
        var isEscaped = false
        for index in value.utf8.indices {
            let byte = value.utf8[index]
            if isEscaped {
                isEscaped = false
            } else if isQuoted, byte == backslash {
                isEscaped = true
            } else if byte == quote {
                isQuoted.toggle()
            } else if byte == separator, !isQuoted {
                parts.append(trimmed(value[start..<index]))
                start = value.utf8.index(after: index)
            }
        }
        parts.append(trimmed(value[start...]))
        return parts
    }

    private static func trimmed(_ text: Substring) -> Substring {
        let isBlank = { (byte: UInt8) in byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
        var text = text
        while let first = text.utf8.first, isBlank(first) { text = text[text.utf8.index(after: text.startIndex)...] }
        while let last = text.utf8.last, isBlank(last) { text = text[..<text.utf8.index(before: text.endIndex)] }
        return text
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
    /// The preferences of the request. Nil: the request has no Prefer field.
    package var preferences: Preferences? {
        guard fields.contains(.prefer) else { return nil }
        return Preferences(fields.values(.prefer).map { fields.string($0) })
    }
}
