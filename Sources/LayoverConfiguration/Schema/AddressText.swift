import Foundation
import LayoverCore

/// Checks of literal addresses and host names. Nothing here asks a resolver.
enum AddressText {
    /// Four decimal numbers; none of the short or hexadecimal forms that inet_aton(3) takes.
    static func isIPv4(_ text: String) -> Bool {
        var address = in_addr()
        return inet_pton(AF_INET, text, &address) == 1
    }

    /// Without brackets and without a zone.
    static func isIPv6(_ text: String) -> Bool {
        var address = in6_addr()
        return inet_pton(AF_INET6, text, &address) == 1
    }

    /// A host name or an IPv4 address, in any case.
    ///
    /// A text that looks like a number but is no IPv4 address is refused: resolvers read `127.1` as 127.0.0.1.
    static func isName(_ text: String) -> Bool {
        guard !text.isEmpty, text.utf8.count <= 253 else { return false }
        let labels = text.split(separator: ".", omittingEmptySubsequences: false)
        guard labels.allSatisfy(isLabel), let last = labels.last else { return false }
        let looksLikeNumber = last.first?.isNumber == true && last.allSatisfy(\.isHexDigitOrX)
        return looksLikeNumber ? isIPv4(text) : true
    }

    private static func isLabel(_ label: Substring) -> Bool {
        (1...63).contains(label.utf8.count) && label.first != "-" && label.last != "-"
            && label.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-" || $0 == "_") }
    }

    /// A name, an IPv4 address, or an IPv6 address in brackets, split from the port behind it.
    ///
    /// - Returns: The host in lower case without brackets, and the text after the colon if there is
    ///   one.
    static func hostAndPort(_ text: String) -> (host: String, port: Substring?)? {
        if text.hasPrefix("[") {
            guard let end = text.firstIndex(of: "]") else { return nil }
            let host = String(text[text.index(after: text.startIndex)..<end]).lowercased()
            let rest = text[text.index(after: end)...]
            guard isIPv6(host), rest.isEmpty || rest.hasPrefix(":") else { return nil }
            return (host, rest.isEmpty ? nil : rest.dropFirst())
        }
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        let host = String(parts[0]).lowercased()
        return isName(host) ? (host, parts.count > 1 ? parts[1] : nil) : nil
    }

    /// Digits only, at most 65535.
    static func port(_ text: Substring) -> Int? {
        guard (1...5).contains(text.utf8.count), text.allSatisfy({ $0.isASCII && $0.isNumber }),
            let port = Int(text), port <= 65535
        else { return nil }
        return port
    }
}

extension Character {
    fileprivate var isHexDigitOrX: Bool { isHexDigit || self == "x" || self == "X" }
}

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
