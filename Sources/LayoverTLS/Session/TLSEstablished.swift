/// User inbound event: the handshake is complete. It comes before the first byte of the application.
package struct TLSEstablished: Sendable, Hashable {
    /// The protocol that both agreed on by ALPN: `h2` or `http/1.1`. Nil: they agreed on none, so HTTP/1.1 is spoken.
    package var applicationProtocol: String?
    /// The name that the client asked for (SNI). Nil: the client asked for no name.
    package var serverName: String?
    /// Whether the handshake resumed an earlier session, so that no certificate was sent.
    package var isResumed: Bool
}

/// User inbound event: the peer has ended its sending side, in this way. `ChannelEvent.inputClosed` follows.
package enum TLSInputEnd: Sendable, Hashable {
    /// The peer sent close_notify: everything has arrived.
    case closeNotify
    /// The connection ended without close_notify. Whether a message is cut off must be known by its length (RFC 9112 section 9.8).
    case connection
}

/// User outbound event: what is sent ends without a close_notify from now on, because it is not complete. A channel without TLS
/// does not know it.
package struct TLSOutputCut: Sendable, Hashable {
    package init() {}
}
