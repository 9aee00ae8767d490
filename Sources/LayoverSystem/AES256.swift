import COpenSSL
import Synchronization

/// Sealing with AES-256 in Galois/Counter Mode (NIST SP 800-38D): nobody without the key reads the bytes, or changes them
/// without being noticed.
package enum AES256GCM {
    package static let keyByteCount = 32
    static let nonceByteCount = 12
    static let tagByteCount = 16

    /// Seals bytes under a random nonce, so one key is good for 2^32 of them (section 8.3).
    ///
    /// - Parameter associated: What the sealed bytes are bound to; they open with the same alone.
    /// - Returns: The nonce, the encrypted bytes, the tag.
    package static func seal(
        _ plaintext: [UInt8], using key: SymmetricKey, authenticating associated: [UInt8]
    ) throws(CryptoError) -> [UInt8] {
        let nonce = try RandomBytes.make(count: nonceByteCount)
        return try seal(plaintext, using: key, nonce: nonce, authenticating: associated)
    }

    /// - Parameter nonce: Never used before with the same key.
    static func seal(
        _ plaintext: [UInt8], using key: SymmetricKey, nonce: [UInt8], authenticating associated: [UInt8]
    ) throws(CryptoError) -> [UInt8] {
        let context = try CipherContext(Algorithm.aes256GCM, .encrypt, key: key, nonce: nonce)
        try context.authenticate(associated)
        let ciphertext = try context.update(plaintext)
        guard context.finish() else { throw .ofLibrary("seal bytes") }
        return nonce + ciphertext + (try context.tag(byteCount: tagByteCount))
    }

    /// - Throws: `CryptoError.Code.notAuthentic` for what was not sealed with this key and these associated bytes, or is cut off.
    package static func open(
        _ sealed: [UInt8], using key: SymmetricKey, authenticating associated: [UInt8]
    ) throws(CryptoError) -> [UInt8] {
        guard sealed.count >= nonceByteCount + tagByteCount else { throw notAuthentic }
        let context = try CipherContext(
            Algorithm.aes256GCM, .decrypt, key: key, nonce: Array(sealed.prefix(nonceByteCount)))
        try context.expect(tag: sealed.suffix(tagByteCount))
        try context.authenticate(associated)
        let plaintext = try context.update(sealed.dropFirst(nonceByteCount).dropLast(tagByteCount))
        guard context.finish() else {
            CryptoError.forgetErrors()
            throw notAuthentic
        }
        return plaintext
    }

    private static let notAuthentic = CryptoError(.notAuthentic, "The sealed bytes do not open with this key.")
}

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

/// OpenSSL's state of one cipher with its key. Freeing it overwrites what was made of the key.
final class CipherContext {
    enum Direction: CInt {
        case decrypt = 0, encrypt = 1
    }

    private let pointer: OpaquePointer

    init(
        _ cipher: Result<Algorithm, CryptoError>, _ direction: Direction, key: SymmetricKey, nonce: [UInt8]? = nil
    ) throws(CryptoError) {
        guard let pointer = EVP_CIPHER_CTX_new() else { throw .ofLibrary("make a cipher") }
        self.pointer = pointer
        let algorithm = try cipher.get().pointer
        guard key.byteCount == EVP_CIPHER_get_key_length(algorithm) else {
            throw CryptoError(.wrongLength, "A key of \(key.byteCount) bytes does not fit the cipher.")
        }
        guard nonce?.count ?? 0 == EVP_CIPHER_get_iv_length(algorithm) else {
            throw CryptoError(.wrongLength, "A nonce of \(nonce?.count ?? 0) bytes does not fit the cipher.")
        }
        try key.withUnsafeBytes { (key) throws(CryptoError) in
            let start = key.assumingMemoryBound(to: UInt8.self).baseAddress
            try CryptoError.check(EVP_CipherInit_ex2(pointer, algorithm, start, nonce, direction.rawValue, nil), "begin a cipher")
        }
        // No cipher that is used here needs padding.
        try CryptoError.check(EVP_CIPHER_CTX_set_padding(pointer, 0), "turn padding off")
    }

    deinit { EVP_CIPHER_CTX_free(pointer) }

    /// Bytes that are protected but not encrypted. Before the others.
    func authenticate(_ bytes: [UInt8]) throws(CryptoError) {
        guard !bytes.isEmpty else { return }
        var count: CInt = 0
        try CryptoError.check(
            EVP_CipherUpdate(pointer, nil, &count, bytes, try CryptoError.length(bytes.count)), "authenticate bytes")
    }

    /// As many bytes as come in: a cipher that works byte by byte, or whole blocks.
    func update(_ bytes: some Collection<UInt8>) throws(CryptoError) -> [UInt8] {
        guard !bytes.isEmpty else { return [] }
        let input = Array(bytes)
        var output = [UInt8](repeating: 0, count: input.count)
        var count: CInt = 0
        try CryptoError.check(
            EVP_CipherUpdate(pointer, &output, &count, input, try CryptoError.length(input.count)), "apply a cipher")
        guard count == output.count else { throw CryptoError(.wrongLength, "\(input.count) bytes are no whole blocks.") }
        return output
    }

    /// - Returns: False where a tag was set and does not match.
    func finish() -> Bool {
        var rest = [UInt8](repeating: 0, count: Int(EVP_MAX_BLOCK_LENGTH))
        var count: CInt = 0
        return EVP_CipherFinal_ex(pointer, &rest, &count) == 1
    }

    func tag(byteCount: Int) throws(CryptoError) -> [UInt8] {
        var tag = [UInt8](repeating: 0, count: byteCount)
        try CryptoError.check(
            EVP_CIPHER_CTX_ctrl(pointer, EVP_CTRL_AEAD_GET_TAG, try CryptoError.length(byteCount), &tag), "make a tag")
        return tag
    }

    func expect(tag: some Collection<UInt8>) throws(CryptoError) {
        var tag = Array(tag)
        try CryptoError.check(
            EVP_CIPHER_CTX_ctrl(pointer, EVP_CTRL_AEAD_SET_TAG, try CryptoError.length(tag.count), &tag), "set a tag")
    }
}
