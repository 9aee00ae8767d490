import LayoverCore
import LayoverHTTP

extension CacheSelection {
    /// All variants of the URL that a person wrote; nil if the text is no absolute http or https URL. Path and query must be
    /// those of the requests, byte for byte; a fragment is ignored.
    package init?(url text: String) {
        let whole = text.prefix { $0 != "#" }
        guard let colon = whole.firstIndex(of: ":"), whole[colon...].hasPrefix("://"),
            let scheme = Origin.Scheme(rawValue: whole[..<colon].lowercased()), scheme != .tunnel
        else { return nil }
        let rest = whole[colon...].dropFirst(3)
        let authorityText = rest.prefix { $0 != "/" && $0 != "?" }
        guard let authority = Authority(parsing: String(authorityText)) else { return nil }
        let path = rest[authorityText.endIndex...]
        self = .url(
            Origin(scheme: scheme, host: authority.host, port: authority.port),
            target: path.hasPrefix("/") ? String(path) : "/" + path)
    }
}
