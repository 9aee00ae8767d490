import Glibc

/// getaddrinfo(3): whatever this machine is set up to ask (nsswitch.conf(5), resolv.conf(5)).
enum SystemLookup {
    /// More than anybody will try within one attempt.
    private static let addressCountMax = 32

    /// Blocks, with silent servers for up to half a minute.
    static func lookUp(_ name: String) -> NameOutcome {
        var hints = addrinfo()
        // Not AI_ADDRCONFIG: on a machine without a network it makes every name "unknown".
        hints.ai_family = hasIPv6 ? AF_UNSPEC : AF_INET
        hints.ai_socktype = CInt(SOCK_STREAM.rawValue)
        var first: UnsafeMutablePointer<addrinfo>?
        let code = getaddrinfo(name, nil, &hints, &first)
        guard code == 0 else { return .failed(failure(of: code, osError: errno)) }
        defer { freeaddrinfo(first) }
        var addresses: [String] = []
        var next = first
        while let info = next?.pointee, addresses.count < addressCountMax {
            next = info.ai_next
            if let address = text(of: info), !addresses.contains(address) { addresses.append(address) }
        }
        return addresses.isEmpty
            ? .failed(.noAddress) : .addresses(addresses.joined(separator: ","))
    }

    /// The addresses of `localhost`.
    static var loopback: String { hasIPv6 ? "[::1],127.0.0.1" : "127.0.0.1" }

    /// The meaning of a result of getaddrinfo(3). The numbers are glibc's (netdb.h), which does not show all of
    /// them to programs without _GNU_SOURCE.
    static func failure(of code: Int32, osError: Int32) -> NameFailure {
        switch code {
        // EAI_NONAME: every source that was asked says so with authority. No answer is EAI_AGAIN.
        case -2: .unknown
        // EAI_NODATA, EAI_ADDRFAMILY.
        case -5, -9: .noAddress
        // EAI_AGAIN: also SERVFAIL, an unreachable server, an empty resolv.conf without a local server.
        case -3: .noResolver
        // EAI_FAIL: also REFUSED and FORMERR.
        case -4: .refused
        // EAI_SYSTEM.
        case -11: .system(osError)
        // EAI_MEMORY and whatever else.
        default: .system(code)
        }
    }

    /// Whether IPv6 sockets can be made: where not, connecting could only fail.
    private static var hasIPv6: Bool {
        let descriptor = socket(AF_INET6, CInt(SOCK_DGRAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
        if descriptor >= 0 { close(descriptor) }
        return descriptor >= 0
    }

    /// Without a zone: libcurl takes none here, and link-local addresses are refused by default.
    private static func text(of info: addrinfo) -> String? {
        guard let address = info.ai_addr else { return nil }
        var buffer = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        let bytes: UnsafePointer<CChar>?
        switch info.ai_family {
        case AF_INET:
            bytes = address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
                inet_ntop(AF_INET, &$0.pointee.sin_addr, &buffer, socklen_t(buffer.count))
            }
        case AF_INET6:
            bytes = address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) {
                inet_ntop(AF_INET6, &$0.pointee.sin6_addr, &buffer, socklen_t(buffer.count))
            }
        default: return nil
        }
        guard bytes != nil else { return nil }
        let text = String(
            decoding: buffer.prefix { $0 != 0 }.lazy.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return info.ai_family == AF_INET6 ? "[\(text)]" : text
    }
}
