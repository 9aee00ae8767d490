/// User inbound event: the handshake is complete. It comes before the first byte of the application.
package struct TLSEstablished: Sendable, Hashable {
    /// What both agreed on by ALPN: `h2` or `http/1.1`. Nil: nothing, so HTTP/1.1.
    package var applicationProtocol: String?
    /// The name that the client asked for (SNI). Nil: none.
    package var serverName: String?
    /// Whether it resumed an earlier session, so that no certificate was sent.
    package var isResumed: Bool
}

/// User inbound event: the peer has ended its sending side, in this way. `ChannelEvent.inputClosed` follows.
package enum TLSInputEnd: Sendable, Hashable {
    /// It said so (close_notify): everything has arrived.
    case closeNotify
    /// The connection ended without it. Whether a message is cut off must be known by its length (RFC 9112 section 9.8).
    case connection
}

/// User outbound event: what is sent ends without a close_notify from now on, because it is not complete. A channel without TLS
/// does not know it.
package struct TLSOutputCut: Sendable, Hashable {
    package init() {}
}
