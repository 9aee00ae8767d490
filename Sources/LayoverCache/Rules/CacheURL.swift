import LayoverCore
import LayoverHTTP

/// The URL of a kept response: absolute, without a fragment. The target stays as the client wrote it, because only the
/// origin knows which spellings are equal.
struct CacheURL: Sendable, Hashable {
    let origin: Origin
    let target: String

    var text: String { origin.description + target }

    /// A reference in a field of a response to a request for this URL (RFC 3986 section 5.2); nil if the reference is not to http
    /// or https.
    func resolving(_ reference: String) -> CacheURL? {
        let reference = String(ListText.trimmed(reference).prefix { $0 != "#" })
        if let (scheme, rest) = Self.scheme(of: reference) {
            guard let scheme, rest.hasPrefix("//") else { return nil }
            return Self.parse(scheme, rest.dropFirst(2))
        }
        if reference.hasPrefix("//") { return Self.parse(origin.scheme, reference.dropFirst(2)) }
        if reference.hasPrefix("/") { return Self(origin: origin, target: Self.withoutDots(reference)) }
        let path = target.prefix { $0 != "?" }
        if reference.isEmpty { return self }
        if reference.hasPrefix("?") { return Self(origin: origin, target: path + reference) }
        let folder = path.lastIndex(of: "/").map { path[...$0] } ?? "/"
        return Self(origin: origin, target: Self.withoutDots(folder + reference))
    }

    /// The scheme in front of the colon, nil inside if it is not ours; nil if the reference is relative.
    private static func scheme(of reference: String) -> (Origin.Scheme?, Substring)? {
        let name = reference.prefix { $0 != ":" && $0 != "/" && $0 != "?" }
        guard name.endIndex < reference.endIndex, reference[name.endIndex] == ":", !name.isEmpty else { return nil }
        let rest = reference[name.endIndex...].dropFirst()
        switch name.lowercased() {
        case "http": return (.http, rest)
        case "https": return (.https, rest)
        default: return (nil, rest)
        }
    }

    private static func parse(_ scheme: Origin.Scheme, _ rest: Substring) -> CacheURL? {
        let authorityText = rest.prefix { $0 != "/" && $0 != "?" }
        guard let authority = Authority(parsing: String(authorityText)) else { return nil }
        let path = rest[authorityText.endIndex...]
        let target = path.hasPrefix("/") ? withoutDots(String(path)) : "/" + path
        return CacheURL(
            origin: Origin(scheme: scheme, host: authority.host, port: authority.port), target: target)
    }

    /// Removes `.` and `..` from the path (RFC 3986 section 5.2.4). Begins with a slash.
    private static func withoutDots(_ target: String) -> String {
        let path = target.prefix { $0 != "?" }
        var kept: [Substring] = []
        let segments = path.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
        for (index, segment) in segments.enumerated() {
            let isLast = index == segments.count - 1
            switch segment {
            case ".": if isLast { kept.append("") }
            case "..":
                _ = kept.popLast()
                if isLast { kept.append("") }
            default: kept.append(segment)
            }
        }
        return "/" + kept.joined(separator: "/") + target[path.endIndex...]
    }
}
