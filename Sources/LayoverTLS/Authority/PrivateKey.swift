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
        let key = PEM.read(pem) { PEM_read_bio_PrivateKey($0, nil, layover_no_password, nil) }
        guard let key else {
            throw CertificateError(.malformed, "\(file) holds no private key in PEM without a password: \(CertificateError.noted()).")
        }
        pointer = key
    }

    deinit { EVP_PKEY_free(pointer) }

    var pem: [UInt8] { PEM.written { PEM_write_bio_PKCS8PrivateKey($0, pointer, nil, nil, 0, nil, nil) } }
}

/// Text with Base64 between lines of dashes (RFC 7468), through OpenSSL's memory.
enum PEM {
    static func read<Value>(_ bytes: [UInt8], _ body: (OpaquePointer) -> Value?) -> Value? {
        bytes.withUnsafeBytes { memory -> Value? in
            ERR_clear_error()
            guard let bio = BIO_new_mem_buf(memory.baseAddress, CInt(clamping: memory.count)) else { return nil }
            defer { BIO_free(bio) }
            return body(bio)
        }
    }

    /// Empty: OpenSSL has no memory.
    static func written(_ body: (OpaquePointer) -> CInt) -> [UInt8] {
        guard let bio = layover_bio_in_memory() else { return [] }
        defer { BIO_free(bio) }
        guard body(bio) == 1 else { return [] }
        var bytes = [UInt8](repeating: 0, count: layover_bio_byte_count(bio))
        let count = bytes.withUnsafeMutableBytes { BIO_read(bio, $0.baseAddress, CInt(clamping: $0.count)) }
        return Array(bytes.prefix(max(0, Int(count))))
    }
}
