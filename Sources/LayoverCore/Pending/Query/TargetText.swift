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
        var decoded: [UInt8] = []
        var index = 0
        while index < bytes.count {
            if bytes[index] == UInt8(ascii: "%"), index + 2 < bytes.count,
                let high = hexadecimal(bytes[index + 1]), let low = hexadecimal(bytes[index + 2])
            {
                decoded.append(high << 4 | low)
                index += 3
            } else {
                decoded.append(bytes[index])
                index += 1
            }
        }
        return String(validating: decoded, as: UTF8.self)
    }

    static func hexadecimal(_ digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
