import NIOCore

/// An address of ours that a client's connection came to.
struct OwnAddress: Equatable {
    /// An IPv6 address without brackets; an IPv4 address in its own form, on a socket for both families too.
    let ip: String
    let port: Int

    init(ip: String, port: Int) {
        self.ip = ip
        self.port = port
    }

    /// Nil: the address has no IP address and port, as that of a Unix socket.
    init?(_ address: SocketAddress?) {
        guard let ip = address?.ipAddress, let port = address?.port else { return nil }
        let mapped = "::ffff:"
        self.ip = ip.hasPrefix(mapped) && ip.contains(".") ? String(ip.dropFirst(mapped.count)) : ip
        self.port = port
    }

    var authority: String { "\(ip.contains(":") ? "[\(ip)]" : ip):\(port)" }
}
