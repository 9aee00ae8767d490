import CCurl
import Glibc

/// A socket to an origin or a parent proxy: its options, and the address that libcurl wants it for.
enum OriginSocket {
    static func setUp(_ descriptor: CInt, deadPeer: Duration) {
        set(descriptor, SOL_SOCKET, SO_KEEPALIVE, 1)
        // Probes of an idle peer (Linux's default is after two hours). While data waits for an acknowledgement the kernel sends none:
        // `PeerSilence`.
        let limit = max(1, Int(deadPeer.nanoseconds / 1_000_000_000))
        let idle = min(60, max(1, limit / 2))
        set(descriptor, IPPROTO_TCP, TCP_KEEPIDLE, CInt(idle))
        set(descriptor, IPPROTO_TCP, TCP_KEEPINTVL, CInt(clamping: max(1, (limit - idle + probeCount - 1) / probeCount)))
        set(descriptor, IPPROTO_TCP, TCP_KEEPCNT, CInt(probeCount))
    }

    /// Probes without an answer that prove that an idle peer is gone.
    private static let probeCount = 4

    private static func set(_ descriptor: CInt, _ level: some BinaryInteger, _ name: CInt, _ value: CInt) {
        var value = value
        // A socket without the option works too.
        setsockopt(descriptor, CInt(level), name, &value, socklen_t(MemoryLayout<CInt>.size))
    }

    /// The address as text without a zone, and its port.
    static func numeric(
        _ address: UnsafeMutablePointer<curl_sockaddr>
    ) -> (host: String, port: Int)? {
        let offset = MemoryLayout<curl_sockaddr>.offset(of: \.addr) ?? 16
        let socketAddress = UnsafeRawPointer(address).advanced(by: offset)
            .assumingMemoryBound(to: sockaddr.self)
        var host = [CChar](repeating: 0, count: 64)
        var port = [CChar](repeating: 0, count: 8)
        let result = getnameinfo(
            socketAddress, socklen_t(address.pointee.addrlen), &host, socklen_t(host.count), &port,
            socklen_t(port.count), NI_NUMERICHOST | NI_NUMERICSERV)
        guard result == 0 else { return nil }
        let end = host.firstIndex { $0 == 0 || $0 == CChar(UInt8(ascii: "%")) } ?? host.count
        let text = String(decoding: host[..<end].lazy.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let digits = port.prefix { $0 != 0 }.lazy.map { UInt8(bitPattern: $0) }
        return (text, Int(String(decoding: digits, as: UTF8.self)) ?? 0)
    }
}
