import CCurl
import Glibc

/// Sockets that are closed for sending, and read until the other end closes them too: a lingering close (RFC 9112 section 9.6).
///
/// By HTTP/2 an origin sends frames while it reads an upload. If it has answered before it has read all, and its connection is closed at
/// once, the kernel answers these frames with a reset, and what the origin has not read is lost.
///
/// Confined to the worker's thread.
struct LingeringSockets {
    private struct Socket {
        let descriptor: CInt
        /// On `MonotonicClock`.
        let endsAt: UInt64
        var byteCount = 0
    }

    /// How long a socket lingers, in nanoseconds.
    private let timeMax: UInt64
    private let countMax: Int
    /// Bytes that are read from a socket, at most: many more than the frames about an upload. Default: 1 MiB.
    private static let byteCountMax = 1 << 20
    /// The oldest first.
    private var sockets: [Socket] = []

    init(options: UpstreamOptions) {
        timeMax = options.lingerMax.nanoseconds
        countMax = options.lingeringCountMax
    }

    /// When the oldest is closed, whatever its peer does. Nil: there is none.
    var endsAt: UInt64? { sockets.first?.endsAt }

    /// Closes the sending direction of a socket.
    ///
    /// - Returns: The socket that is to be closed now. It is the oldest where there are too many, and the same one where nobody listens.
    mutating func add(_ descriptor: CInt, at now: UInt64) -> CInt? {
        guard countMax > 0, shutdown(descriptor, CInt(SHUT_WR)) == 0 else { return descriptor }
        let oldest = sockets.count >= countMax ? sockets.removeFirst().descriptor : nil
        sockets.append(Socket(descriptor: descriptor, endsAt: now + timeMax))
        return oldest
    }

    /// Reads what has come, and drops it.
    ///
    /// - Returns: Whether the socket is to be closed now.
    mutating func read(_ descriptor: CInt) -> Bool {
        guard let index = sockets.firstIndex(where: { $0.descriptor == descriptor }) else { return false }
        let isOver = withUnsafeTemporaryAllocation(byteCount: 16 << 10, alignment: 1) { bytes in
            while sockets[index].byteCount < Self.byteCountMax {
                let count = recv(descriptor, bytes.baseAddress, bytes.count, CInt(MSG_DONTWAIT))
                guard count > 0 else { return count == 0 || errno != EAGAIN && errno != EINTR }
                sockets[index].byteCount += count
            }
            return true
        }
        if isOver { sockets.remove(at: index) }
        return isOver
    }

    /// The sockets whose time is over; with `.max`, all.
    mutating func takeThoseDue(at now: UInt64) -> [CInt] {
        let due = sockets.prefix { $0.endsAt <= now }.map(\.descriptor)
        sockets.removeFirst(due.count)
        return due
    }
}
