import LayoverCore
import LayoverEngine

/// What is known of a connection inside an intercepted CONNECT before its first request.
struct InterceptedConnection {
    /// Where CONNECT was to go, and all requests go.
    let origin: Origin
    /// The user that CONNECT named; nil: it named none.
    let user: UserCount?
    /// What the client thinks of our certificate.
    let verdict: CertificateVerdict
    /// The name that the client asked for in its handshake, where it is not that of CONNECT.
    var serverName: String?
    /// What makes a connection of a stream of HTTP/2; nil: it is no stream.
    var stream: HTTP2StreamTranscoder?
}
