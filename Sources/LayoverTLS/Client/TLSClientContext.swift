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

/// Sessions by which a new connection to the same server needs no full handshake (RFC 8446 section 2.2). Those of TLS 1.3 are
/// used once, so that nobody can tell connections apart by them (appendix C.4); there the server sends more. Confined to one thread.
package final class TLSSessionCache {
    /// Servers whose sessions are kept. Default: 256.
    private let serverCountMax: Int
    private var sessions: [String: OpaquePointer] = [:]

    package init(serverCountMax: Int = 256) { self.serverCountMax = serverCountMax }

    deinit { for session in sessions.values { SSL_SESSION_free(session) } }

    /// Takes the session over from the caller.
    func put(_ session: OpaquePointer, for server: String) {
        if let old = sessions.updateValue(session, forKey: server) { SSL_SESSION_free(old) }
        if sessions.count > serverCountMax, let other = sessions.keys.first(where: { $0 != server }),
            let old = sessions.removeValue(forKey: other)
        {
            SSL_SESSION_free(old)
        }
    }

    /// The caller owns what it gets.
    func take(for server: String) -> OpaquePointer? {
        guard let session = sessions[server] else { return nil }
        if SSL_SESSION_get_protocol_version(session) < TLS1_3_VERSION, SSL_SESSION_up_ref(session) == 1 { return session }
        return sessions.removeValue(forKey: server)
    }
}

/// The connections that libcurl makes.
package enum LibcurlTLS {
    /// Whether the peer has said that it sends no more (SSL_get_shutdown(3)).
    package static func hasCloseNotify(_ tls: OpaquePointer) -> Bool { SSL_get_shutdown(tls) & SSL_RECEIVED_SHUTDOWN != 0 }

    /// Takes what has been decrypted, or can be without waiting.
    ///
    /// - Parameter tls: An SSL of libcurl, on its thread, outside of OpenSSL's own calls.
    /// - Returns: How many bytes.
    package static func read(from tls: OpaquePointer, into memory: UnsafeMutableRawBufferPointer) -> Int {
        // libcurl looks at the queue of errors itself.
        ERR_clear_error()
        let count = SSL_read(tls, memory.baseAddress, CInt(clamping: memory.count))
        ERR_clear_error()
        return max(0, Int(count))
    }
}
