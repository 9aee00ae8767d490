import LayoverHTTP
import LayoverSystem

/// Name and password of a client, from `Proxy-Authorization: Basic` (RFC 7617 section 2).
struct ProxyCredential: Sendable {
    let name: String
    let password: [UInt8]
    /// What stands for both in tables: nobody gets from it back to the password.
    let digest: [UInt8]

    /// - Parameters:
    ///   - value: The value of the field.
    ///   - key: Of the digest.
    /// - Returns: Nil where the field is of another scheme, or cannot be read.
    init?(_ value: String, key: SymmetricKey) {
        guard let parts = Self.parts(of: value), let digest = try? HMACSHA256.code(for: parts.bytes, using: key) else { return nil }
        name = parts.name
        password = Array(parts.bytes.dropFirst(parts.name.utf8.count + 1))
        self.digest = digest
    }

    static func parts(of value: String) -> (name: String, bytes: [UInt8])? {
        let words = value.split(separator: " ", maxSplits: 1)
        guard words.count == 2, words[0].lowercased() == "basic",
            let bytes = Base64.bytes(words[1].drop { $0 == " " }),
            let colon = bytes.firstIndex(of: UInt8(ascii: ":")),
            let name = String(validating: bytes[..<colon], as: UTF8.self)
        else { return nil }
        return (name, bytes)
    }
}
