import Crypto
import CryptoExtras
package import LayoverCore

extension EntryNaming {
    /// Ids are shown as the block cipher AES-256 (FIPS 197) makes them of the entries' own: 128 bits of 128 bits, so each
    /// way is one step, nothing has to be kept, and a shown id says nothing without the key.
    ///
    /// - Parameter secret: The key is made of it (HKDF, RFC 5869); from the same one come the same ids.
    init(secret: [UInt8]) {
        let key = HKDF<SHA256>.deriveKey(
            inputKeyMaterial: SymmetricKey(data: secret), info: Array("layover entry ids 1".utf8), outputByteCount: 32)
        self.init(
            shown: { id in Self.turned(id) { try AES.permute(&$0, key: key) } },
            meant: { id in Self.turned(id) { try AES.inversePermute(&$0, key: key) } })
    }

    /// Other ids in each run: for one whose store cannot be opened at the start.
    package static func random() -> EntryNaming {
        var generator = SystemRandomNumberGenerator()
        return EntryNaming(secret: (0..<32).map { _ in UInt8.random(in: 0...255, using: &generator) })
    }

    /// It fails for blocks and keys of a wrong length alone. If it did, no id is shown.
    private static func turned(_ id: EntryID, _ turn: (inout [UInt8]) throws -> Void) -> EntryID {
        var bytes = id.bytes
        guard (try? turn(&bytes)) != nil, let turned = bytes.withUnsafeBytes({ EntryID(bytes: $0) }) else {
            return EntryID(high: 0, low: 0)
        }
        return turned
    }
}
