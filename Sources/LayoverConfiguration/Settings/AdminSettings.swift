package import LayoverCore

/// The admin port.
package struct AdminSettings: Sendable, Hashable {
    /// Always host and port. Default: 127.0.0.1:8081.
    package var listen = ListenAddress.tcp(host: "127.0.0.1", port: 8081)
    /// The bearer token that every call must carry. Nil: calls need a token only for bodies. Default: nil.
    package var token: Secret?
    /// A bearer token for calls that change nothing. Nil: there is no such token. Default: nil.
    package var viewToken: Secret?
    /// Hosts that requests may name: lower case, without port, IPv6 in brackets.
    /// Default: localhost, 127.0.0.1, [::1].
    package var allowedHosts = ["localhost", "127.0.0.1", "[::1]"]
}
