#if canImport(Glibc)
import Glibc
#endif

/// An IPv4 or IPv6 address as 16 bytes; IPv4 stands in its IPv4-mapped form (RFC 4291 section 2.5.5.2).
struct NetworkAddress: Sendable, Hashable {
    let bytes: [UInt8]

    /// Reads a numeric address, with or without a zone; nil for anything else.
    init?(_ text: String) {
        let text = String(text.prefix { $0 != "%" })
        var six = in6_addr()
        if inet_pton(AF_INET6, text, &six) == 1 {
            bytes = withUnsafeBytes(of: &six) { Array($0) }
            return
        }
        var four = in_addr()
        guard inet_pton(AF_INET, text, &four) == 1 else { return nil }
        bytes = Self.bytes(of: four)
    }

    /// Reads every spelling that inet_aton(3) takes, which is what getaddrinfo(3) takes.
    init?(anySpelling text: String) {
        if let address = NetworkAddress(text) {
            self = address
            return
        }
        var four = in_addr()
        guard inet_aton(text, &four) == 1 else { return nil }
        bytes = Self.bytes(of: four)
    }

    private static func bytes(of four: in_addr) -> [UInt8] {
        var four = four
        return mappedPrefix + withUnsafeBytes(of: &four) { Array($0) }
    }

    private static let mappedPrefix: [UInt8] = Array(repeating: 0, count: 10) + [0xff, 0xff]

    var isIPv4: Bool { bytes.starts(with: Self.mappedPrefix) }

    var isUnspecified: Bool {
        bytes.allSatisfy { $0 == 0 } || (isIPv4 && bytes[12...].allSatisfy { $0 == 0 })
    }

    var isLoopback: Bool {
        isIPv4 ? bytes[12] == 127 : bytes.dropLast().allSatisfy { $0 == 0 } && bytes[15] == 1
    }

    /// 169.254.0.0/16 and fe80::/10 (where clouds keep their metadata), the IPv6 metadata address of
    /// EC2, and what is no single host at all: multicast and broadcast.
    var isProhibited: Bool {
        if isIPv4 {
            return (bytes[12] == 169 && bytes[13] == 254) || bytes[12] >= 224
        }
        return (bytes[0] == 0xfe && bytes[1] & 0xc0 == 0x80) || bytes[0] == 0xff
            || bytes == Self.metadata
    }

    private static let metadata: [UInt8] =
        [0xfd, 0x00, 0x0e, 0xc2] + Array(repeating: 0, count: 10) + [0x02, 0x54]

    /// Whether a literal or `address/prefix` covers this address.
    func isCovered(by rule: String) -> Bool {
        let parts = rule.split(separator: "/", maxSplits: 1)
        guard let first = parts.first, let base = NetworkAddress(String(first)) else { return false }
        guard parts.count == 2 else { return base == self }
        guard let length = Int(parts[1]), length >= 0 else { return false }
        let bits = length + (base.isIPv4 ? 96 : 0)
        guard bits <= 128, base.isIPv4 == isIPv4 else { return false }
        return (0..<bits).allSatisfy { bit in
            (bytes[bit / 8] ^ base.bytes[bit / 8]) & (0x80 >> UInt8(bit % 8)) == 0
        }
    }
}
