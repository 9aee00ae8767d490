import Glibc
package import LayoverCore
import LayoverText
import Synchronization

/// Refuses Layover's own listeners, under any spelling and name, and addresses that no request should reach
/// by accident: link-local ones, where clouds keep their metadata.
package final class OwnAddressGuard: AddressGuard {
    private struct Listener {
        var address: NetworkAddress
        var port: Int
    }

    private let listeners = Mutex<[Listener]>([])

    package init() {}

    /// Names a listener of this process, once it is bound. Blocks where its name has to be resolved.
    package func add(host: String, port: Int) {
        let addresses = NetworkAddress(anySpelling: host).map { [$0] } ?? Self.addresses(of: host)
        listeners.withLock { $0 += addresses.map { Listener(address: $0, port: port) } }
    }

    /// All that a name stands for: which of them was bound is not known.
    private static func addresses(of name: String) -> [NetworkAddress] {
        var first: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(name, nil, nil, &first) == 0 else { return [] }
        defer { freeaddrinfo(first) }
        var found: Set<NetworkAddress> = []
        var next = first
        while let entry = next?.pointee {
            next = entry.ai_next
            if let address = entry.ai_addr.flatMap({ numeric($0, entry.ai_addrlen) }) { found.insert(address) }
        }
        return Array(found)
    }

    private static func numeric(_ address: UnsafeMutablePointer<sockaddr>, _ length: socklen_t) -> NetworkAddress? {
        var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
        guard getnameinfo(address, length, &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST) == 0 else { return nil }
        return NetworkAddress(String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self))
    }

    package func refusal(of address: String, port: Int, allow: [String]) -> FailureKind? {
        guard let address = NetworkAddress(address) else { return nil }
        return refusal(of: address, port: port, allow: allow)
    }

    package func refusal(ofLiteral host: String, port: Int, allow: [String]) -> FailureKind? {
        // A trailing dot marks a name as complete (RFC 1034 section 3.1); it is the same host.
        let name = host.lowercased()
        let host = name.hasSuffix(".") ? String(name.dropLast()) : name
        if host == "localhost" || host.hasSuffix(".localhost") {
            // Both families: whichever the resolver prefers.
            return refusal(of: "127.0.0.1", port: port, allow: allow)
                ?? refusal(of: "::1", port: port, allow: allow)
        }
        // Reads IPv6 addresses, and IPv4 addresses in any form that inet_aton(3) takes. Anything else is a name, which is not refused here.
        guard let address = NetworkAddress(anySpelling: host) else { return nil }
        return refusal(of: address, port: port, allow: allow)
    }

    private func refusal(of address: NetworkAddress, port: Int, allow: [String]) -> FailureKind? {
        let isOwn = listeners.withLock { listeners in
            listeners.contains { $0.port == port && Self.reaches(address, $0.address) }
        }
        if isOwn { return .proxyLoopDetected }
        if address.isProhibited, !allow.contains(where: address.isCovered(by:)) {
            return .destinationIPProhibited
        }
        return nil
    }

    /// Whether a connection to an address arrives at a listener.
    private static func reaches(_ address: NetworkAddress, _ listener: NetworkAddress) -> Bool {
        if listener.isUnspecified {
            return address.isUnspecified || address.isLoopback || localAddresses().contains(address)
        }
        // The system takes the unspecified address for this machine.
        return address == listener || (address.isUnspecified && listener.isLoopback)
    }

    private static func localAddresses() -> Set<NetworkAddress> {
        var first: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&first) == 0 else { return [] }
        defer { freeifaddrs(first) }
        var addresses: Set<NetworkAddress> = []
        var next = first
        while let interface = next?.pointee {
            next = interface.ifa_next
            guard let address = interface.ifa_addr else { continue }
            let family = Int32(address.pointee.sa_family)
            guard family == AF_INET || family == AF_INET6 else { continue }
            let length = family == AF_INET ? MemoryLayout<sockaddr_in>.size : MemoryLayout<sockaddr_in6>.size
            if let found = numeric(address, socklen_t(length)) { addresses.insert(found) }
        }
        return addresses
    }
}

/// Decides which addresses must not be connected to, whatever name they were resolved from.
package protocol AddressGuard: Sendable {
    /// - Parameters:
    ///   - address: Numeric IPv4 or IPv6 address, without brackets or zone.
    ///   - allow: Exceptions of the route: literals or `address/prefix`.
    /// - Returns: Why the address is refused, or nil.
    func refusal(of address: String, port: Int, allow: [String]) -> FailureKind?

    /// The same for the host of a request, before any attempt: every spelling of an address that
    /// getaddrinfo(3) would take (`127.1`, `0x7f000001`, `0`), and `localhost`. Nil for names.
    func refusal(ofLiteral host: String, port: Int, allow: [String]) -> FailureKind?
}
