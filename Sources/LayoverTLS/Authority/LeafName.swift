import Glibc

/// The name of a server as a certificate has it: a host name in lower case without a dot at its end, or an IP address.
package struct LeafName: Sendable, Hashable {
    package let text: String
    package let isAddress: Bool
    /// The bytes in the certificate: the letters of a name, or the 4 or 16 bytes of an address.
    let bytes: [UInt8]

    /// Reads a name as it is in a request or a ClientHello: in any case, with or without a dot at its end, an IPv6 address with or without
    /// brackets. Names in other alphabets have their ASCII form (`xn--…`) there.
    ///
    /// Nil: the text is neither an address nor a host name (RFC 1123 section 2.1; underscores are in use).
    package init?(_ name: String) {
        var name = name.lowercased()
        if name.hasPrefix("["), name.hasSuffix("]") { name = String(name.dropFirst().dropLast()) }
        if let address = Self.address(name) {
            (text, bytes, isAddress) = (address.text, address.bytes, true)
            return
        }
        if name.hasSuffix(".") { name.removeLast() }
        // RFC 1035 section 2.3.4.
        guard !name.isEmpty, name.utf8.count <= 253 else { return nil }
        for label in name.split(separator: ".", omittingEmptySubsequences: false) {
            guard 1...63 ~= label.utf8.count, label.utf8.allSatisfy(Self.isAllowed) else { return nil }
        }
        (text, bytes, isAddress) = (name, Array(name.utf8), false)
    }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"): true
        default: false
        }
    }

    /// An address in its one spelling (inet_ntop(3)).
    private static func address(_ name: String) -> (text: String, bytes: [UInt8])? {
        for (family, count) in [(AF_INET, 4), (AF_INET6, 16)] {
            var bytes = [UInt8](repeating: 0, count: count)
            guard inet_pton(family, name, &bytes) == 1 else { continue }
            var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
            guard inet_ntop(family, bytes, &text, socklen_t(text.count)) != nil else { return nil }
            return (String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self), bytes)
        }
        return nil
    }
}
