import COpenSSL

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
