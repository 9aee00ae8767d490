/// The host of a rehearsal: a name or an address as it stands in URLs, with a port or with all of them.
package struct RehearsedHost: Sendable, Hashable, CustomStringConvertible {
    /// Longest host, in bytes: a name has at most 253 (RFC 1035 section 2.3.4), and `:65535` may follow.
    package static let byteCountMax = 260

    /// Lower case; an IPv6 literal without its brackets; without the dot that may end a name.
    package let name: String
    /// The rehearsed port. Nil: every port.
    package let port: Int?

    /// Nil for what is no host, such as a URL, a pattern, or a name with letters that are not ASCII.
    package init?(_ text: String) {
        guard (1...Self.byteCountMax).contains(text.utf8.count), text.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
        let text = text.lowercased()
        var rest: Substring
        if text.hasPrefix("[") {
            guard let end = text.firstIndex(of: "]") else { return nil }
            let literal = text[text.index(after: text.startIndex)..<end]
            guard literal.contains(":"), literal.utf8.allSatisfy(Self.isOfLiteral) else { return nil }
            name = String(literal)
            rest = text[text.index(after: end)...]
        } else {
            let whole = text.prefix { $0 != ":" }
            let labels = (whole.hasSuffix(".") ? whole.dropLast() : whole).split(separator: ".", omittingEmptySubsequences: false)
            guard labels.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy(Self.isOfName) }) else { return nil }
            name = labels.joined(separator: ".")
            rest = text[whole.endIndex...]
        }
        guard !rest.isEmpty else {
            port = nil
            return
        }
        guard rest.removeFirst() == ":", rest.first != "0", rest.utf8.allSatisfy({ (48...57).contains($0) }),
            let number = Int(rest), number <= 65_535
        else { return nil }
        port = number
    }

    private static func isOfLiteral(_ byte: UInt8) -> Bool {
        (48...58).contains(byte) || (97...102).contains(byte) || byte == UInt8(ascii: ".")
    }

    private static func isOfName(_ byte: UInt8) -> Bool {
        (48...57).contains(byte) || (97...122).contains(byte) || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
    }

    package func matches(_ origin: Origin) -> Bool {
        guard port == nil || port == origin.port else { return false }
        // The dot at the end of a name in a URL is optional (RFC 3986 section 3.2.2).
        return origin.host == name || origin.host.dropLast() == name && origin.host.hasSuffix(".")
    }

    package var description: String {
        let literal = name.utf8.contains(UInt8(ascii: ":")) ? "[\(name)]" : name
        return port.map { "\(literal):\($0)" } ?? literal
    }
}
