import COpenSSL

/// Sessions by which a new connection to the same server needs no full handshake (RFC 8446 section 2.2). Each is used once, so that
/// nobody can tell connections apart by it (appendix C.4). Confined to one thread.
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
    func take(for server: String) -> OpaquePointer? { sessions.removeValue(forKey: server) }
}
