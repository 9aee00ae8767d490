import COpenSSL

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
