/// A host with an optional port: of a request target or of a Host field (RFC 3986 section 3.2).
package struct Authority: Hashable, Sendable {
    /// The host in lower case; an IPv6 literal without its brackets; a trailing dot is kept.
    /// IPv4 addresses and names are not told apart: how `0x7f.1` is read is for the resolver.
    package var host: String

    /// 1 to 65535, or nil for the default of the scheme.
    package var port: Int?

    /// Whether the host was written in brackets.
    package var isIPv6Literal: Bool

    package init(host: String, port: Int?, isIPv6Literal: Bool = false) {
        self.host = host
        self.port = port
        self.isIPv6Literal = isIPv6Literal
    }

    /// Reads `host[:port]`. Nil if the text is no valid authority.
    package init?(parsing text: String) {
        var text = text
        let authority = text.withUTF8 { utf8 -> Authority? in
            let bytes = UnsafeRawBufferPointer(utf8)
            return AuthorityRange(0..<bytes.count, in: bytes).map { $0.authority(in: bytes) }
        }
        guard let authority else { return nil }
        self = authority
    }
}

extension Authority: CustomStringConvertible {
    /// `host[:port]` as it stands in a URL or a Host field.
    package var description: String {
        let host = isIPv6Literal ? "[\(host)]" : host
        guard let port else { return host }
        return "\(host):\(port)"
    }
}
