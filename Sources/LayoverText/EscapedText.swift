/// Makes text from outside harmless where we show it: problem documents, lists, lines of the log.
package enum EscapedText {
    /// The characters that are escaped in a JSON string besides those that must be (RFC 8259 section 7): quotation mark, backslash and the
    /// characters below U+0020.
    package enum JSONForm: Sendable {
        /// Nothing.
        case required
        /// DEL and the control characters of C1 too, so that no terminal obeys them.
        case visible
        /// Besides those `<`, `>`, `&` and the line separators, so that the document stays harmless inside a script element.
        case markup
    }

    /// For the inside of a JSON string.
    package static func json(_ text: String, _ form: JSONForm = .markup) -> String {
        escaped(text) { scalar in
            switch scalar {
            case "\"": "\\\""
            case "\\": "\\\\"
            case "<", ">", "&", "\u{2028}", "\u{2029}": form == .markup ? unicodeEscape(scalar) : nil
            default: form == .required && scalar.value >= 0x7F ? nil : controlEscape(scalar)
            }
        }
    }

    /// Text on one line, whose control characters are shown and obeyed by no terminal. Not to be read back: a backslash
    /// stands as it is.
    package static func visible(_ text: String) -> String { escaped(text, controlEscape) }

    private static func escaped(_ text: String, _ escape: (Unicode.Scalar) -> String?) -> String {
        var escaped = ""
        escaped.reserveCapacity(text.utf8.count)
        for scalar in text.unicodeScalars {
            if let replacement = escape(scalar) {
                escaped += replacement
            } else {
                escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }

    private static func controlEscape(_ scalar: Unicode.Scalar) -> String? {
        switch scalar {
        case "\n": "\\n"
        case "\r": "\\r"
        case "\t": "\\t"
        default: isControl(scalar) ? unicodeEscape(scalar) : nil
        }
    }

    /// C0, DEL and C1.
    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value < 0x20 || (0x7F..<0xA0).contains(scalar.value)
    }

    /// - Parameter scalar: Up to U+FFFF.
    private static func unicodeEscape(_ scalar: Unicode.Scalar) -> String {
        "\\u" + Hexadecimal.text(UInt16(truncatingIfNeeded: scalar.value))
    }
}

extension String {
    /// Whether the condition holds for all bytes of the string in UTF-8.
    ///
    /// Contiguous bytes are read in place. Reading in place costs a tenth of an iteration over `utf8`.
    @inlinable @inline(__always)
    package func allBytes(_ isMember: (UInt8) -> Bool) -> Bool {
        utf8.withContiguousStorageIfAvailable { $0.allSatisfy(isMember) } ?? utf8.allSatisfy(isMember)
    }
}

extension [String] {
    /// `A, B and C`.
    package var enumeration: String {
        guard let last, count > 1 else { return first ?? "" }
        return dropLast().joined(separator: ", ") + " and " + last
    }
}
