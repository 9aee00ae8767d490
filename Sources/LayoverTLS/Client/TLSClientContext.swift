import COpenSSL

/// The settings that all TLS connections to origins share: trusted certificates, versions, rules of verification.
///
/// TLS 1.2 and newer. A certificate must be valid now, be meant for servers, have a chain to a trusted one, and name the host in its
/// subjectAltName: the common name counts for nothing (RFC 9525 section 2). Renegotiation is refused, and so are certificates of
/// Layover's own authority.
///
/// `@unchecked Sendable`: OpenSSL counts the users of an `SSL_CTX` and locks it; nothing is changed after `init`.
package final class TLSClientContext: @unchecked Sendable {
    let pointer: OpaquePointer

    /// - Parameter trustFile: PEM file of the trusted certificates. Nil: the system's certificates as OpenSSL finds them are trusted.
    /// - Throws: `TLSError` when the file cannot be read, or OpenSSL is not usable.
    package init(trustFile: String?) throws(TLSError) {
        guard let pointer = SSL_CTX_new(TLS_client_method()) else { throw .noted(.unusable) }
        self.pointer = pointer
        try TLSSession.prepare(pointer)
        layover_tls_keep_sessions(pointer, TLSClientSession.keepSession)
        OwnAuthorities.refuse(in: pointer)
        let isTrustLoaded = trustFile.map { SSL_CTX_load_verify_file(pointer, $0) } ?? SSL_CTX_set_default_verify_paths(pointer)
        guard isTrustLoaded == 1 else { throw .noted(.unusable) }
        // Like libcurl: a certificate of the file is trusted by itself; its issuer need not be.
        let parameters = SSL_CTX_get0_param(pointer)
        X509_VERIFY_PARAM_set_flags(parameters, UInt(X509_V_FLAG_PARTIAL_CHAIN))
        X509_VERIFY_PARAM_set_hostflags(
            parameters, UInt32(X509_CHECK_FLAG_NEVER_CHECK_SUBJECT | X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS))
    }

    deinit { SSL_CTX_free(pointer) }
}
