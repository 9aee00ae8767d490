import LayoverCrypto

/// The keys of a store, each with its number. New values are sealed with the newest; older ones are there while a
/// rotation is under way.
struct StoreKeys: Sendable {
    static let keyByteCount = AES256GCM.keyByteCount

    /// By number, never empty.
    private(set) var keys: [Int: SymmetricKey]

    var newestNumber: Int { keys.keys.max() ?? 0 }

    /// Nil when there is none.
    init?(_ keys: [Int: SymmetricKey]) {
        guard !keys.isEmpty else { return nil }
        self.keys = keys
    }

    /// Keys with one more, which is the newest.
    static func adding(to older: StoreKeys?, above number: Int = 0) throws(CryptoError) -> StoreKeys {
        var keys = older?.keys ?? [:]
        keys[max(older?.newestNumber ?? 0, number) + 1] = try .random(byteCount: keyByteCount)
        return StoreKeys(unchecked: keys)
    }

    /// Only the newest of them.
    var newestOnly: StoreKeys {
        StoreKeys(unchecked: keys.filter { $0.key == newestNumber })
    }

    private init(unchecked keys: [Int: SymmetricKey]) { self.keys = keys }

    /// Fingerprint of a key, which does not reveal the key: 32 bytes.
    func fingerprint(of number: Int) throws(CryptoError) -> [UInt8]? {
        guard let key = keys[number] else { return nil }
        return try HMACSHA256.code(for: Array("layover store key".utf8), using: key)
    }
}
