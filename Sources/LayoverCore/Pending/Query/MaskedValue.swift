/// Hides secrets in the value of a field whose name is not that of a credential: a Referer has a whole URL, and JSON Web Tokens stand
/// anywhere.
package enum MaskedValue {
    /// A value with its secrets hidden, for people and programs. The field itself is not touched.
    package static func text(_ value: String) -> String {
        withoutTokens(MaskedTicketIDs.text(MaskedURL.text(value)))
    }

    /// Replaces JSON Web Tokens (RFC 7519 section 3): `eyJ` begins the Base64 of `{"`, and two dots separate three parts.
    private static func withoutTokens(_ value: String) -> String {
        let bytes = Array(value.utf8)
        guard bytes.count >= byteCountMin else { return value }
        var out: [UInt8] = []
        var rest = bytes[...]
        while let found = rest.firstRange(of: beginning) {
            let isInside = found.lowerBound > rest.startIndex && isBase64URL(bytes[found.lowerBound - 1])
            let token = rest[found.lowerBound...].prefix { isBase64URL($0) || $0 == UInt8(ascii: ".") }
            let isToken = !isInside && token.count >= byteCountMin && token.count(where: { $0 == UInt8(ascii: ".") }) >= 2
            out += rest[..<found.lowerBound]
            out += isToken ? Array(MaskedURL.mask.utf8) : Array(token)
            rest = rest[token.endIndex...]
        }
        return String(decoding: out + rest, as: UTF8.self)
    }

    private static let beginning = Array("eyJ".utf8)
    /// No header and payload are shorter together. Default: 20.
    private static let byteCountMin = 20

    private static func isBase64URL(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
            UInt8(ascii: "-"), UInt8(ascii: "_"):
            true
        default: false
        }
    }
}
