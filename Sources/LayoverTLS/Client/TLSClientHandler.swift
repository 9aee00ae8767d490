package import NIOCore

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
