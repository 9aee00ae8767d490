import LayoverCore
import LayoverEngine
import LayoverHTTP
package import NIOCore

/// The access log of one loop: one line for each exchange. Confined to its loop.
///
/// Lines are gathered and handed on together, so that loops share nothing for a line, and no line is a call of the kernel.
package final class AccessLog {
    package enum Format: Sendable {
        /// The combined format of Apache, and what it does not know behind it as `name=value`.
        case combined
        /// One object a line.
        case json
    }

    /// Takes lines that are complete, and how many they are. It must not wait.
    package typealias Sink = @Sendable (_ lines: ByteBuffer, _ count: Int) -> Void

    /// How long a line is kept at most. Default: 100 ms.
    private static let delay: TimeAmount = .milliseconds(100)
    /// Most bytes that are kept. Default: 32 KiB.
    private static let byteCountMax = 32 << 10

    private let eventLoop: any EventLoop
    let clock: any EngineClock
    private let sink: Sink
    private var format: AccessFormat
    private var lines = ByteBuffer()
    private var lineCount = 0
    private var isClosed = false

    init(_ format: Format, on eventLoop: any EventLoop, clock: any EngineClock, to sink: @escaping Sink) {
        self.eventLoop = eventLoop
        self.clock = clock
        self.sink = sink
        self.format = AccessFormat(format)
    }

    /// - Parameter intercepted: The origin of an intercepted connection.
    func record(
        _ head: RequestHead, from client: String, _ intercepted: Origin?, isSecure: Bool
    ) -> AccessRecord {
        AccessRecord(head, from: client, intercepted, isSecure: isSecure, at: clock.now())
    }

    func malformed(_ input: ByteBuffer, from client: String) -> AccessRecord {
        AccessRecord(UnreadableRequest(input), from: client, at: clock.now())
    }

    /// The exchange is over.
    func write(_ record: AccessRecord, _ outcome: AccessRecord.Outcome) {
        let now = clock.now()
        format.write(record, outcome, now: now, wall: clock.wallNanoseconds(of: record.createdAt), into: &lines)
        lineCount += 1
        if isClosed || lines.readableBytes >= Self.byteCountMax { return flush() }
        guard lineCount == 1 else { return }
        let bound = NIOLoopBound(self, eventLoop: eventLoop)
        eventLoop.scheduleTask(in: Self.delay) { bound.value.flush() }
    }

    func flush() {
        guard lineCount > 0 else { return }
        sink(lines, lineCount)
        lines = ByteBuffer()
        lineCount = 0
    }

    /// Lines that are written from now on are handed on at once: the loop is about to end.
    func close() {
        isClosed = true
        flush()
    }
}
