package import Glibc
package import NIOCore

/// Finds out whether the peer of a TCP connection is dead: nothing came back for a while although something had to.
///
/// A peer whose window is closed acknowledges the probes of the kernel: it is alive. TCP_USER_TIMEOUT (tcp(7)) counts that time too,
/// so it is not used. Confined to one thread.
package struct PeerSilence: Sendable {
    /// What the kernel knows of a connection (TCP_INFO, tcp(7)).
    package struct Facts: Sendable {
        /// Retransmissions and probes since something was acknowledged last.
        package var unansweredCount: Int
        /// Time since something was acknowledged last.
        package var sinceAcknowledged: Duration

        package init(unansweredCount: Int, sinceAcknowledged: Duration) {
            (self.unansweredCount, self.sinceAcknowledged) = (unansweredCount, sinceAcknowledged)
        }

        /// Nil where the kernel does not report it.
        package init?(of descriptor: CInt) {
            var info = tcp_info()
            var length = socklen_t(MemoryLayout<tcp_info>.size)
            guard getsockopt(descriptor, CInt(IPPROTO_TCP), TCP_INFO, &info, &length) == 0 else { return nil }
            self.init(info)
        }

        package init(_ info: tcp_info) {
            self.init(
                unansweredCount: Int(info.tcpi_retransmits) + Int(info.tcpi_probes),
                sinceAcknowledged: .milliseconds(Int(info.tcpi_last_ack_recv)))
        }
    }

    /// When the kernel began to wait, as far as is known; nil while it waits for nothing.
    private var since: Duration?

    package init() {}

    /// Takes what the kernel knows now.
    ///
    /// - Parameters:
    ///   - now: On a clock that never goes back.
    ///   - limit: How long nothing may come back.
    /// - Returns: Whether the peer is dead. One lost packet is no proof.
    package mutating func isDead(_ facts: Facts, now: Duration, limit: Duration) -> Bool {
        guard facts.unansweredCount > 0 else {
            since = nil
            return false
        }
        let start = max(since ?? now, now - facts.sinceAcknowledged)
        since = start
        return facts.unansweredCount >= 2 && now - start >= limit
    }

    /// Time between two looks.
    package static func interval(limit: Duration) -> Duration { min(.seconds(5), max(.milliseconds(100), limit / 8)) }
}

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
