import Glibc
package import NIOCore

/// The address of this machine that a connection uses.
package enum LocalAddress {
    /// Whether the address of a connected socket is no address of this machine any more: nothing that is sent to it arrives.
    ///
    /// The kernel is asked by binding another socket to the address. Unknown is no: false where it cannot be asked.
    package static func isGone(from descriptor: CInt) -> Bool {
        var address = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let isKnown = withUnsafeMutablePointer(to: &address) { storage in
            storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) == 0 }
        }
        return isKnown && isGone(&address, length)
    }

    /// The same for the local address of a channel.
    package static func isGone(_ address: SocketAddress) -> Bool {
        address.withSockAddr { bytes, count in
            var storage = sockaddr_storage()
            guard count <= MemoryLayout<sockaddr_storage>.size else { return false }
            withUnsafeMutableBytes(of: &storage) { $0.copyMemory(from: UnsafeRawBufferPointer(start: bytes, count: count)) }
            return isGone(&storage, socklen_t(count))
        }
    }

    private static func isGone(_ address: inout sockaddr_storage, _ length: socklen_t) -> Bool {
        let family = CInt(address.ss_family)
        guard family == AF_INET || family == AF_INET6 else { return false }
        let probe = socket(family, CInt(SOCK_DGRAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
        guard probe >= 0 else { return false }
        defer { close(probe) }
        return withUnsafeMutablePointer(to: &address) { storage in
            // The port, of either family; 0: any.
            UnsafeMutableRawPointer(storage).storeBytes(of: 0, toByteOffset: 2, as: UInt16.self)
            return storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(probe, $0, length) != 0 && errno == EADDRNOTAVAIL }
        }
    }
}
