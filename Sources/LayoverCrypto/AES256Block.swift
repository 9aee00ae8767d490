import Synchronization

/// The block cipher AES-256 itself (FIPS 197). With one key, it maps each block of 16 bytes to one block of 16 bytes.
/// It is meant for ids, not for messages.
package final class AES256Block: Sendable {
    package static let blockByteCount = 16

    /// The contexts are kept, so that the key is expanded only once for each. A block depends on no block before it.
    private let encrypting: Mutex<CipherContext>
    private let decrypting: Mutex<CipherContext>

    package init(key: SymmetricKey) throws(CryptoError) {
        encrypting = Mutex(try CipherContext(Algorithm.aes256ECB, .encrypt, key: key))
        decrypting = Mutex(try CipherContext(Algorithm.aes256ECB, .decrypt, key: key))
    }

    package func encrypt(_ block: [UInt8]) throws(CryptoError) -> [UInt8] {
        try Self.apply(encrypting, to: block)
    }

    package func decrypt(_ block: [UInt8]) throws(CryptoError) -> [UInt8] {
        try Self.apply(decrypting, to: block)
    }

    private static func apply(_ context: borrowing Mutex<CipherContext>, to block: [UInt8]) throws(CryptoError) -> [UInt8] {
        guard block.count == blockByteCount else {
            throw CryptoError(.wrongLength, "A block has \(blockByteCount) bytes, not \(block.count).")
        }
        return try context.withLock { (context) throws(CryptoError) in try context.update(block) }
    }
}
