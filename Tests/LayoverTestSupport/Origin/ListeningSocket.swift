import Glibc

/// Makes listening sockets for tests.
package enum ListeningSocket {
    package struct Failed: Error { package var osError: CInt }

    /// Listens on a free port of the loopback address, or of all addresses of IPv4.
    package static func make(
        usingIPv6: Bool = false, onAllAddresses: Bool = false, backlog: CInt = 512
    ) throws -> (descriptor: CInt, port: Int) {
        let family = usingIPv6 ? AF_INET6 : AF_INET
        let descriptor = socket(
            family, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw Failed(osError: errno) }
        guard bindToLoopback(descriptor, usingIPv6: usingIPv6, onAllAddresses: onAllAddresses), listen(descriptor, backlog) == 0,
            let port = port(of: descriptor)
        else {
            defer { close(descriptor) }
            throw Failed(osError: errno)
        }
        return (descriptor, port)
    }

    /// A port of 127.0.0.1 where nobody listens: it was free a moment ago.
    package static func refusingPort() throws -> Int {
        let (descriptor, port) = try make()
        close(descriptor)
        return port
    }

    /// Connects to a port of 127.0.0.1; the result is that of connect(2).
    static func connectToLoopback(_ descriptor: CInt, port: Int) -> CInt {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        address.sin_port = in_port_t(port).bigEndian
        return withAddress(&address) { connect(descriptor, $0, $1) }
    }

    /// True if a socket listens on this port of 127.0.0.1.
    static func canConnect(toPort port: Int) -> Bool {
        let descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        return connectToLoopback(descriptor, port: port) == 0
    }

    private static func bindToLoopback(_ descriptor: CInt, usingIPv6: Bool, onAllAddresses: Bool) -> Bool {
        if usingIPv6 {
            var address = sockaddr_in6()
            address.sin6_family = sa_family_t(AF_INET6)
            address.sin6_addr = in6addr_loopback
            return withAddress(&address) { bind(descriptor, $0, $1) } == 0
        }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = onAllAddresses ? 0 : in_addr_t(0x7F00_0001).bigEndian
        return withAddress(&address) { bind(descriptor, $0, $1) } == 0
    }

    private static func port(of descriptor: CInt) -> Int? {
        var address = sockaddr_in6()
        var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
        let result = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                getsockname(descriptor, $0, &length)
            }
        }
        // The port is at the same place in sockaddr_in and sockaddr_in6.
        return result == 0 ? Int(UInt16(bigEndian: address.sin6_port)) : nil
    }

    private static func withAddress<Address>(
        _ address: inout Address, _ body: (UnsafePointer<sockaddr>, socklen_t) -> CInt
    ) -> CInt {
        withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<Address>.size))
            }
        }
    }
}
