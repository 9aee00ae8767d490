import COpenSSL
import Glibc
import LayoverSystem
import LayoverText

/// An X.509 certificate (RFC 5280).
///
/// `@unchecked Sendable`: OpenSSL counts its users atomically and locks what it caches in it; nothing else changes it once it is made.
package final class Certificate: @unchecked Sendable {
    let pointer: OpaquePointer

    /// Takes the certificate over.
    init(owning pointer: OpaquePointer) { self.pointer = pointer }

    /// Nil: the bytes are no certificate, or the end of its validity cannot be read.
    package convenience init?(der: [UInt8]) {
        let parsed = der.withUnsafeBufferPointer { bytes -> OpaquePointer? in
            var position = bytes.baseAddress
            return d2i_X509(nil, &position, bytes.count)
        }
        ERR_clear_error()
        guard let parsed else { return nil }
        self.init(owning: parsed)
        guard notAfter != 0 else { return nil }
    }

    deinit { X509_free(pointer) }

    /// Reads the certificates of a PEM file: at least one, and the first 100 at most.
    static func chain(in pem: [UInt8], file: String) throws(CertificateError) -> [Certificate] {
        let chain = MemoryBIO.read(pem) { bio -> [Certificate]? in
            var chain: [Certificate] = []
            while chain.count < 100, let pointer = PEM_read_bio_X509(bio, nil, layover_no_password, nil) {
                chain.append(Certificate(owning: pointer))
            }
            return chain
        }
        let reason = CertificateError.noted()
        guard let chain, !chain.isEmpty else { throw CertificateError(.malformed, "\(file) holds no certificate in PEM: \(reason).") }
        return chain
    }

    package var pem: String { String(decoding: MemoryBIO.written { PEM_write_bio_X509($0, pointer) }, as: UTF8.self) }

    package var der: [UInt8] { Self.encoded { i2d_X509(pointer, $0) } }

    /// The subject as RFC 4514 writes it: `CN=Layover on laptop,O=Layover`.
    package var subject: String {
        String(decoding: MemoryBIO.written { layover_x509_name_write($0, X509_get_subject_name(pointer)) }, as: UTF8.self)
    }

    /// SHA-256 of the whole certificate.
    var fingerprintBytes: [UInt8] { Self.digest(of: der) }

    /// SHA-256 of the whole certificate, in hexadecimal digits of lower case.
    package var fingerprint: String { Hexadecimal.text(of: fingerprintBytes) }

    /// The fingerprint as browsers and `openssl x509 -fingerprint` show it.
    package var fingerprintForPeople: String {
        let digits = Array(fingerprint.uppercased())
        return stride(from: 0, to: digits.count, by: 2).map { String(digits[$0..<min($0 + 2, digits.count)]) }.joined(separator: ":")
    }

    /// The name of the certificate in trust stores that need one. Two authorities of Layover have two names.
    package var nickname: String { "Layover CA \(fingerprint.prefix(16))" }

    /// SHA-256 of the public key with its algorithm (SubjectPublicKeyInfo): the same for all certificates of a key.
    var keyDigest: [UInt8] { Self.keyDigest(of: pointer) }

    static func keyDigest(of certificate: OpaquePointer?) -> [UInt8] {
        digest(of: encoded { i2d_X509_PUBKEY(X509_get_X509_PUBKEY(certificate), $0) })
    }

    /// The DER form that OpenSSL allocates and writes. Empty: there is none.
    private static func encoded(_ write: (UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>) -> CInt) -> [UInt8] {
        var bytes: UnsafeMutablePointer<UInt8>?
        let count = write(&bytes)
        guard count > 0, let bytes else { return [] }
        defer { layover_openssl_free(bytes) }
        return Array(UnsafeMutableBufferPointer(start: bytes, count: Int(count)))
    }

    /// SHA-256. Empty: OpenSSL failed.
    static func digest(of bytes: [UInt8]) -> [UInt8] { bytes.isEmpty ? [] : (try? SHA256.digest(of: bytes)) ?? [] }

    /// The subjectKeyIdentifier. Empty: it has none.
    var keyIdentifier: [UInt8] {
        guard let identifier = X509_get0_subject_key_id(pointer), let start = ASN1_STRING_get0_data(identifier) else { return [] }
        return Array(UnsafeBufferPointer(start: start, count: Int(ASN1_STRING_length(identifier))))
    }

    /// The first second of validity, in seconds since 1970.
    var notBefore: Int { Self.seconds(X509_get0_notBefore(pointer)) }
    /// The last second of validity, in seconds since 1970.
    package var notAfter: Int { Self.seconds(X509_get0_notAfter(pointer)) }

    private static func seconds(_ time: UnsafePointer<ASN1_TIME>?) -> Int {
        var parts = tm()
        return ASN1_TIME_to_tm(time, &parts) == 1 ? timegm(&parts) : 0
    }

    /// Whether the constraints of the certificate let it sign certificates.
    var isAuthority: Bool { X509_check_ca(pointer) == 1 }

    func isFor(_ key: PrivateKey) -> Bool {
        defer { ERR_clear_error() }
        return X509_check_private_key(pointer, key.pointer) == 1
    }

    func isSigned(by issuer: Certificate) -> Bool {
        defer { ERR_clear_error() }
        return X509_verify(pointer, X509_get0_pubkey(issuer.pointer)) == 1
    }
}

extension Certificate: Equatable {
    package static func == (lhs: Certificate, rhs: Certificate) -> Bool { lhs.der == rhs.der }
}

/// Why a certificate or a key cannot be read, made or used.
package struct CertificateError: Error, Sendable, Hashable, CustomStringConvertible {
    package enum Code: Sendable, Hashable {
        /// A file or folder cannot be read or written.
        case io
        /// Others could read the key or change the files.
        case permissions
        /// A file that should be there is missing.
        case missing
        /// Not PEM, or not what is in it.
        case malformed
        case keyMismatch
        /// The certificate is no authority, or not one of the kind that is made here.
        case notAnAuthority
        case expired
        /// The name is none that a certificate can be for.
        case invalidName
        /// Too many certificates are asked for at once.
        case tooMany
        /// OpenSSL does not do it.
        case refused
    }

    package var code: Code
    /// A complete sentence. Holds names of files, and nothing of a key.
    package var description: String

    init(_ code: Code, _ description: String) { (self.code, self.description) = (code, description) }

    /// The reason of the oldest error in OpenSSL's queue of this thread. The queue is empty afterwards.
    static func noted() -> String { TLSError.noted(.unusable).reason }

    /// - Parameter status: What a function of OpenSSL returned that returns 1 when it succeeds.
    static func check(_ status: CInt, _ operation: StaticString) throws(CertificateError) {
        guard status != 1 else { return }
        throw CertificateError(.refused, "OpenSSL could not \(operation): \(noted()).")
    }
}
