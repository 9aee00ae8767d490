import COpenSSL

/// A private key with its public half.
///
/// `@unchecked Sendable`: OpenSSL counts its users atomically, and nothing changes it after `init`.
final class PrivateKey: @unchecked Sendable {
    let pointer: OpaquePointer

    /// A new key on P-256.
    init() throws(CertificateError) {
        guard let pointer = layover_p256_key() else {
            throw CertificateError(.refused, "OpenSSL made no key: \(CertificateError.noted()).")
        }
        self.pointer = pointer
    }

    /// - Parameter file: Where it is from, for errors.
    init(pem: [UInt8], file: String) throws(CertificateError) {
        let key = MemoryBIO.read(pem) { PEM_read_bio_PrivateKey($0, nil, layover_no_password, nil) }
        guard let key else {
            throw CertificateError(.malformed, "\(file) holds no private key in PEM without a password: \(CertificateError.noted()).")
        }
        pointer = key
    }

    deinit { EVP_PKEY_free(pointer) }

    var pem: [UInt8] { MemoryBIO.written { PEM_write_bio_PKCS8PrivateKey($0, pointer, nil, nil, 0, nil, nil) } }
}
