import COpenSSL

/// Why an operation has no result. The text holds no key and no data.
package struct CryptoError: Error, Sendable, CustomStringConvertible {
    package enum Code: Sendable, Hashable {
        /// OpenSSL refused or failed: no memory, or an installation without the algorithm.
        case libraryFailed
        /// The key is another one, or the bytes were changed.
        case notAuthentic
        /// An argument has a length that the algorithm does not take.
        case wrongLength
    }

    package let code: Code
    /// A complete sentence.
    package let description: String

    init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }

    /// The error of the last call of OpenSSL on this thread.
    static func ofLibrary(_ operation: StaticString) -> CryptoError {
        let number = ERR_peek_last_error()
        forgetErrors()
        guard number != 0 else { return CryptoError(.libraryFailed, "OpenSSL could not \(operation).") }
        var text = [CChar](repeating: 0, count: 256)
        ERR_error_string_n(number, &text, text.count)
        let bytes = text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
        return CryptoError(.libraryFailed, "OpenSSL could not \(operation): \(String(decoding: bytes, as: UTF8.self)).")
    }

    /// Empties the thread's list of errors: a TLS connection on the same thread would take one that is left for its own
    /// (SSL_get_error(3)).
    static func forgetErrors() { ERR_clear_error() }

    /// - Parameter status: What a function of OpenSSL returned that returns 1 when it succeeds.
    static func check(_ status: CInt, _ operation: StaticString) throws(CryptoError) {
        guard status == 1 else { throw ofLibrary(operation) }
    }

    /// OpenSSL counts the bytes of ciphers with `int`.
    static func length(_ count: Int) throws(CryptoError) -> CInt {
        guard let length = CInt(exactly: count) else {
            throw CryptoError(.wrongLength, "\(count) bytes are too many for one call.")
        }
        return length
    }
}

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
