/// A proxy through which requests go to their origins.
///
/// A class: requests carry it, and most have none.
package final class ParentProxy: Sendable {
    package enum Scheme: String, Sendable, Hashable, CaseIterable {
        /// HTTP, without TLS.
        case http
        /// HTTP over TLS.
        case https
        /// SOCKS 5 (RFC 1928); the names of origins are resolved by the proxy.
        case socks5h

        package var defaultPort: Int {
            switch self {
            case .http: 80
            case .https: 443
            case .socks5h: 1080
            }
        }
    }

    package let scheme: Scheme
    /// Lower case; an IPv6 literal without its brackets.
    package let host: String
    package let port: Int
    /// Empty: it wants none.
    package let user: String
    package let password: Secret
    /// Where its connections go, and the key of its gate.
    package let gate: Origin

    package init(scheme: Scheme, host: String, port: Int? = nil, user: String = "", password: Secret = "") {
        self.scheme = scheme
        self.host = host
        self.port = port ?? scheme.defaultPort
        self.user = user
        self.password = password
        gate = Origin(scheme: .parentProxy, host: host, port: self.port)
    }

    package var hasCredentials: Bool { !user.isEmpty || !password.revealed.isEmpty }
    /// Whether the parent proxy takes requests of HTTP, and not only connections.
    package var speaksHTTP: Bool { scheme != .socks5h }
    package var isSecure: Bool { scheme == .https }
}

/// Two are equal if they have the same address and the same credentials.
extension ParentProxy: Hashable {
    package static func == (one: ParentProxy, other: ParentProxy) -> Bool {
        one === other
            || one.gate == other.gate && one.scheme == other.scheme && one.user == other.user && one.password == other.password
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(gate)
        hasher.combine(user)
    }
}

/// Without its credentials.
extension ParentProxy: CustomStringConvertible {
    package var description: String { "\(scheme.rawValue)://\(gate.authority)" }
}
