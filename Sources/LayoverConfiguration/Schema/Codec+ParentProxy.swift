import Foundation
import LayoverCore

extension Codec where Value == ParentProxy {
    /// `http://user:password@proxy.example:3128`, `https://…`, `socks5h://…`.
    ///
    /// Messages do not repeat the value: it may hold a password.
    static var parentProxy: Codec {
        .text("URL", isSecret: true, write: ParentProxyText.write, read: ParentProxyText.read)
    }
}

extension Codec where Value == Route.Way {
    /// The same, or `direct`.
    static var way: Codec {
        .text(
            "URL or \"direct\"", isSecret: true,
            write: { way in
                switch way {
                case .through(let parentProxy): ParentProxyText.write(parentProxy)
                case .direct, .general: "direct"
                }
            },
            read: { (text) throws(Refusal) in text == "direct" ? .direct : .through(try ParentProxyText.read(text)) })
    }
}

private enum ParentProxyText {
    @Sendable static func read(_ text: String) throws(Refusal) -> ParentProxy {
        guard let end = text.firstRange(of: "://") else {
            throw Refusal(message: "expected a URL that begins with http://, https:// or socks5h://")
        }
        let scheme = text[..<end.lowerBound].lowercased()
        if ["socks", "socks4", "socks4a", "socks5"].contains(scheme) {
            throw Refusal(message: "only socks5h:// is supported: the proxy resolves the names of origins")
        }
        guard let scheme = ParentProxy.Scheme(rawValue: scheme) else {
            throw Refusal(message: "expected a URL that begins with http://, https:// or socks5h://")
        }
        // All three have the same form; this one is read strictly.
        let url = try WebAddress.parse("http://" + text[end.upperBound...])
        guard url.path.isEmpty || url.path == "/", url.query == nil else {
            throw Refusal(message: "the URL of a proxy must not have a path or a query")
        }
        let parts = (url.userinfo ?? "").split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map { String($0) }
        let decoded = parts.map { $0.removingPercentEncoding ?? "" }
        guard decoded.allSatisfy({ $0.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F } }),
            zip(parts, decoded).allSatisfy({ $0.isEmpty == $1.isEmpty })
        else { throw Refusal(message: "the user name or the password has invalid percent-encoding or control characters") }
        let (user, password) = (decoded.first ?? "", decoded.count > 1 ? decoded[1] : "")
        guard !user.contains(":") else { throw Refusal(message: "the user name must not contain a colon (RFC 7617)") }
        // RFC 1929 section 2.
        guard scheme != .socks5h || (user.utf8.count <= 255 && password.utf8.count <= 255) else {
            throw Refusal(message: "a user name or password for SOCKS 5 has at most 255 bytes")
        }
        return ParentProxy(scheme: scheme, host: url.host, port: url.port, user: user, password: Secret(password))
    }

    @Sendable static func write(_ proxy: ParentProxy) -> String {
        guard proxy.hasCredentials else { return proxy.description }
        let (user, password) = (escaped(proxy.user), escaped(proxy.password.revealed))
        return "\(proxy.scheme.rawValue)://\(user):\(password)@\(proxy.gate.authority)"
    }

    private static func escaped(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: .alphanumerics.intersection(.urlHostAllowed)) ?? ""
    }
}

extension Codec where Value == ParentProxyRules.Exception {
    /// `example.com` (the name and all below), `.example.com` (the same), `*.example.com` (those below), an address,
    /// `address/prefix`, or `*`.
    static var parentProxyException: Codec {
        .text("host", sample: "example.com", write: written) { (text) throws(Refusal) in
            if text == "*" { return .all }
            if text.contains("/") {
                _ = try Codec<String>.network.read(.text(text))
                return .network(text)
            }
            if AddressText.isIPv4(text) || AddressText.isIPv6(text) { return .network(text) }
            if text.hasPrefix("*.") { return .below(try name(text.dropFirst(2), of: text)) }
            if text.hasPrefix("[") {
                guard let (host, port) = AddressText.hostAndPort(text), port == nil else { throw complaint(text) }
                return .network(host)
            }
            return .domain(try name(text.hasPrefix(".") ? text.dropFirst() : text[...], of: text))
        }
    }

    private static func name(_ part: Substring, of text: String) throws(Refusal) -> String {
        let bare = part.hasSuffix(".") ? part.dropLast() : part
        guard let (host, port) = AddressText.hostAndPort(String(bare)), port == nil else { throw complaint(text) }
        return host
    }

    private static func complaint(_ text: String) -> Refusal {
        Refusal(
            message: "\(JSONValue.text(text).excerpt) is not a host (write example.com, *.example.com, 10.0.0.0/8 or *, without a port)")
    }

    @Sendable private static func written(_ exception: ParentProxyRules.Exception) -> String {
        switch exception {
        case .all: "*"
        case .domain(let name): name
        case .below(let name): "*." + name
        case .network(let network): network
        }
    }
}
