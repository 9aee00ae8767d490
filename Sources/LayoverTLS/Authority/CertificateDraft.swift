import COpenSSL

/// A certificate in the making.
struct CertificateDraft {
    private let certificate: Certificate

    /// - Parameters:
    ///   - validity: The time of validity, in seconds since 1970. Both ends belong to it (RFC 5280 section 4.1.2.5).
    init(key: PrivateKey, validity: ClosedRange<Int>) throws(CertificateError) {
        guard let pointer = X509_new() else { throw CertificateError(.refused, "There is no memory for a certificate.") }
        certificate = Certificate(owning: pointer)
        // Version 3, whose number is 2.
        try CertificateError.check(X509_set_version(pointer, 2), "set a version")
        try Self.setRandomSerial(pointer)
        guard ASN1_TIME_set(X509_getm_notBefore(pointer), time_t(validity.lowerBound)) != nil,
            ASN1_TIME_set(X509_getm_notAfter(pointer), time_t(validity.upperBound)) != nil
        else { throw CertificateError(.refused, "OpenSSL could not set a time: \(CertificateError.noted()).") }
        try CertificateError.check(X509_set_pubkey(pointer, key.pointer), "set a key")
    }

    /// 16 random bytes, positive and never zero (RFC 5280 section 4.1.2.2).
    private static func setRandomSerial(_ certificate: OpaquePointer) throws(CertificateError) {
        var bytes = [UInt8](repeating: 0, count: 16)
        try CertificateError.check(RAND_bytes(&bytes, CInt(bytes.count)), "make a serial number")
        bytes[0] = bytes[0] & 0x7F | 0x40
        let number = BN_bin2bn(bytes, CInt(bytes.count), nil)
        defer { BN_free(number) }
        guard BN_to_ASN1_INTEGER(number, X509_get_serialNumber(certificate)) != nil else {
            throw CertificateError(.refused, "OpenSSL could not set a serial number: \(CertificateError.noted()).")
        }
    }

    /// Adds to the subject.
    /// - Parameter kind: `NID_commonName` and the like.
    func addSubject(_ kind: CInt, _ text: String) throws(CertificateError) {
        let name = X509_get_subject_name(certificate.pointer)
        let bytes = Array(text.utf8)
        try CertificateError.check(
            X509_NAME_add_entry_by_NID(name, kind, MBSTRING_FLAG, bytes, CInt(bytes.count), -1, 0), "set a subject")
    }

    /// - Parameter value: As in x509v3_config(5). Fixed text: what comes from outside could hold more than one value.
    func add(_ kind: CInt, _ value: StaticString, issuer: Certificate? = nil) throws(CertificateError) {
        try CertificateError.check(
            layover_x509_add(certificate.pointer, (issuer ?? certificate).pointer, kind, "\(value)"), "add an extension")
    }

    func add(_ name: LeafName, isCritical: Bool) throws(CertificateError) {
        let bytes = name.bytes
        try CertificateError.check(
            layover_x509_add_name(
                certificate.pointer, name.isAddress ? CInt(GEN_IPADD) : CInt(GEN_DNS), bytes, CInt(bytes.count), isCritical ? 1 : 0),
            "add a name")
    }

    /// - Parameter issuer: The certificate of the issuer. Nil: the certificate signs itself.
    func signed(by key: PrivateKey, issuer: Certificate?) throws(CertificateError) -> Certificate {
        let issuerName = X509_get_subject_name((issuer ?? certificate).pointer)
        try CertificateError.check(X509_set_issuer_name(certificate.pointer, issuerName), "set an issuer")
        guard X509_sign(certificate.pointer, key.pointer, EVP_sha256()) > 0 else {
            throw CertificateError(.refused, "OpenSSL could not sign a certificate: \(CertificateError.noted()).")
        }
        return certificate
    }
}

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
