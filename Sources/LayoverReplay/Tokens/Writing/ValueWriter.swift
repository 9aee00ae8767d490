import LayoverText

/// Writes a value as the place of its token needs it.
struct ValueWriter {
    let token: Token
    let place: TokenPlace

    /// - Throws: `rejected` when the value cannot stand there in any spelling.
    func encoded(_ value: [UInt8]) throws(TokenError) -> [UInt8] {
        switch place {
        case .path:
            // An empty segment, `.` or `..` would name another resource than anybody meant, perhaps a whole collection.
            guard !value.isEmpty, value != Array(".".utf8), value != Array("..".utf8) else {
                throw rejected("is empty or consists of dots, which would change the path")
            }
            return PercentCoding.encode(value, isPlain: PercentCoding.isUnreserved)
        case .query:
            return PercentCoding.encode(value, isPlain: PercentCoding.isUnreserved)
        case .field:
            // RFC 9110 section 5.5. A line break would begin another field.
            guard value.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }) else {
                throw rejected("has a line break or another control character")
            }
            return value
        case .json:
            guard let text = String(validating: value, as: UTF8.self) else { throw rejected("is not UTF-8") }
            return Array(EscapedText.json(text, .required).utf8)
        case .form:
            return Self.formEncoded(value)
        }
    }

    private func rejected(_ what: String) -> TokenError {
        TokenError(.rejected, "The value of \(token) \(what), so it is not allowed in \(place.name).")
    }

    /// `application/x-www-form-urlencoded` as the URL standard serializes it (url.spec.whatwg.org, section 5.2).
    private static func formEncoded(_ value: [UInt8]) -> [UInt8] {
        let encoded = PercentCoding.encode(value) { byte in
            PercentCoding.isAlphanumeric(byte) || "*-._ ".utf8.contains(byte)
        }
        return encoded.map { $0 == UInt8(ascii: " ") ? UInt8(ascii: "+") : $0 }
    }
}
