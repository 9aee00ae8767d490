import COpenSSL

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
