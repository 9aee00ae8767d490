import LayoverCore
import LayoverHTTP
import NIOCore

/// Where a request goes: the origin and the value of its Host field.
struct RequestAddress {
    var origin: Origin
    var host: String
}

/// Remembers the address of the request before on the same connection.
///
/// Clients ask the same server again and again, so the fast path compares bytes and makes no String.
struct RequestAddressCache {
    private var bytes: [UInt8] = []
    private var scheme: Origin.Scheme?
    private var address: RequestAddress?
    /// Whether the address was looked at and may be reached.
    var isCleared = false

    /// The address that an absolute-form or authority-form target names; nil for other forms.
    mutating func address(of head: RequestHead) -> RequestAddress? {
        guard let range = head.authorityRange else { return nil }
        let scheme: Origin.Scheme =
            switch head.target {
            case .absolute(.http, _): .http
            case .absolute(.https, _): .https
            case .authority, .origin, .asterisk: .tunnel
            }
        if scheme == self.scheme, let address, head.equals(range, bytes) { return address }
        guard let authority = head.targetAuthority else { return nil }
        let origin = Origin(scheme: scheme, host: authority.host, port: authority.port)
        let address = RequestAddress(origin: origin, host: origin.hostField)
        self.scheme = scheme
        self.address = address
        isCleared = false
        bytes = Array(head.bytes.getBytes(at: head.bytes.readerIndex + range.lowerBound, length: range.count) ?? [])
        return address
    }
}

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
