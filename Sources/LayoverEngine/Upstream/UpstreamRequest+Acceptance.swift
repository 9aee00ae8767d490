import LayoverCore
import LayoverText

extension UpstreamRequest {
    /// Whether the request can be written into a request head without becoming another request.
    ///
    /// The proxy's parser lets nothing else through; requests also come from the store and from the
    /// admin API, and libcurl would interpret a host's percent signs and userinfo.
    package var isAcceptable: Bool {
        Self.isHost(origin.host) && (1...65535).contains(origin.port)
            && Self.isVisible(method) && Self.isVisible(target)
            && host.allBytes { $0 > 0x20 && $0 != 0x7F }
            && (framing == .none) == (body == nil)
    }

    private static func isVisible(_ text: String) -> Bool {
        !text.isEmpty && text.allBytes { $0 > 0x20 && $0 != 0x7F }
    }

    /// A name, an IPv4 address or an IPv6 literal without a zone. All ASCII: libcurl would turn anything else
    /// into a name that our resolver was not asked for (RFC 5891).
    private static func isHost(_ host: String) -> Bool {
        guard !host.isEmpty, host.utf8.count <= 255 else { return false }
        if !host.allBytes({ $0 != UInt8(ascii: ":") }) {
            return host.allBytes {
                Hexadecimal.value(of: $0) != nil || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: ".")
            }
        }
        var host = host
        return host.withUTF8 { bytes in
            PercentCoding.unreservedEnd(0..<bytes.count, in: UnsafeRawBufferPointer(bytes)) == bytes.count
        }
    }
}
