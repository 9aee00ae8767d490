import COpenSSL
package import NIOCore

/// One TLS connection to a server.
package final class TLSClientSession: TLSSession {
    private let context: TLSClientContext
    private let cache: TLSSessionCache
    private let server: String
    private var hasTicket = false

    /// - Parameters:
    ///   - host: Name or address that the certificate must be for. An address is never sent as a server name (RFC 6066 section 3).
    ///   - cache: The sessions of this thread.
    package init(_ context: TLSClientContext, host: String, port: Int, cache: TLSSessionCache) throws(TLSError) {
        // A trailing dot marks a name as complete; certificates do not have it.
        let name = host.hasSuffix(".") ? String(host.dropLast()) : host
        (self.context, self.cache) = (context, cache)
        server = "\(name):\(port)"
        try super.init(context: context.pointer)
        SSL_set_connect_state(tls)
        let isPrepared: Bool
        if (try? SocketAddress(ipAddress: host, port: port)) != nil {
            isPrepared = X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(tls), name) == 1
        } else {
            isPrepared = layover_tls_set_server_name(tls, name) == 1 && SSL_set1_host(tls, name) == 1
        }
        guard isPrepared, SSL_set_alpn_protos(tls, Self.protocols, UInt32(Self.protocols.count)) == 0 else { throw .noted(.unusable) }
        if let session = cache.take(for: server) {
            SSL_set_session(tls, session)
            SSL_SESSION_free(session)
        }
    }

    /// `http/1.1` with its length before it (RFC 7301 section 3.1).
    private static let protocols: [UInt8] = [8] + Array("http/1.1".utf8)

    /// Whether tickets may still come, which TLS 1.3 has behind the handshake (RFC 8446 section 4.6.1).
    package var mayGetTicket: Bool { !hasTicket && SSL_version(tls) == TLS1_3_VERSION }

    /// The session is ours when 1 is returned.
    static let keepSession: @convention(c) (OpaquePointer?, OpaquePointer?) -> CInt = { tls, session in
        guard let session, let own = TLSSession.of(tls) as? TLSClientSession else { return 0 }
        own.hasTicket = true
        own.cache.put(session, for: own.server)
        return 1
    }

    override func certificateFailure() -> TLSError? {
        let verdict = SSL_get_verify_result(tls)
        guard verdict != Int(X509_V_OK), SSL_get_peer_cert_chain(tls) != nil else { return nil }
        return TLSError(.certificate(verdict), X509_verify_cert_error_string(verdict).map { String(cString: $0) } ?? "not accepted")
    }
}

/// Speaks TLS with a server on a channel. Confined to its event loop.
/// - SeeAlso: `TLSChannelHandler`.
package final class TLSClientHandler: TLSChannelHandler {
    private let settings: TLSClientContext
    private let cache: TLSSessionCache
    private let host: String
    private let port: Int

    /// - Parameters:
    ///   - host: Name or address that the certificate must be for.
    ///   - cache: The sessions of this event loop.
    ///   - first: Bytes that were read before this handler was added.
    ///   - handshakeTimeMax: The handshake fails when it is not complete by then.
    package init(
        _ settings: TLSClientContext, host: String, port: Int, cache: TLSSessionCache, first: ByteBuffer = ByteBuffer(),
        handshakeTimeMax: TimeAmount
    ) {
        (self.settings, self.host, self.port, self.cache) = (settings, host, port, cache)
        super.init(first: first, handshakeTimeMax: handshakeTimeMax)
    }

    override func makeSession() throws(TLSError) -> TLSSession {
        try TLSClientSession(settings, host: host, port: port, cache: cache)
    }
}
