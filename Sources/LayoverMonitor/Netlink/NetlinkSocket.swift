import CLinux
import Glibc

/// A socket to the kernel's routing tables (rtnetlink(7)).
final class NetlinkSocket {
    /// The result of one read.
    enum Reading {
        case messages([NetlinkMessage])
        /// The kernel had more to say than the socket could hold: messages are lost (netlink(7), ENOBUFS).
        case overflow
        case nothing
    }

    /// Hears of every change of links, addresses and routes. Reading does not wait.
    ///
    /// - Parameter byteCountMax: What the kernel keeps for a slow reader (socket(7), SO_RCVBUF).
    ///   Default: the system's own, mostly 208 KiB.
    static func forEvents(byteCountMax: CInt? = nil) throws(MonitorError) -> NetlinkSocket {
        let groups =
            UInt32(RTMGRP_LINK) | UInt32(RTMGRP_IPV4_IFADDR) | UInt32(RTMGRP_IPV6_IFADDR)
            | UInt32(RTMGRP_IPV4_ROUTE) | UInt32(RTMGRP_IPV6_ROUTE)
        let socket = try NetlinkSocket(groups: groups, kind: CInt(SOCK_NONBLOCK.rawValue))
        if var size = byteCountMax {
            setsockopt(socket.descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<CInt>.size))
        }
        return socket
    }

    /// Is asked for whole tables. Reading waits two seconds at most; the kernel answers at once.
    static func forDumps() throws(MonitorError) -> NetlinkSocket {
        let socket = try NetlinkSocket(groups: 0, kind: 0)
        var limit = timeval(tv_sec: 2, tv_usec: 0)
        setsockopt(
            socket.descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        return socket
    }

    let descriptor: CInt
    private var buffer = [UInt8](repeating: 0, count: 64 << 10)

    private init(groups: UInt32, kind: CInt) throws(MonitorError) {
        let type = CInt(SOCK_RAW.rawValue) | CInt(SOCK_CLOEXEC.rawValue) | kind
        descriptor = socket(AF_NETLINK, type, NETLINK_ROUTE)
        guard descriptor >= 0 else { throw MonitorError(context: "Cannot create a netlink socket.") }
        var address = sockaddr_nl()
        address.nl_family = sa_family_t(AF_NETLINK)
        address.nl_groups = groups
        let size = socklen_t(MemoryLayout<sockaddr_nl>.size)
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, size) }
        }
        guard result == 0 else {
            let error = MonitorError(context: "Cannot bind the netlink socket.")
            close(descriptor)
            throw error
        }
    }

    deinit { close(descriptor) }

    /// Asks for one whole table: `RTM_GETLINK` and the like. The kernel works on one dump at a time.
    func requestDump(of table: UInt16) -> Bool {
        // struct nlmsghdr and a zeroed struct rtgenmsg, padded to four bytes.
        var request = nlmsghdr()
        request.nlmsg_len = 20
        request.nlmsg_type = table
        request.nlmsg_flags = UInt16(NLM_F_REQUEST | NLM_F_ROOT | NLM_F_MATCH)
        var bytes = withUnsafeBytes(of: &request) { Array($0) }
        bytes.append(contentsOf: [0, 0, 0, 0])
        return send(descriptor, bytes, bytes.count, 0) == bytes.count
    }

    func read() -> Reading {
        while true {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            if count > 0 {
                return .messages(
                    buffer.withUnsafeBytes {
                        NetlinkMessage.parse(UnsafeRawBufferPointer(rebasing: $0[..<count]))
                    })
            }
            if count < 0, errno == EINTR { continue }
            return count < 0 && errno == ENOBUFS ? .overflow : .nothing
        }
    }
}
