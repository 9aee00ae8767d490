/// Scheme, host and port of a server: the key of gates, windows and observations (RFC 9110 section 4.3.1).
package struct Origin: Sendable, Hashable, CustomStringConvertible {
    package enum Scheme: String, Sendable, Hashable {
        case http, https
        /// The target of a CONNECT: what runs inside is none of our business.
        case tunnel
        /// A parent proxy: no request names it, but it has a gate of its own, above those of the origins behind it.
        case parentProxy = "parent"

        package var defaultPort: Int { self == .http ? 80 : 443 }
    }

    package let scheme: Scheme
    /// Lower case; an IPv6 literal without its brackets.
    package let host: String
    package let port: Int

    package init(scheme: Scheme, host: String, port: Int? = nil) {
        self.scheme = scheme
        self.host = host
        self.port = port ?? scheme.defaultPort
    }

    /// Whether the host is this machine by its name or address (RFC 6761 section 6.3, RFC 1122 section 3.2.1.3).
    package var isLoopback: Bool {
        host == "localhost" || host.hasSuffix(".localhost") || host == "::1" || host.hasPrefix("127.")
    }

    /// Whether the host is this machine or near it, by its name or address: an address for private use or of one link (RFC 1918,
    /// RFC 3927, RFC 4193, RFC 4291 section 2.5.6), a name of one label, or one under `local` (RFC 6762).
    package var isNear: Bool {
        if isLoopback || host.hasSuffix(".local") { return true }
        if host.utf8.contains(UInt8(ascii: ":")) {
            return ["fc", "fd", "fe8", "fe9", "fea", "feb"].contains { host.hasPrefix($0) }
        }
        let labels = host.split(separator: ".", omittingEmptySubsequences: false)
        if labels.count == 1 { return true }
        let numbers = labels.compactMap { UInt8($0) }
        guard labels.count == 4, numbers.count == 4 else { return false }
        return switch (numbers[0], numbers[1]) {
        case (10, _), (172, 16...31), (192, 168), (169, 254): true
        default: false
        }
    }

    /// Any order, as long as it is always the same.
    static func isBefore(_ one: Origin, _ other: Origin) -> Bool {
        (one.host, one.port, one.scheme.rawValue) < (other.host, other.port, other.scheme.rawValue)
    }

    /// `host:port`, with brackets around an IPv6 literal.
    package var authority: String {
        host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]:\(port)" : "\(host):\(port)"
    }

    /// `host`, or `host:port` where the port is not the scheme's own.
    package var hostField: String {
        let literal = host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]" : host
        return port == scheme.defaultPort && scheme != .tunnel && scheme != .parentProxy ? literal : "\(literal):\(port)"
    }

    package var description: String {
        switch scheme {
        case .http, .https: "\(scheme.rawValue)://\(hostField)"
        case .tunnel: authority
        case .parentProxy: "parent proxy \(authority)"
        }
    }
}
