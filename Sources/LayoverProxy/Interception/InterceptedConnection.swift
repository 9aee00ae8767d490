import LayoverCore
import LayoverEngine

/// Facts about a connection inside an intercepted CONNECT before its first request.
struct InterceptedConnection {
    /// Where CONNECT was to go, and all requests go.
    let origin: Origin
    /// The user that CONNECT named; nil: it named no user.
    let user: UserCount?
    /// Whether the client accepted our certificate.
    let verdict: CertificateVerdict
    /// The name that the client asked for in its handshake, where it is not that of CONNECT.
    var serverName: String?
    /// The transcoder of a stream of HTTP/2; nil: this connection is no stream.
    var stream: HTTP2StreamTranscoder?
}
