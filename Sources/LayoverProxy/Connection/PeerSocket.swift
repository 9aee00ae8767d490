import CLinux
import Glibc
import NIOCore

/// Asks the kernel for the other end of a connection, where that is on this machine too.
///
/// After a FIN nothing on the wire tells a closed socket from one whose sending side alone is closed: its own kernel knows.
/// A client that is not read from and closes leaves its FIN behind the unread bytes. Neither POLLRDHUP nor a
/// keepalive probe shows it then: the kernel goes on answering for the closed socket until all is sent. Its own list does
/// (sock_diag(7)): a socket without an inode belongs to no process any more.
enum PeerSocket {
    enum State: Sendable {
        /// A process has the socket.
        case open
        /// The client's process has closed the socket.
        case closed
        /// Nothing is known of the socket: it is on another machine or in another network namespace, or may not be asked for.
        case unknown
    }

    /// The state of the client's socket. Addresses that are neither ours nor loopback are not looked up.
    static func state(local: SocketAddress?, remote: SocketAddress?) -> State {
        guard let ours = endpoint(local), let theirs = endpoint(remote), ours.bytes.count == theirs.bytes.count,
            theirs.bytes == ours.bytes || isLoopback(theirs.bytes)
        else { return .unknown }
        var question = Question()
        question.request.sdiag_family = UInt8(ours.bytes.count == 4 ? AF_INET : AF_INET6)
        question.request.sdiag_protocol = UInt8(IPPROTO_TCP)
        question.request.idiag_states = .max
        // The socket is theirs, so its own end comes first.
        question.request.id.idiag_sport = theirs.port.bigEndian
        question.request.id.idiag_dport = ours.port.bigEndian
        withUnsafeMutableBytes(of: &question.request.id.idiag_src) { $0.copyBytes(from: theirs.bytes) }
        withUnsafeMutableBytes(of: &question.request.id.idiag_dst) { $0.copyBytes(from: ours.bytes) }
        // INET_DIAG_NOCOOKIE: whichever socket has these addresses.
        question.request.id.idiag_cookie = (.max, .max)
        // A socket that is not found may be in another namespace, behind a translation of addresses.
        return answer(to: question).map { $0.idiag_inode == 0 ? .closed : .open } ?? .unknown
    }

    private static func isLoopback(_ address: [UInt8]) -> Bool {
        address.count == 4 ? address[0] == 127 : address.dropLast().allSatisfy { $0 == 0 } && address.last == 1
    }

    private struct Question {
        var header = nlmsghdr(
            nlmsg_len: UInt32(MemoryLayout<Question>.size), nlmsg_type: UInt16(SOCK_DIAG_BY_FAMILY),
            nlmsg_flags: UInt16(NLM_F_REQUEST), nlmsg_seq: 1, nlmsg_pid: 0)
        var request = inet_diag_req_v2()
    }

    /// The kernel's answer. Nil: there is no such socket, or no permission to ask.
    private static func answer(to question: Question) -> inet_diag_msg? {
        let descriptor = socket(AF_NETLINK, CInt(SOCK_DGRAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), NETLINK_SOCK_DIAG)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        let isSent = withUnsafeBytes(of: question) { send(descriptor, $0.baseAddress, $0.count, 0) == $0.count }
        guard isSent else { return nil }
        // The kernel answers one socket within the send, so nothing is waited for.
        return withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 8) { buffer -> inet_diag_msg? in
            let count = recv(descriptor, buffer.baseAddress, buffer.count, CInt(MSG_DONTWAIT))
            let headerCount = MemoryLayout<nlmsghdr>.size
            guard count >= headerCount + MemoryLayout<inet_diag_msg>.size,
                buffer.load(as: nlmsghdr.self).nlmsg_type == UInt16(SOCK_DIAG_BY_FAMILY)
            else { return nil }
            return buffer.load(fromByteOffset: headerCount, as: inet_diag_msg.self)
        }
    }

    /// Address in network order and port. An IPv4 address on a socket for both families is one of IPv4 at its other end.
    private static func endpoint(_ address: SocketAddress?) -> (bytes: [UInt8], port: UInt16)? {
        guard let text = address?.ipAddress, let port = address?.port.flatMap({ UInt16(exactly: $0) }) else { return nil }
        let isIPv6 = text.contains(":")
        var bytes = [UInt8](repeating: 0, count: isIPv6 ? 16 : 4)
        guard inet_pton(isIPv6 ? AF_INET6 : AF_INET, text, &bytes) == 1 else { return nil }
        let isMapped = isIPv6 && bytes.prefix(10).allSatisfy { $0 == 0 } && bytes[10] == 0xFF && bytes[11] == 0xFF
        return (isMapped ? Array(bytes[12...]) : bytes, port)
    }
}
