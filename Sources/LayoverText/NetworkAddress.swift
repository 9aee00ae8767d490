import Glibc

/// An IPv4 or IPv6 address as 16 bytes; IPv4 stands in its IPv4-mapped form (RFC 4291 section 2.5.5.2).
package struct NetworkAddress: Sendable, Hashable {
    private let bytes: [UInt8]

    /// Reads a numeric address, with or without a zone; nil for anything else.
    package init?(_ text: String) {
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
    package init?(anySpelling text: String) {
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

    /// The network that one customer usually has: the address itself, or the /64 of an IPv6 address (RFC 6177).
    package var network: NetworkAddress { isIPv4 ? self : NetworkAddress(bytes: bytes[..<8] + Array(repeating: 0, count: 8)) }

    private init(bytes: ArraySlice<UInt8>) { self.bytes = Array(bytes) }

    package var isIPv4: Bool { bytes.starts(with: Self.mappedPrefix) }

    package var isUnspecified: Bool {
        bytes.allSatisfy { $0 == 0 } || (isIPv4 && bytes[12...].allSatisfy { $0 == 0 })
    }

    package var isLoopback: Bool {
        isIPv4 ? bytes[12] == 127 : bytes.dropLast().allSatisfy { $0 == 0 } && bytes[15] == 1
    }

    /// 169.254.0.0/16 and fe80::/10 (where clouds keep their metadata), the metadata addresses of clouds outside of these, and what is no
    /// single host at all: multicast and broadcast. An IPv6 address that leads to one of them by a translator counts as that one. The whole
    /// prefix of local translators (RFC 8215) counts too: nobody but its network knows what is behind it.
    package var isProhibited: Bool {
        if isIPv4 {
            return (bytes[12] == 169 && bytes[13] == 254) || bytes[12] >= 224 || Self.metadata4.contains(Array(bytes[12...]))
        }
        if let inner { return inner.isProhibited }
        if bytes.starts(with: [0x00, 0x64, 0xff, 0x9b, 0x00, 0x01]) { return true }
        return (bytes[0] == 0xfe && bytes[1] & 0xc0 == 0x80) || bytes[0] == 0xff || Self.metadata6.contains(bytes)
    }

    /// The IPv4 address inside: IPv4-compatible (RFC 4291 section 2.5.5.1), 6to4 (RFC 3056), or translated (RFC 6052 section 2.1).
    private var inner: NetworkAddress? {
        if bytes.starts(with: [0x20, 0x02]) { return NetworkAddress(four: bytes[2..<6]) }
        if bytes.starts(with: [0x00, 0x64, 0xff, 0x9b] + Array(repeating: 0, count: 8)) { return NetworkAddress(four: bytes[12...]) }
        // `::` and `::1` are no IPv4 addresses.
        guard bytes[..<12].allSatisfy({ $0 == 0 }), bytes[12...14].contains(where: { $0 != 0 }) else { return nil }
        return NetworkAddress(four: bytes[12...])
    }

    private init(four: ArraySlice<UInt8>) { bytes = Self.mappedPrefix + four }

    /// Alibaba Cloud, Oracle Cloud, Azure.
    private static let metadata4: [[UInt8]] = [[100, 100, 100, 200], [192, 0, 0, 192], [168, 63, 129, 16]]
    /// EC2 (fd00:ec2::254), Google Cloud (fd20:ce::254).
    private static let metadata6: [[UInt8]] = [[0xfd, 0x00, 0x0e, 0xc2], [0xfd, 0x20, 0x00, 0xce]].map {
        $0 + Array(repeating: 0, count: 10) + [0x02, 0x54]
    }

    /// Whether a literal or `address/prefix` covers this address.
    package func isCovered(by rule: String) -> Bool {
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
