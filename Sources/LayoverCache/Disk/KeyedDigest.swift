import LayoverCrypto

/// Digests of secrets that are good for comparing only: HMAC-SHA256 (RFC 2104) under a random key that each cache
/// makes for itself, so that a list of likely secrets proves nothing about another cache.
struct KeyedDigest: Sendable {
    static let saltByteCount = 32

    private let key: SymmetricKey

    init(salt: [UInt8]) { key = SymmetricKey(salt) }

    func callAsFunction(_ bytes: [UInt8]) throws -> [UInt8] {
        try HMACSHA256.code(for: bytes, using: key)
    }
}
