import CLinux
import Foundation

#if canImport(Glibc)
import Glibc
#endif

/// The socket of a service manager that takes news of this process (sd_notify(3)): one datagram for each.
struct NotifySocket: Sendable {
    private let address: [UInt8]

    /// - Parameter path: The value of `NOTIFY_SOCKET`: a path, or a name in the abstract namespace behind `@` (unix(7)).
    /// - Returns: Nil: the path is neither, or too long for a socket's address.
    init?(_ path: String) {
        guard path.hasPrefix("/") || path.hasPrefix("@"), path.utf8.count > 1 else { return nil }
        var bytes = Array(path.utf8)
        if bytes[0] == UInt8(ascii: "@") { bytes[0] = 0 }
        guard bytes.count < MemoryLayout.size(ofValue: sockaddr_un().sun_path) else { return nil }
        address = bytes
    }

    /// Sends lines of `NAME=value`. A service manager that is gone is no trouble of the proxy.
    func send(_ lines: [String]) {
        let socket = socket(AF_UNIX, CInt(SOCK_DGRAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
        guard socket >= 0 else { return }
        defer { close(socket) }
        var target = sockaddr_un()
        target.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &target.sun_path) { $0.copyBytes(from: address) }
        let length = MemoryLayout.offset(of: \sockaddr_un.sun_path).map { $0 + address.count } ?? 0
        let text = Array(lines.joined(separator: "\n").utf8)
        withUnsafePointer(to: &target) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                _ = sendto(socket, text, text.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT), $0, socklen_t(length))
            }
        }
    }
}
