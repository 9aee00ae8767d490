import COpenSSL
import Glibc
import LayoverSystem
import LayoverText

/// The authority that signs the certificates of intercepted hosts. Whoever has its key can pretend to be any server to those who trust
/// it, so the key never leaves its file.
package final class CertificateAuthority: Sendable {
    let certificate: Certificate
    let key: PrivateKey

    /// The certificate in PEM, for those who are to trust it.
    package var certificatePEM: String { certificate.pem }
    /// SHA-256 of the certificate, in hexadecimal digits.
    package var fingerprint: String { certificate.fingerprint }
    /// The subjectKeyIdentifier, in hexadecimal digits.
    package var keyIdentifier: String { Hexadecimal.text(of: certificate.keyIdentifier) }
    /// The last second at which a certificate signed by this authority can be valid, in seconds since 1970.
    package var notAfter: Int { certificate.notAfter }
    /// The key of the authority. The authority is known by it wherever its certificate comes from.
    package var publicKey: PublicKeyDigest { PublicKeyDigest(certificate) }

    private init(certificate: Certificate, key: PrivateKey) { (self.certificate, self.key) = (certificate, key) }

    // MARK: Files

    package static let certificateFileName = "ca.pem"
    package static let keyFileName = "ca.key"

    /// Reads the authority of a folder.
    ///
    /// - Parameter now: Seconds since 1970.
    /// - Returns: Nil if the folder has no certificate file.
    /// - Throws: `CertificateError` if certificate and key are not those of a valid authority that was made here, or if other users can
    ///   read the key or write to the folder.
    package static func load(folder: String, now: Int) throws(CertificateError) -> CertificateAuthority? {
        let (certificateFile, keyFile) = (folder + "/" + certificateFileName, folder + "/" + keyFileName)
        guard access(certificateFile, F_OK) == 0 || errno != ENOENT else { return nil }
        try checkFolder(folder)
        guard let certificate = try Certificate.chain(in: PEMFile.contents(of: certificateFile), file: certificateFile).first else {
            return nil
        }
        let key = try PrivateKey(pem: PEMFile.contents(of: keyFile, isSecret: true), file: keyFile)
        guard certificate.isFor(key) else {
            throw CertificateError(.keyMismatch, "\(keyFile) is not the key of the authority in \(certificateFile).")
        }
        guard certificate.isAuthority, certificate.isSigned(by: certificate), !certificate.keyIdentifier.isEmpty else {
            throw CertificateError(.notAnAuthority, "\(certificateFile) is no certificate authority that was made here.")
        }
        guard certificate.notAfter > now else {
            throw CertificateError(
                .expired,
                "The authority in \(certificateFile) has expired. Remove \(folder), and a new one is made; it must be trusted anew.")
        }
        return CertificateAuthority(certificate: certificate, key: key)
    }

    /// Reads the authority of a folder, or makes it, and the folder (mode 700) with it. Of several processes that do it at once, one makes
    /// it and all have the same.
    ///
    /// - Parameter now: The time, in seconds since 1970.
    /// - Throws: `CertificateError`
    package static func loadOrMake(folder: String, now: Int) throws(CertificateError) -> CertificateAuthority {
        if let existing = try load(folder: folder, now: now) { return existing }
        try makeFolder(folder)
        try checkFolder(folder)
        let lock = open(folder + "/ca.lock", O_CREAT | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard lock >= 0 else { throw CertificateError(.io, "\(folder)/ca.lock cannot be made: \(PEMFile.text(errno)).") }
        defer { FileLock.close(lock) }
        guard FileLock.take(lock, waits: true) else {
            throw CertificateError(.io, "\(folder)/ca.lock cannot be locked: \(PEMFile.text(errno)).")
        }
        // Another process may have been first.
        if let existing = try load(folder: folder, now: now) { return existing }
        let made = try make(now: now)
        // The certificate comes last: what is interrupted before is made anew.
        try PEMFile.write(made.key.pem, to: folder + "/" + keyFileName, mode: 0o600)
        try PEMFile.write(Array(made.certificatePEM.utf8), to: folder + "/" + certificateFileName, mode: 0o644)
        return made
    }

    private static func makeFolder(_ folder: String) throws(CertificateError) {
        do throws(PrivateFileError) {
            // Missing folders above it are made, too: the folder directly above may be that of the store, which may be made later.
            try PrivateFolder.make(folder)
        } catch {
            throw CertificateError(.io, "The folder \(error.path) cannot be made: \(error.reason).")
        }
    }

    /// Whoever can change the folder can put another authority there.
    private static func checkFolder(_ folder: String) throws(CertificateError) {
        var facts = stat()
        guard stat(folder, &facts) == 0 else { throw CertificateError(.io, "\(folder) cannot be read: \(PEMFile.text(errno)).") }
        guard facts.st_mode & S_IFMT == S_IFDIR else { throw CertificateError(.io, "\(folder) is no folder.") }
        guard facts.st_mode & 0o022 == 0 else {
            throw CertificateError(
                .permissions, "Others can write to the folder \(folder) (mode \(PEMFile.octal(facts.st_mode))). Set its mode to 700.")
        }
        guard facts.st_uid == geteuid() || geteuid() == 0 else {
            throw CertificateError(.permissions, "The folder \(folder) belongs to another user.")
        }
    }

    // MARK: Making one

    /// Default: 10 years, with leap days.
    private static let validitySeconds = 3652 * 24 * 60 * 60

    /// Makes one that is in no file.
    package static func make(now: Int) throws(CertificateError) -> CertificateAuthority {
        let key = try PrivateKey()
        let draft = try CertificateDraft(key: key, validity: (now - LeafCertificates.backdatingSeconds)...(now + validitySeconds))
        try draft.addSubject(NID_organizationName, "Layover")
        try draft.addSubject(NID_commonName, commonName(now: now))
        // The authority signs leaves only (pathlen:0).
        try draft.add(NID_basic_constraints, "critical,CA:TRUE,pathlen:0")
        try draft.add(NID_key_usage, "critical,keyCertSign,cRLSign")
        try draft.add(NID_subject_key_identifier, "hash")
        return CertificateAuthority(certificate: try draft.signed(by: key, issuer: nil), key: key)
    }

    /// `Layover CA, machine, 2026-11-24`: people see it in lists of authorities. At most 64 bytes (RFC 5280, ub-common-name).
    private static func commonName(now: Int) -> String {
        var name = [CChar](repeating: 0, count: 256)
        gethostname(&name, name.count - 1)
        let machine = String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        var (seconds, parts) = (time_t(now), tm())
        gmtime_r(&seconds, &parts)
        func digits(_ number: CInt) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let date = "\(parts.tm_year + 1900)-\(digits(parts.tm_mon + 1))-\(digits(parts.tm_mday))"
        return "Layover CA, \(machine.filter(\.isASCII).prefix(40)), \(date)"
    }
}

/// A public key, by the SHA-256 of its SubjectPublicKeyInfo.
package struct PublicKeyDigest: Sendable, Hashable {
    let bytes: [UInt8]

    init(_ certificate: Certificate) { bytes = certificate.keyDigest }
    init(bytes: [UInt8]) { self.bytes = bytes }
}
