import LayoverText

/// A host with an optional port: of a request target or of a Host field (RFC 3986 section 3.2).
package struct Authority: Hashable, Sendable {
    /// The host in lower case; an IPv6 literal without its brackets; a trailing dot is kept.
    /// IPv4 addresses and names are not told apart: how `0x7f.1` is read is for the resolver.
    package var host: String

    /// 1 to 65535, or nil for the default of the scheme.
    package var port: Int?

    /// Whether the host was written in brackets.
    package var isIPv6Literal: Bool

    package init(host: String, port: Int?, isIPv6Literal: Bool = false) {
        self.host = host
        self.port = port
        self.isIPv6Literal = isIPv6Literal
    }

    /// Reads `host[:port]`. Nil if the text is no valid authority.
    package init?(parsing text: String) {
        var text = text
        let authority = text.withUTF8 { utf8 -> Authority? in
            let bytes = UnsafeRawBufferPointer(utf8)
            return AuthorityRange(0..<bytes.count, in: bytes).map { $0.authority(in: bytes) }
        }
        guard let authority else { return nil }
        self = authority
    }
}

extension Authority: CustomStringConvertible {
    /// `host[:port]` as it stands in a URL or a Host field.
    package var description: String {
        let host = isIPv6Literal ? "[\(host)]" : host
        guard let port else { return host }
        return "\(host):\(port)"
    }
}

/// Where a valid authority stands in some bytes. Making one checks the syntax; no String is made
/// until somebody asks for it.
///
/// Stricter than RFC 3986 where its liberty only serves tricks: no userinfo, no empty host, no
/// empty port, no percent-encoding, no sub-delims, no IPvFuture, no zone, DNS lengths.
struct AuthorityRange: Sendable, Equatable {
    /// Without brackets.
    var host: Range<Int> { hostRange.range }
    private let hostRange: CompactRange
    /// 0 if there is none.
    let port: UInt16
    let isIPv6Literal: Bool

    init?(_ range: Range<Int>, in bytes: UnsafeRawBufferPointer) {
        guard let first = range.first else { return nil }
        var end: Int
        if bytes[first] == ASCII.bracketOpen {
            guard let close = ByteScan.first(ASCII.bracketClose, in: bytes, range),
                IPv6Literal.isValid((first + 1)..<close, in: bytes)
            else { return nil }
            hostRange = CompactRange((first + 1)..<close)
            isIPv6Literal = true
            end = close + 1
        } else {
            end = PercentCoding.unreservedEnd(range, in: bytes)
            hostRange = CompactRange(first..<end)
            isIPv6Literal = false
            guard Self.isName(first..<end, in: bytes) else { return nil }
        }
        guard end < range.upperBound else {
            port = 0
            return
        }
        guard bytes[end] == ASCII.colon,
            let number = Self.port((end + 1)..<range.upperBound, in: bytes)
        else { return nil }
        port = number
    }

    /// `1*5DIGIT` from 1 to 65535.
    private static func port(_ range: Range<Int>, in bytes: UnsafeRawBufferPointer) -> UInt16? {
        guard range.count <= 5, let number = DecimalNumber.value(of: range, in: bytes), number > 0
        else { return nil }
        return UInt16(exactly: number)
    }

    /// Labels of 1 to 63 bytes with dots between them, at most 253 bytes, perhaps a last dot
    /// (RFC 1035 section 2.3.4). A name that no resolver can look up is the client's mistake, and
    /// must not be mistaken for a name that cannot be resolved now.
    private static func isName(_ range: Range<Int>, in bytes: UnsafeRawBufferPointer) -> Bool {
        guard !range.isEmpty, range.count <= 254 else { return false }
        var labelStart = range.lowerBound
        for index in range where bytes[index] == ASCII.dot {
            guard index > labelStart, index - labelStart <= 63 else { return false }
            labelStart = index + 1
        }
        return range.upperBound - labelStart <= 63
            && (labelStart < range.upperBound || range.count > 1)
            && (range.count <= 253 || labelStart == range.upperBound)
    }

    func authority(in bytes: UnsafeRawBufferPointer) -> Authority {
        let host = String(unsafeUninitializedCapacity: host.count) { target in
            var count = 0
            for index in self.host {
                target[count] = ByteClass.lowercased(bytes[index])
                count += 1
            }
            return count
        }
        return Authority(
            host: host, port: port == 0 ? nil : Int(port), isIPv6Literal: isIPv6Literal)
    }
}
