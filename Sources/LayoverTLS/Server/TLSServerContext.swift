import COpenSSL

/// The identity of a server: a certificate with its chain and key, and the protocols it offers.
///
/// All servers of the process share one SSL_CTX (`TLSServerSettings`), so that a context for each of a thousand names costs the
/// certificate and nothing else. Sessions are resumed for the same context only, or for one with the same `identity`.
package final class TLSServerContext: Sendable {
    let chain: [Certificate]
    let key: PrivateKey
    /// Whether `h2` is offered, and preferred to `http/1.1`.
    package let supportsHTTP2: Bool
    /// The identity of the context: a session is resumed only where this is the same. At most 32 bytes.
    let identity: [UInt8]

    /// Does not check the chain and the key: `apply` returns false if OpenSSL refuses them.
    ///
    /// - Parameter chain: The server's certificate, then those that lead to the authority. Not empty.
    init(chain: [Certificate], key: PrivateKey, identity: [UInt8], supportsHTTP2: Bool) throws(CertificateError) {
        (self.chain, self.key, self.supportsHTTP2) = (chain, key, supportsHTTP2)
        self.identity = Array(identity.prefix(Int(SSL_MAX_SID_CTX_LENGTH)))
    }

    /// Reads a certificate with its chain, and its key.
    ///
    /// - Parameters:
    ///   - certificate: PEM file: the server's certificate first.
    ///   - key: PEM file of its private key, without a password.
    /// - Throws: `CertificateError` that names the file and what is wrong. A certificate that has expired is none: see `notAfter`.
    package convenience init(certificate: String, key: String, supportsHTTP2: Bool) throws(CertificateError) {
        let chain = try Certificate.chain(in: PEMFile.contents(of: certificate), file: certificate)
        let privateKey = try PrivateKey(pem: PEMFile.contents(of: key), file: key)
        guard let first = chain.first, first.isFor(privateKey) else {
            throw CertificateError(.keyMismatch, "The key in \(key) is not the key of the certificate in \(certificate).")
        }
        try self.init(chain: chain, key: privateKey, identity: first.fingerprintBytes, supportsHTTP2: supportsHTTP2)
        let trial = TLSServerSettings.shared.flatMap { settings in
            SSL_new(settings.pointer).map(Result.success) ?? .failure(.noted(.unusable))
        }
        guard case .success(let tls) = trial else { throw CertificateError(.refused, "OpenSSL cannot be used for TLS.") }
        defer { SSL_free(tls) }
        guard apply(to: tls) else {
            throw CertificateError(.refused, "The certificate in \(certificate) cannot be used for TLS: \(CertificateError.noted()).")
        }
    }

    /// The last second at which the certificate is valid, in seconds since 1970.
    package var notAfter: Int { chain.first?.notAfter ?? 0 }

    /// Makes a connection use it.
    func apply(to tls: OpaquePointer) -> Bool {
        guard let first = chain.first, SSL_use_certificate(tls, first.pointer) == 1, SSL_use_PrivateKey(tls, key.pointer) == 1 else {
            return false
        }
        for issuer in chain.dropFirst() where layover_tls_add_chain(tls, issuer.pointer) != 1 { return false }
        return SSL_set_session_id_context(tls, identity, UInt32(identity.count)) == 1
    }
}

/// The SSL_CTX of all servers of the process: versions, the keys of session tickets, callbacks.
///
/// `@unchecked Sendable`: OpenSSL counts the users of an `SSL_CTX` and locks it; nothing is changed after `init`.
struct TLSServerSettings: @unchecked Sendable {
    let pointer: OpaquePointer

    static let shared = Result { () throws(TLSError) in try TLSServerSettings() }

    /// A session may be resumed for so long. Default: 2 hours.
    private static let sessionAgeMax = 2 * 60 * 60

    private init() throws(TLSError) {
        guard let pointer = SSL_CTX_new(TLS_server_method()) else { throw .noted(.unusable) }
        self.pointer = pointer
        try TLSSession.prepare(pointer)
        // Sessions are with the clients, as tickets: nothing to keep here. No early data (0-RTT), which could be replayed: OpenSSL's
        // default.
        layover_tls_keep_no_sessions(pointer)
        SSL_CTX_set_timeout(pointer, Self.sessionAgeMax)
        SSL_CTX_set_client_hello_cb(pointer, TLSServerSession.helloArrived, nil)
        SSL_CTX_set_alpn_select_cb(pointer, TLSServerSession.selectProtocol, nil)
    }
}
