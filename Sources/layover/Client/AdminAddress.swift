/// Where an admin API listens.
struct AdminAddress: Sendable, Equatable, CustomStringConvertible {
    static let standard = "http://127.0.0.1:8081"

    /// The path of a Unix socket to connect to; nil: the connection is made by TCP.
    var socketPath: String?
    /// An IPv6 literal without its brackets.
    var host: String
    var port: Int
    /// The prefix of each path, without a slash at its end. Mostly empty.
    var prefix: String

    /// Reads `http://host[:port][/prefix]`, where `http://` may be left out, and `unix:/path`.
    init(_ text: String) throws(CommandFailure) {
        if text.hasPrefix("unix:") {
            // A name that every configuration admits.
            (socketPath, host, port, prefix) = (String(text.dropFirst(5)), "localhost", 80, "")
            guard text.count > 5 else { throw Self.refusal(text, "expected the path of a socket, such as unix:/run/admin.sock") }
            return
        }
        let parts = text.split(separator: "://", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 1 || parts[0].lowercased() == "http" else {
            throw Self.refusal(text, "only http:// is supported")
        }
        let rest = parts.last ?? ""
        let authority = rest.prefix { $0 != "/" }
        var path = rest[authority.endIndex...]
        while path.hasSuffix("/") { path = path.dropLast() }
        prefix = String(path)
        (host, port) = try Self.split(authority, of: text)
        guard !host.isEmpty, !authority.contains("@"), !path.contains("?") else {
            throw Self.refusal(text, "expected a URL such as \(Self.standard)")
        }
    }

    /// As a URL without a slash at its end.
    var url: String { "http://\(authority)\(prefix)" }

    private static func split(_ authority: Substring, of text: String) throws(CommandFailure) -> (String, Int) {
        var host = authority
        var port: Substring?
        if authority.hasPrefix("[") {
            guard let end = authority.firstIndex(of: "]") else { throw refusal(text, "a closing bracket is missing") }
            host = authority[authority.index(after: authority.startIndex)..<end]
            let after = authority[authority.index(after: end)...]
            guard after.isEmpty || after.hasPrefix(":") else { throw refusal(text, "the port must be a number from 1 to 65535") }
            port = after.isEmpty ? nil : after.dropFirst()
        } else if let colon = authority.lastIndex(of: ":") {
            (host, port) = (authority[..<colon], authority[authority.index(after: colon)...])
        }
        guard let port else { return (String(host), 80) }
        // `UInt16` would take a sign too.
        guard port.allSatisfy(\.isNumber), let number = UInt16(port), number > 0 else {
            throw refusal(text, "the port must be a number from 1 to 65535")
        }
        return (String(host), Int(number))
    }

    private static func refusal(_ text: String, _ reason: String) -> CommandFailure {
        CommandFailure(code: .usage, message: "admin URL '\(text)': \(reason)")
    }

    /// As people write it.
    var description: String { socketPath.map { "unix:\($0)" } ?? "http://\(authority)" }

    /// `host:port` as in Host.
    var authority: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}
