import LayoverText

/// The parts of a target as it stands in an entry, read leniently: it was parsed strictly when it came.
package enum TargetText {
    /// The path, still percent-encoded; empty for the `host:port` of a CONNECT.
    static func path(of url: String) -> String {
        let bytes = url.utf8
        guard let scheme = bytes.firstRange(of: "://".utf8) else {
            return bytes.first == UInt8(ascii: "/") ? String(url.prefix { $0 != "?" && $0 != "#" }) : ""
        }
        let rest = url[scheme.upperBound...]
        guard let start = rest.firstIndex(where: { "/?#".contains($0) }) else { return "" }
        return String(rest[start...].prefix { $0 != "?" && $0 != "#" })
    }

    /// The text behind percent-encoding (RFC 3986 section 2.1); nil if there is none, or it is no UTF-8.
    package static func percentDecoded(_ text: String) -> String? {
        let bytes = Array(text.utf8)
        guard bytes.contains(UInt8(ascii: "%")) else { return nil }
        return String(validating: PercentCoding.decodeLeniently(bytes), as: UTF8.self)
    }
}
