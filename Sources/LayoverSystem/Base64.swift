import COpenSSL

/// Base64 with padding and without line breaks (RFC 4648 section 4).
package enum Base64 {
    package static func text(_ bytes: [UInt8]) -> String {
        guard let count = CInt(exactly: bytes.count) else { return "" }
        // A NUL ends what the library writes.
        var encoded = [UInt8](repeating: 0, count: (bytes.count + 2) / 3 * 4 + 1)
        let written = EVP_EncodeBlock(&encoded, bytes, count)
        return String(decoding: encoded.prefix(Int(written)), as: UTF8.self)
    }

    /// Whether the byte is one of the 64 digits; `=` is none.
    package static func isDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
            UInt8(ascii: "+"), UInt8(ascii: "/"):
            true
        default: false
        }
    }

    /// The bytes of a text; nil where it is not in this form. Padding may be missing.
    package static func bytes(_ text: some StringProtocol) -> [UInt8]? {
        let given = Array(text.utf8)
        let bare = given.prefix { $0 != UInt8(ascii: "=") }
        let paddingCount = given.count - bare.count
        let missingCount = (4 - bare.count % 4) % 4
        // The library would skip spaces.
        guard bare.allSatisfy(isDigit), missingCount < 3, paddingCount == 0 || paddingCount == missingCount,
            given.suffix(paddingCount).allSatisfy({ $0 == UInt8(ascii: "=") }), let count = CInt(exactly: bare.count + missingCount)
        else { return nil }
        let padded = bare + [UInt8](repeating: UInt8(ascii: "="), count: missingCount)
        var decoded = [UInt8](repeating: 0, count: padded.count / 4 * 3)
        guard EVP_DecodeBlock(&decoded, Array(padded), count) >= 0 else { return nil }
        return Array(decoded.dropLast(missingCount))
    }
}
