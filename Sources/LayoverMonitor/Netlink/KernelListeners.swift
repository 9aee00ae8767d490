import CLinux
import Glibc
import LayoverEngine

/// Asks the kernel which sockets listen (sock_diag(7)), in the network namespace of this process.
package struct KernelListeners: ListenerTable {
    /// Answers are at most this long: the kernel's own limit of a part.
    private static let answerByteCountMax = 32 << 10
    /// The state of a socket that listens (TCP_LISTEN).
    private static let listening: UInt32 = 10

    package init() {}

    package func listeners(on port: Int) -> Set<UInt64>? {
        guard let port = UInt16(exactly: port), port > 0 else { return [] }
        let descriptor = socket(AF_NETLINK, CInt(SOCK_DGRAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), NETLINK_SOCK_DIAG)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        guard let found = Self.listeners(on: port, family: AF_INET, by: descriptor) else { return nil }
        // A kernel without IPv6 has none.
        return found.union(Self.listeners(on: port, family: AF_INET6, by: descriptor) ?? [])
    }

    private static func listeners(on port: UInt16, family: CInt, by descriptor: CInt) -> Set<UInt64>? {
        var question = Question()
        question.request.sdiag_family = UInt8(family)
        question.request.sdiag_protocol = UInt8(IPPROTO_TCP)
        question.request.idiag_states = 1 << listening
        question.request.id.idiag_sport = port.bigEndian
        let isSent = withUnsafeBytes(of: question) { send(descriptor, $0.baseAddress, $0.count, 0) == $0.count }
        return isSent ? readAnswer(from: descriptor) : nil
    }

    private struct Question {
        var header = nlmsghdr(
            nlmsg_len: UInt32(MemoryLayout<Question>.size), nlmsg_type: UInt16(SOCK_DIAG_BY_FAMILY),
            nlmsg_flags: UInt16(NLM_F_REQUEST | NLM_F_DUMP), nlmsg_seq: 1, nlmsg_pid: 0)
        var request = inet_diag_req_v2()
    }

    /// The kernel makes each part of its answer within the call that reads it, so nothing is waited for.
    private static func readAnswer(from descriptor: CInt) -> Set<UInt64>? {
        var sockets: Set<UInt64> = []
        var buffer = [UInt8](repeating: 0, count: answerByteCountMax)
        while true {
            let count = recv(descriptor, &buffer, buffer.count, CInt(MSG_DONTWAIT))
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return nil }
            let isLast: Bool? = buffer.withUnsafeBytes { take(UnsafeRawBufferPointer(rebasing: $0[..<count]), into: &sockets) }
            guard let isLast else { return nil }
            if isLast { return sockets }
        }
    }

    /// - Returns: Whether the answer is whole; nil where the kernel refuses to give one.
    private static func take(_ datagram: UnsafeRawBufferPointer, into sockets: inout Set<UInt64>) -> Bool? {
        let reader = NetlinkReader(datagram)
        var offset = 0
        // struct nlmsghdr: length, type, flags, sequence, port.
        while let length = reader.load(offset, as: UInt32.self), let type = reader.load(offset + 4, as: UInt16.self),
            length >= 16, let body = reader.part(from: offset + 16, count: Int(length) - 16)
        {
            switch Int32(type) {
            case NLMSG_DONE: return true
            case NLMSG_ERROR: return nil
            default:
                // struct inet_diag_msg: four bytes, then struct inet_diag_sockid with the cookie at its end.
                if let low = body.load(44, as: UInt32.self), let high = body.load(48, as: UInt32.self) {
                    sockets.insert(UInt64(high) << 32 | UInt64(low))
                }
            }
            offset += (Int(length) + 3) & ~3
        }
        return false
    }
}
