import Glibc

/// What the host of an origin is to a resolver.
enum HostName: Sendable, Equatable {
    /// An address in any spelling that libcurl and getaddrinfo(3) take (`127.1`, `0x7f000001`, `0`).
    case literal
    /// `localhost` or below it: loopback by definition, and nobody is asked (RFC 6761 section 6.3).
    case loopback
    /// No name that the DNS can hold (RFC 1035 section 2.3.4), so nobody is asked.
    case impossible
    /// A name in lower case. A last dot stays: it keeps the search list away (resolv.conf(5)).
    case name(String)

    init(_ host: String) {
        if host.utf8.contains(UInt8(ascii: ":")) || Self.isIPv4(host) {
            self = .literal
            return
        }
        let name = host.lowercased()
        let bare = name.hasSuffix(".") ? name.dropLast() : name[...]
        if bare == "localhost" || bare.hasSuffix(".localhost") {
            self = .loopback
        } else if Self.isPossible(bare) {
            self = .name(name)
        } else {
            self = .impossible
        }
    }

    private static func isIPv4(_ host: String) -> Bool {
        // No spelling begins with anything but a digit; that spares most names the call.
        guard let first = host.utf8.first, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first)
        else { return false }
        var address = in_addr()
        return inet_aton(host, &address) == 1
    }

    private static func isPossible(_ name: Substring) -> Bool {
        guard name.utf8.count <= 253 else { return false }
        return name.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
            .allSatisfy { (1...63).contains($0.count) }
    }
}
