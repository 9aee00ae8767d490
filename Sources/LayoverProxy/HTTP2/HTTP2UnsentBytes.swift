import NIOCore

/// The bytes of all responses of one session that its client has not taken yet. Confined to its loop.
///
/// A session may receive more from origins as long as it has fewer bytes than are left of `limits.unsentTotal`. So one session alone can
/// use half of the limit, and the more sessions there are that take nothing, the less each of them gets; the largest ones stop first, and
/// a session that takes what it gets has nothing to wait for.
/// - SeeAlso: Choudhury, Hahne: Dynamic Queue Length Thresholds for Shared-Memory Packet Switches.
final class HTTP2UnsentBytes {
    /// A stream that waits goes on for each so many bytes that are free, so that not all go on for the same bytes. Default: 64 KiB.
    private static let portion = 64 << 10

    private let total: UnsentTotal
    private(set) var byteCount = 0
    /// The time of the loop when the client last took bytes, or had none to take.
    private(set) var takenAt: NIODeadline
    /// Streams that wait until there is room, the first to go on first.
    private var waiting: [HTTP2StreamTranscoder] = []
    private var isGoingOn = false
    private let eventLoop: any EventLoop
    private let now: () -> NIODeadline

    /// - Parameter now: The coarse time of the loop.
    init(total: UnsentTotal, eventLoop: any EventLoop, now: @escaping () -> NIODeadline) {
        (self.total, self.eventLoop, self.now) = (total, eventLoop, now)
        takenAt = now()
    }

    /// A session without unsent bytes always has room: otherwise those of others could stop it for ever.
    private var hasRoom: Bool { byteCount == 0 || byteCount < total.rest }

    func added(_ count: Int) {
        if byteCount == 0 { takenAt = now() }
        byteCount += count
        total.add(count)
    }

    func taken(_ count: Int) {
        byteCount -= count
        total.add(-count)
        takenAt = now()
        guard !waiting.isEmpty, !isGoingOn, hasRoom else { return }
        isGoingOn = true
        // Not within the call, which may come from the midst of writing.
        let bound = NIOLoopBound(self, eventLoop: eventLoop)
        eventLoop.execute { bound.value.goOn() }
    }

    /// Whether a stream may receive more from its origin. If not, the stream is told once it may.
    func hasRoom(for stream: HTTP2StreamTranscoder) -> Bool {
        if hasRoom { return true }
        if !stream.isWaitingForRoom {
            stream.isWaitingForRoom = true
            waiting.append(stream)
        }
        return false
    }

    func forget(_ stream: HTTP2StreamTranscoder) {
        guard stream.isWaitingForRoom else { return }
        stream.isWaitingForRoom = false
        waiting.removeAll { $0 === stream }
    }

    /// Lets as many streams go on as there is room for. Other sessions may have made room.
    func goOn() {
        isGoingOn = false
        guard !waiting.isEmpty, hasRoom else { return }
        let count = max(1, (total.rest - byteCount) / Self.portion)
        let next = Array(waiting.prefix(count))
        waiting.removeFirst(next.count)
        for stream in next {
            stream.isWaitingForRoom = false
            stream.roomIsBack()
        }
    }
}
