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
}
