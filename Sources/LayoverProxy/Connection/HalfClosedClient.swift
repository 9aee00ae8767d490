import NIOCore

/// A client that has closed its sending side. It may still wait for its response, as after `shutdown(SHUT_WR)`, or be gone: both look
/// alike on the wire. Contract: section 2 of the semantics, "When a client is gone".
///
/// - Where the kernel knows the client's socket (`PeerSocket`), it says which. It is asked at the next tick, and then after pauses
///   that grow with the time since the FIN.
/// - Any other client counts as gone `timeouts.halfClosed` after its FIN, or after the last bytes of its response that left: a closed
///   socket answers bytes with a reset, so a client is there as long as it takes them.
///
/// A class: most connections never have one.
final class HalfClosedClient {
    private let closedAt: NIODeadline
    private var movedAt: NIODeadline
    private var takenByteCount: Int
    private var peer = PeerSocket.State.unknown
    private var askAt: NIODeadline

    /// Longest time between two questions to the kernel. Default: 10 s.
    private static let askIntervalMax: TimeAmount = .seconds(10)

    init(at now: NIODeadline, takenByteCount: Int) {
        (closedAt, movedAt, askAt) = (now, now, now)
        self.takenByteCount = takenByteCount
    }

    /// - Parameters:
    ///   - takenByteCount: Bytes that were written to the client and have left.
    ///   - limit: `timeouts.halfClosed`.
    ///   - ask: Asks the kernel for the client's socket.
    func isGone(
        at now: NIODeadline, takenByteCount: Int, limit: TimeAmount, ask: () -> PeerSocket.State
    ) -> Bool {
        if takenByteCount != self.takenByteCount { (self.takenByteCount, movedAt) = (takenByteCount, now) }
        if askAt <= now {
            peer = ask()
            askAt = now + min(max(.seconds(1), now - closedAt), Self.askIntervalMax)
        }
        return switch peer {
        case .closed: true
        case .open: false
        case .unknown: movedAt + limit <= now
        }
    }
}
