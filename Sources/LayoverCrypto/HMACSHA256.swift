import COpenSSL

/// HMAC with SHA-256 (RFC 2104): a digest that only the owner of the key can make.
package enum HMACSHA256 {
    package static func code(for bytes: [UInt8], using key: SymmetricKey) throws(CryptoError) -> [UInt8] {
        guard let context = EVP_MAC_CTX_new(try Algorithm.hmac.get().pointer) else { throw .ofLibrary("make an HMAC") }
        defer { EVP_MAC_CTX_free(context) }
        try key.withUnsafeBytes { (key) throws(CryptoError) in
            let start = key.assumingMemoryBound(to: UInt8.self).baseAddress
            try CryptoError.check(layover_hmac_sha256_init(context, start, key.count), "begin an HMAC")
        }
        try CryptoError.check(EVP_MAC_update(context, bytes, bytes.count), "continue an HMAC")
        var code = [UInt8](repeating: 0, count: SHA256.byteCount)
        var count = 0
        try CryptoError.check(EVP_MAC_final(context, &code, &count, code.count), "finish an HMAC")
        return code
    }
}
