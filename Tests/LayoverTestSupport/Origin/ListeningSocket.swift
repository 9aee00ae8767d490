package import Glibc

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

    /// A port of 127.0.0.1 where nobody listens. This process has it until its end, so no other program is given it meanwhile.
    package static func refusingPort() throws -> Int { try refusing.get().number }

    private static let refusing: Result<ReservedPort, any Error> = Result { try ReservedPort() }

    /// Connects to a port of 127.0.0.1; the result is that of connect(2).
    static func connectToLoopback(_ descriptor: CInt, port: Int) -> CInt {
        var address = LoopbackAddress.make(port: port)
        return withAddress(&address) { connect(descriptor, $0, $1) }
    }

    /// True if a socket listens on this port of 127.0.0.1.
    static func canConnect(toPort port: Int) -> Bool {
        let descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        return connectToLoopback(descriptor, port: port) == 0
    }

    fileprivate static func bindToLoopback(_ descriptor: CInt, usingIPv6: Bool = false, onAllAddresses: Bool = false) -> Bool {
        if usingIPv6 {
            var address = sockaddr_in6()
            address.sin6_family = sa_family_t(AF_INET6)
            address.sin6_addr = in6addr_loopback
            return withAddress(&address) { bind(descriptor, $0, $1) } == 0
        }
        var address = LoopbackAddress.make(port: 0)
        if onAllAddresses { address.sin_addr.s_addr = 0 }
        return withAddress(&address) { bind(descriptor, $0, $1) } == 0
    }

    fileprivate static func port(of descriptor: CInt) -> Int? {
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

/// A port of the loopback address that refuses connections until an origin listens on it.
///
/// The socket is bound but does not listen, so nobody else is given the port; with SO_REUSEADDR on both sides
/// Linux lets the origin bind it all the same (socket(7)).
package final class ReservedPort: Sendable {
    package let number: Int
    private let descriptor: Int32

    /// - Parameter listening: True if the port accepts connections, for tests of a port that is in use.
    package init(listening: Bool = false) throws {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw ProcessError("No socket: errno \(errno).") }
        self.descriptor = descriptor
        var reuse: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &reuse, socklen_t(MemoryLayout<Int32>.size))
        guard ListeningSocket.bindToLoopback(descriptor), !listening || listen(descriptor, 1) == 0,
            let port = ListeningSocket.port(of: descriptor)
        else {
            close(descriptor)
            throw ProcessError("Cannot reserve a port: errno \(errno).")
        }
        number = port
    }

    deinit {
        close(descriptor)
    }
}

/// A port where connecting takes for ever: it listens, but its backlog is full, so the kernel drops what
/// comes (listen(2)).
package final class DeafOrigin: Sendable {
    package let port: Int
    private let descriptors: [CInt]

    package init() throws {
        let (listener, port) = try ListeningSocket.make(backlog: 0)
        self.port = port
        var descriptors = [listener]
        // One fits into a backlog of 0; a few more make sure of it.
        for _ in 1...4 {
            let descriptor = socket(
                AF_INET,
                CInt(SOCK_STREAM.rawValue) | CInt(SOCK_NONBLOCK.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
            guard descriptor >= 0 else { throw ListeningSocket.Failed(osError: errno) }
            _ = ListeningSocket.connectToLoopback(descriptor, port: port)
            descriptors.append(descriptor)
        }
        self.descriptors = descriptors
    }

    package func stop() {
        for descriptor in descriptors { close(descriptor) }
    }
}

/// Threads for servers in tests: detached, one closure each.
package enum OriginThreads {
    private final class Work {
        let run: @Sendable () -> Void
        init(run: @escaping @Sendable () -> Void) { self.run = run }
    }

    package static func start(_ run: @escaping @Sendable () -> Void) {
        var thread = pthread_t()
        let work = Unmanaged.passRetained(Work(run: run))
        let result = pthread_create(
            &thread, nil,
            { context in
                if let context { Unmanaged<Work>.fromOpaque(context).takeRetainedValue().run() }
                return nil
            }, work.toOpaque())
        precondition(result == 0, "no thread for a test server: errno \(result)")
        pthread_detach(thread)
    }
}

/// 127.0.0.1 as the socket calls want it.
package enum LoopbackAddress {
    package static func make(port: Int) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return address
    }
}
