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
