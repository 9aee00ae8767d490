package import LayoverCore
package import LayoverPasswords

/// The port that clients use.
package struct ProxySettings: Sendable, Hashable {
    /// Certificate and key for clients that speak TLS to the proxy itself.
    package struct TLS: Sendable, Hashable {
        /// PEM file of the certificate. Nil: clients speak without TLS. Default: nil.
        package var certificate: String?
        /// PEM file of the certificate's key. Default: nil.
        package var key: String?
    }

    /// Where clients reach the proxy, behind a load balancer or outside a container.
    package struct PublicURL: Sendable, Hashable {
        package let origin: Origin
        /// The prefix of paths that a load balancer removes. Empty, or begins with a slash and does not end with one.
        package let path: String

        init(origin: Origin, path: String) {
            self.origin = origin
            self.path = String(path.reversed().drop { $0 == "/" }.reversed())
        }

        /// What stands before a path of the proxy's own.
        package var base: String { origin.description + path }
    }

    /// The base of the addresses of tickets. Nil: the address that the client used. Default: nil.
    package var publicURL: PublicURL?
    /// Default: 127.0.0.1:8080.
    package var listen = ListenAddress.tcp(host: "127.0.0.1", port: 8080)
    /// The name in `Via` and `Proxy-Status`: a token of at most 64 characters that begins with
    /// a letter. Default: layover.
    package var identity = "layover"
    /// Event loops, and as many upstream workers. Nil: one event loop for each core. Default: nil.
    package var threads: Int?
    /// The path of HTTP/1.1 exchanges with origins.
    package enum Upstream: String, Sendable, CaseIterable {
        case direct, libcurl
    }

    /// Default: direct.
    package var upstream = Upstream.direct
    /// Hosts that origin-form requests may name: lower case, without port, IPv6 in brackets.
    /// Default: localhost, 127.0.0.1, [::1].
    package var allowedHosts = ["localhost", "127.0.0.1", "[::1]"]
    /// Permissions of the Unix domain socket. Nil: the umask decides. Default: nil.
    package var socketMode: Int?
    /// Password hashes by user name. Default: none.
    package var users: [String: PasswordHash] = [:]
    /// Ports that clients from outside this machine may CONNECT to. Default: 443, 8443, 22.
    package var connectPorts = [443, 8443, 22]
    /// Whether clients from outside this machine need no user. Default: false.
    package var insecureOpen = false
    package var tls = TLS()
}
