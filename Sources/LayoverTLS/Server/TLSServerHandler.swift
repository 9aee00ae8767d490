package import NIOCore

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
