import LayoverCore

/// The parts of an `http://` or `https://` URL (RFC 9110 section 4.2).
struct WebAddress: Sendable, Hashable {
    let scheme: Origin.Scheme
    let userinfo: String?
    /// Lower case, without brackets.
    let host: String
    let port: Int?
    /// Empty, or begins with a slash.
    let path: String
    let query: String?

    /// Reads strictly: nothing is escaped, added or repaired. Messages do not repeat the text,
    /// because it may hold a password.
    static func parse(_ text: String) throws(Refusal) -> WebAddress {
        guard let (scheme, rest) = schemeAndRest(text) else {
            throw Refusal(message: "expected a URL that begins with http:// or https://")
        }
        guard text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }), !text.contains("#"), !text.contains("\\")
        else {
            throw Refusal(
                message: "the URL must not contain spaces, fragments, backslashes or raw non-ASCII characters")
        }
        let end = rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex
        let (authority, tail) = (rest[..<end], rest[end...])
        let at = authority.lastIndex(of: "@")
        let hostPort = at.map { authority[authority.index(after: $0)...] } ?? authority
        guard let (host, portText) = AddressText.hostAndPort(String(hostPort)) else {
            throw Refusal(message: "the URL has no valid host")
        }
        let port = portText.map { AddressText.port($0) ?? 0 }
        guard port != 0 else { throw Refusal(message: "the URL has no valid port") }
        let parts = tail.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        return WebAddress(
            scheme: scheme, userinfo: at.map { String(authority[..<$0]) }, host: host, port: port,
            path: parts.first.map { String($0) } ?? "", query: parts.count > 1 ? String(parts[1]) : nil)
    }

    private static func schemeAndRest(_ text: String) -> (Origin.Scheme, Substring)? {
        for scheme in [Origin.Scheme.http, .https] {
            let prefix = scheme.rawValue + "://"
            if text.lowercased().hasPrefix(prefix) { return (scheme, text.dropFirst(prefix.count)) }
        }
        return nil
    }
}
