package import LayoverCore
import LayoverCrypto

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
