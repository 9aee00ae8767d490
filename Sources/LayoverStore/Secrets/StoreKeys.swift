import Glibc
package import LayoverCore
import LayoverEngine
import LayoverSystem
import LayoverText

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

/// The file `store.key` beside the database: a line for each key, its number and its 32 bytes in hexadecimal.
struct StoreKeyFile {
    let path: String

    /// The keys; nil if there is no file. A file that holds keys is for its owner alone from now on.
    func read() throws(StoreFailure) -> StoreKeys? {
        guard let bytes = try StoreFile.read(path) else { return nil }
        var keys: [Int: SymmetricKey] = [:]
        for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
            let words = line.split(separator: " ")
            guard words.count == 2, let number = Int(words[0]), number > 0, let key = Hexadecimal.bytes(words[1]),
                key.count == StoreKeys.keyByteCount
            else { throw StoreFailure(.other, "\(path) is not a Layover key file. Restore the right file.") }
            keys[number] = SymmetricKey(key)
        }
        guard let keys = StoreKeys(keys) else {
            throw StoreFailure(.other, "\(path) is empty. Restore the right key file.")
        }
        // Only now it is certain that this store owns it.
        PrivateFile.restrict(path)
        return keys
    }

    /// Replaces the file as a whole; it is on disk when this returns.
    func write(_ keys: StoreKeys) throws(StoreFailure) {
        var text = ""
        for (number, key) in keys.keys.sorted(by: { $0.key < $1.key }) {
            text += "\(number) \(key.withUnsafeBytes { Hexadecimal.text(of: $0) })\n"
        }
        try StoreFile.replace(path, with: Array(text.utf8))
    }
}

extension EntryNaming {
    /// A shown id is the entry's own id, encrypted by the block cipher AES-256 (FIPS 197). Both have 128 bits, so each
    /// direction is one step and no table is needed. A shown id reveals nothing without the key.
    ///
    /// - Parameter secret: The key is derived from it (HKDF, RFC 5869). The same secret leads to the same ids.
    init(secret: [UInt8]) throws {
        let key = try SymmetricKey(secret).derived(info: Array("layover entry ids 1".utf8), byteCount: 32)
        let cipher = try AES256Block(key: key)
        self.init(
            shown: { id in Self.turned(id, cipher.encrypt) },
            meant: { id in Self.turned(id, cipher.decrypt) })
    }

    /// Different ids in each run, for a run whose store cannot be opened at the start.
    package static func random() throws -> EntryNaming {
        try EntryNaming(secret: RandomBytes.make(count: 32))
    }

    /// Fails only for blocks of a wrong length; then a zero id is shown.
    private static func turned(_ id: EntryID, _ turn: ([UInt8]) throws -> [UInt8]) -> EntryID {
        guard let bytes = try? turn(id.bytes), let turned = bytes.withUnsafeBytes({ EntryID(bytes: $0) }) else {
            return EntryID(high: 0, low: 0)
        }
        return turned
    }
}
