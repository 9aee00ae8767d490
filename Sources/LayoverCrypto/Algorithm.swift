import COpenSSL

/// An algorithm of OpenSSL's providers, looked up once: a lookup costs more than a short digest.
///
/// `@unchecked Sendable`: OpenSSL never changes a fetched algorithm and counts its users atomically (crypto(7)). It is kept
/// until the process ends.
struct Algorithm: @unchecked Sendable {
    let pointer: OpaquePointer

    static let sha256 = fetched("find SHA-256") { EVP_MD_fetch(nil, "SHA256", nil) }
    static let hmac = fetched("find HMAC") { EVP_MAC_fetch(nil, "HMAC", nil) }
    static let hkdf = fetched("find HKDF") { EVP_KDF_fetch(nil, "HKDF", nil) }
    static let aes256GCM = fetched("find AES-256-GCM") { EVP_CIPHER_fetch(nil, "AES-256-GCM", nil) }
    static let aes256ECB = fetched("find AES-256-ECB") { EVP_CIPHER_fetch(nil, "AES-256-ECB", nil) }

    private static func fetched(
        _ operation: StaticString, _ fetch: () -> OpaquePointer?
    ) -> Result<Algorithm, CryptoError> {
        guard isReady, let pointer = fetch() else { return .failure(.ofLibrary(operation)) }
        return .success(Algorithm(pointer: pointer))
    }

    /// OpenSSL would free its tables in an exit handler, while threads may still compute (OPENSSL_init_crypto(3)).
    private static let isReady = OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_ATEXIT), nil) == 1
}
