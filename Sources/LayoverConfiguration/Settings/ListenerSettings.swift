package import LayoverCore
package import LayoverSystem

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

extension ProxySettings {
    /// Longest name of a user, in bytes. Default: 128.
    private static let userByteCountMax = 128

    /// Why a user cannot have this name; nil if the name is allowed. RFC 7617 section 2 forbids colons and control characters.
    package static func complaint(aboutUser name: String) -> String? {
        if name.isEmpty { return "the name of a user is empty" }
        if name.utf8.count > userByteCountMax { return "the name of a user has more than \(userByteCountMax) bytes" }
        if name.unicodeScalars.contains(where: { $0 == ":" || $0.properties.generalCategory == .control }) {
            return "the name of a user must not contain a colon or a control character"
        }
        return nil
    }

    /// Why there must be users.
    package static func needsUsers(_ address: ListenAddress) -> String {
        "\(address) is reachable from other machines, so proxy.users must have a user (layover user add NAME), "
            + "or proxy.insecureOpen must be true"
    }
}

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

/// Where a listener waits for connections.
package enum ListenAddress: Sendable, Hashable, CustomStringConvertible {
    /// A literal address or a name, and a port. IPv6 without brackets; port 0 asks for a free one.
    case tcp(host: String, port: Int)
    /// A Unix domain socket.
    case unix(path: String)

    /// Whether only this machine can connect.
    ///
    /// Other names than `localhost` count as outside, whatever they resolve to today.
    package var isLoopback: Bool {
        switch self {
        case .unix: true
        case .tcp(let host, _):
            host == "localhost" || host == "::1"
                || (host.hasPrefix("127.") && AddressText.isIPv4(host))
        }
    }

    /// The port; nil for a Unix domain socket.
    package var port: Int? {
        if case .tcp(_, let port) = self { port } else { nil }
    }

    /// As the configuration spells it.
    package var description: String {
        switch self {
        case .tcp(let host, let port): host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
        case .unix(let path): "unix:\(path)"
        }
    }
}
