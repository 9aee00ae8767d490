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

    /// The path as it is shown, if that is plain: ASCII, without percent-encoding and without the id of a ticket.
    ///
    /// - Returns: What `work` returns for it, which has no bytes for the `host:port` of a CONNECT; nil: it is not plain.
    static func withPlainPath<Value>(of url: String, _ work: (UnsafeBufferPointer<UInt8>) -> Value) -> Value? {
        var url = url
        return url.withUTF8 { url in
            guard let path = path(of: url) ?? (url.first == slash ? nil : UnsafeBufferPointer(rebasing: url[..<0])),
                ASCIIScan.isPlain(path), !ASCIIScan.hasTicketWord(path)
            else { return nil }
            return work(path)
        }
    }

    /// Nil: there is no authority.
    private static func path(of url: UnsafeBufferPointer<UInt8>) -> UnsafeBufferPointer<UInt8>? {
        var index = 0
        while index + 2 < url.count, !(url[index] == colon && url[index + 1] == slash && url[index + 2] == slash) { index += 1 }
        guard index + 2 < url.count else { return nil }
        index += 3
        while index < url.count, url[index] != slash, url[index] != question, url[index] != hash { index += 1 }
        let start = index
        while index < url.count, url[index] != question, url[index] != hash { index += 1 }
        return UnsafeBufferPointer(rebasing: url[start..<index])
    }

    // Computed: a stored one would be asked each time whether it is there yet.
    private static var colon: UInt8 { UInt8(ascii: ":") }
    private static var slash: UInt8 { UInt8(ascii: "/") }
    private static var question: UInt8 { UInt8(ascii: "?") }
    private static var hash: UInt8 { UInt8(ascii: "#") }

    /// The text behind percent-encoding (RFC 3986 section 2.1); nil if there is none, or it is no UTF-8.
    package static func percentDecoded(_ text: String) -> String? {
        let bytes = Array(text.utf8)
        guard bytes.contains(UInt8(ascii: "%")) else { return nil }
        return String(validating: PercentCoding.decodeLeniently(bytes), as: UTF8.self)
    }
}
