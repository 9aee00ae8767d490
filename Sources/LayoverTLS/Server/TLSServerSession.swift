import COpenSSL
package import NIOCore

/// One TLS connection of a client. Its certificate is chosen when the client has said what it wants.
package final class TLSServerSession: TLSSession {
    private enum Choice {
        /// The client's first message is not complete.
        case notAsked
        /// The handshake waits for `use` or `refuse`.
        case awaited(TLSClientHello)
        case made(TLSServerContext)
        case refused
    }

    private var choice = Choice.notAsked
    private(set) var hello = TLSClientHello()

    package init() throws(TLSError) {
        try super.init(context: TLSServerSettings.shared.get().pointer)
        SSL_set_accept_state(tls)
    }

    /// Whether the handshake waits for a context.
    package var isContextAwaited: Bool {
        guard case .awaited = choice else { return false }
        return true
    }

    /// Sets the context of the connection. Called once `isContextAwaited` is true; `handshake` then goes on with the context.
    package func use(_ context: TLSServerContext) { choice = .made(context) }

    /// There is no context; `handshake` then ends with an alert (internal_error).
    package func refuse() { choice = .refused }

    /// The client's first message is complete, and nothing of it is used yet. It is called again after `use` or `refuse`
    /// (SSL_CTX_set_client_hello_cb(3)).
    static let helloArrived: @convention(c) (OpaquePointer?, UnsafeMutablePointer<CInt>?, UnsafeMutableRawPointer?) -> CInt = {
        tls, alert, _ in
        alert?.pointee = SSL_AD_INTERNAL_ERROR
        guard let tls, let own = TLSSession.of(tls) as? TLSServerSession else { return SSL_CLIENT_HELLO_ERROR }
        switch own.choice {
        case .notAsked:
            own.hello = TLSClientHello(tls)
            own.choice = .awaited(own.hello)
            return SSL_CLIENT_HELLO_RETRY
        case .awaited: return SSL_CLIENT_HELLO_RETRY
        case .made(let context): return context.apply(to: tls) ? SSL_CLIENT_HELLO_SUCCESS : SSL_CLIENT_HELLO_ERROR
        case .refused: return SSL_CLIENT_HELLO_ERROR
        }
    }

    /// The first of ours that the client offers. Without one the handshake goes on without ALPN, and both speak HTTP/1.1: the alert
    /// that RFC 7301 section 3.2 has for it would end connections that work.
    static let selectProtocol:
        @convention(c) (
            OpaquePointer?, UnsafeMutablePointer<UnsafePointer<UInt8>?>?, UnsafeMutablePointer<UInt8>?, UnsafePointer<UInt8>?, UInt32,
            UnsafeMutableRawPointer?
        ) -> CInt = { tls, name, count, offered, offeredCount, _ in
            guard let own = TLSSession.of(tls) as? TLSServerSession, case .made(let context) = own.choice else {
                return SSL_TLSEXT_ERR_NOACK
            }
            let ours = context.supportsHTTP2 ? ["h2", "http/1.1"] : ["http/1.1"]
            let list = UnsafeBufferPointer(start: offered, count: Int(offeredCount))
            for protocolName in ours {
                var start = 0
                // The answer points into the client's own list, which lives as long as this call and is copied behind it.
                while start < list.count {
                    let end = min(start + 1 + Int(list[start]), list.count)
                    if list[(start + 1)..<end].elementsEqual(protocolName.utf8) {
                        name?.pointee = offered.map { $0 + start + 1 }
                        count?.pointee = list[start]
                        return SSL_TLSEXT_ERR_OK
                    }
                    start = end
                }
            }
            return SSL_TLSEXT_ERR_NOACK
        }
}

/// Serves TLS on a channel.
///
/// The handshake is suspended from the client's first message until `choose` has found a context. Confined to its event loop.
/// - SeeAlso: `TLSChannelHandler`.
package final class TLSServerHandler: TLSChannelHandler {
    private let choose: (TLSClientHello) -> EventLoopFuture<TLSServerContext>
    private var begun: TLSServerSession?

    /// - Parameters:
    ///   - begun: A session that has got the client's first bytes already. Nil: the handler makes one.
    ///   - handshakeTimeMax: The handshake fails when it is not complete by then. Default: 30 s.
    ///   - turns: When the work of the handshake is done. Nil: the work is done at once.
    ///   - choose: Finds the context for a client, on any event loop. An error ends the handshake (internal_error).
    package init(
        _ begun: TLSServerSession? = nil, handshakeTimeMax: TimeAmount = .seconds(30), turns: TLSHandshakeTurns? = nil,
        choose: @escaping (TLSClientHello) -> EventLoopFuture<TLSServerContext>
    ) {
        (self.begun, self.choose) = (begun, choose)
        super.init(handshakeTimeMax: handshakeTimeMax, turns: turns)
    }

    override func makeSession() throws(TLSError) -> TLSSession {
        defer { begun = nil }
        return if let begun { begun } else { try TLSServerSession() }
    }

    override func mustSuspend(_ session: TLSSession) -> Bool { (session as? TLSServerSession)?.isContextAwaited == true }

    override func serverName(of session: TLSSession) -> String? { (session as? TLSServerSession)?.hello.serverName }

    override func suspended(_ session: TLSSession) {
        guard let session = session as? TLSServerSession, let context else { return }
        choose(session.hello).hop(to: context.eventLoop).assumeIsolated().whenComplete { [weak self] result in
            switch result {
            case .success(let chosen): self?.resume { session.use(chosen) }
            case .failure(let error):
                self?.resume(failing: TLSError(.unusable, "there is no certificate: \(error)")) { session.refuse() }
            }
        }
    }
}
