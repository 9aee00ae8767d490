package import LayoverCore

/// How the admin API is served.
package struct AdminOptions: Sendable {
    /// The address to listen on; an IPv6 literal without its brackets. Default: 127.0.0.1.
    package var host = "127.0.0.1"
    /// 0 takes a free one. Default: 8081.
    package var port = 8081
    /// The path of a Unix socket to listen on instead. Only its owner can connect (0600). Default: none.
    package var socketPath: String?
    /// The token that callers must send as `Authorization: Bearer …`. Nil: callers need a token only for bodies. Default: nil.
    package var token: Secret?
    /// The token of callers that only read. Nil: there is no such token. Default: nil.
    package var viewToken: Secret?
    /// The token that callers must send to get bodies, if there is no `token`. Nil: no caller gets bodies.
    /// Default: nil.
    package var bodyToken: Secret?
    /// Hosts that a request may be addressed to, whatever its port; IPv6 literals in brackets.
    /// Default: the names of loopback.
    package var allowedHosts = ["localhost", "127.0.0.1", "[::1]"]
    /// How often an idle event stream sends a comment, so that the connection stays open. Default: 15 seconds.
    package var heartbeat: Duration = .seconds(15)
    /// Longest body of a request, in bytes. A thousand ids need 36 000. Default: 256 KiB.
    package var bodyByteCountMax = 256 << 10
    /// Most connections at a time; more wait to be accepted. Default: 512.
    package var connectionCountMax = 512
    /// How long a connection may be idle between requests or within one. Default: 60 seconds.
    package var idleMax: Duration = .seconds(60)

    package init() {}
}
