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
