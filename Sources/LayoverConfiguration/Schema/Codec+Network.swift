import LayoverCore

extension Codec where Value == ListenAddress {
    /// `127.0.0.1:8080`, `[::1]:8080`, `localhost:8080`, `unix:/run/layover.sock`.
    static func listen(standard: String) -> Codec {
        let sample = "\(standard), \(standard.replacing("127.0.0.1", with: "[::1]")) or unix:/path"
        return .text("address", sample: standard, write: \.description) { (text) throws(Refusal) in
            let complaint = Refusal(
                message: "\(JSONValue.text(text).excerpt) is not an address to listen on (write \(sample))")
            if text.hasPrefix("unix:") { return try unix(String(text.dropFirst(5)), complaint) }
            guard let (host, portText) = AddressText.hostAndPort(text), let portText,
                let port = AddressText.port(portText)
            else { throw complaint }
            return .tcp(host: host, port: port)
        }
    }

    private static func unix(_ path: String, _ complaint: Refusal) throws(Refusal) -> ListenAddress {
        guard !path.isEmpty, !path.hasSuffix("/"), !path.utf8.contains(0) else { throw complaint }
        // sun_path holds 108 bytes with the final NUL (unix(7)).
        guard path.utf8.count <= 107 else {
            throw Refusal(message: "the path of a Unix domain socket must have at most 107 bytes")
        }
        return .unix(path: path)
    }
}

extension Codec where Value == Route.HostPattern {
    /// `api.example.com` or `*.example.com`.
    static var hostPattern: Codec {
        .text("host", sample: "api.example.com", write: patternText) { (text) throws(Refusal) in
            let isBelow = text.hasPrefix("*.")
            guard let (host, port) = AddressText.hostAndPort(isBelow ? String(text.dropFirst(2)) : text),
                port == nil, !(isBelow && host.contains(":"))
            else {
                throw Refusal(
                    message: "\(JSONValue.text(text).excerpt) is not a host "
                        + "(write api.example.com or *.example.com, without a port)")
            }
            return isBelow ? .below(host) : .exact(host)
        }
    }

    private static func patternText(_ pattern: Route.HostPattern) -> String {
        switch pattern {
        case .any: "*"
        case .exact(let host): host.contains(":") ? "[\(host)]" : host
        case .below(let parent): "*.\(parent)"
        }
    }
}

extension Codec where Value == Route.Upstream {
    /// `https://api.example.com/base`.
    ///
    /// Messages do not repeat the value: it may hold a password.
    static var upstream: Codec {
        .text("URL", isSecret: true, write: urlText) {
            (text) throws(Refusal) in
            let url = try WebAddress.parse(text)
            guard url.userinfo == nil else {
                throw Refusal(
                    message: "the URL must not contain a user name (set Authorization under setFields)")
            }
            guard url.query == nil else { throw Refusal(message: "the URL must not contain a query") }
            let path = String(url.path.reversed().drop { $0 == "/" }.reversed())
            return Route.Upstream(
                origin: Origin(scheme: url.scheme, host: url.host, port: url.port), basePath: path)
        }
    }

    @Sendable private static func urlText(_ upstream: Route.Upstream) -> String {
        upstream.origin.description + upstream.basePath
    }
}

extension Codec where Value == String {
    /// An `http://` or `https://` address, kept as it is written.
    static var url: Codec {
        .plain("URL", isSecret: true) { (text) throws(Refusal) in
            _ = try WebAddress.parse(text)
            return text
        }
    }

    /// Where notifications go. Without userinfo: a receiver tells by the signature, or by a key in the path, who sends.
    static var webhook: Codec {
        .plain("URL", isSecret: true) { (text) throws(Refusal) in
            guard try WebAddress.parse(text).userinfo == nil else {
                throw Refusal(message: "the URL must not contain a user name or a password")
            }
            return text
        }
    }

    /// A host of an allow-list. The port does not matter there, so it is left out.
    static var host: Codec {
        .plain("host") { (text) throws(Refusal) in
            // An IPv6 address without brackets can be meant in only one way.
            if AddressText.isIPv6(text) { return "[\(text.lowercased())]" }
            guard let (host, port) = AddressText.hostAndPort(text),
                port.map({ AddressText.port($0) != nil }) ?? true
            else { throw Refusal(message: "\(JSONValue.text(text).excerpt) is not a host") }
            return host.contains(":") ? "[\(host)]" : host
        }
    }

    /// A literal address, or one with the length of a prefix behind a slash.
    static var network: Codec {
        .plain("address or address/prefix") { (text) throws(Refusal) in
            let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
            let address = String(parts[0])
            let bitCount = AddressText.isIPv4(address) ? 32 : AddressText.isIPv6(address) ? 128 : nil
            let length = parts.count == 1 ? 0 : AddressText.port(parts[1])
            guard let bitCount, let length, length <= bitCount else {
                throw Refusal(
                    message: "\(JSONValue.text(text).excerpt) is not an address "
                        + "(write 169.254.169.254 or fd00::/8)")
            }
            return text
        }
    }
}
