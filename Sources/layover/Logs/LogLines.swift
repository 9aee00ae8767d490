import Dispatch
import Foundation
import Glibc
import Synchronization

/// Lines on their way to a descriptor: a bounded buffer, and a thread that empties it.
///
/// Logging never waits for the reader of the log: an event loop hands its line over and goes on. If the
/// reader is stalled the buffer fills, and if it is gone or its disk is full the write fails; what cannot be
/// written is dropped and counted, and the process goes on. The order of the lines is kept.
///
/// The lines of the last moment are not lost: the end of the process waits for the buffer to be empty, for
/// `flush`'s limit at most.
final class LogLines: Sendable {
    /// Standard error. Every line of the process goes there through this buffer, so that they stay in order.
    static let standardError: LogLines = {
        let lines = LogLines(descriptor: STDERR_FILENO)
        // Whatever ends the process in an orderly way comes by here (exit(3)).
        atexit { LogLines.standardError.flush() }
        return lines
    }()

    /// Standard output: the access log.
    static let standardOutput: LogLines = {
        let lines = LogLines(descriptor: STDOUT_FILENO)
        atexit { LogLines.standardOutput.flush() }
        return lines
    }()

    /// Most bytes that wait. About five thousand lines. Default: 1 MiB.
    static let byteCountMax = 1 << 20

    /// Lines that were handed over together.
    private struct Portion {
        var bytes: [UInt8]
        var lineCount: Int
    }

    private struct State {
        var waiting: [Portion] = []
        var waitingByteCount = 0
        /// The thread has taken lines that it has not written yet.
        var isWriting = false
        var hasThread = false
        var flushers: [DispatchSemaphore] = []
    }

    private let descriptor: Int32
    private let byteCountMax: Int
    private let state = Mutex(State())
    private let wake = DispatchSemaphore(value: 0)
    private let dropped = Atomic<Int>(0)

    init(descriptor: Int32, byteCountMax: Int = LogLines.byteCountMax) {
        self.descriptor = descriptor
        self.byteCountMax = byteCountMax
    }

    /// Lines that could not be written, since the start.
    var droppedCount: Int { dropped.load(ordering: .relaxed) }

    /// Hands a line over, which gets its line break here. Returns at once.
    func write(_ line: String) {
        write(Array((line + "\n").utf8), lineCount: 1)
    }

    /// Hands several lines over, each with its line break. Returns at once.
    func write(_ bytes: [UInt8], lineCount: Int) {
        let isTaken = state.withLock { state -> Bool in
            // A line longer than the whole buffer is still written, if the buffer is empty.
            guard state.waiting.isEmpty || state.waitingByteCount + bytes.count <= byteCountMax else { return false }
            if !state.hasThread { startThread() }
            state.hasThread = true
            state.waiting.append(Portion(bytes: bytes, lineCount: lineCount))
            state.waitingByteCount += bytes.count
            return true
        }
        if isTaken { wake.signal() } else { dropped.add(lineCount, ordering: .relaxed) }
    }

    /// Waits until all lines that were handed over are written or dropped.
    ///
    /// - Parameter limit: How long at most. A reader that stalls must not keep a process from ending. Default: 1 s.
    /// - Returns: Whether it came to that.
    @discardableResult
    func flush(within limit: Duration = .seconds(1)) -> Bool {
        let done = DispatchSemaphore(value: 0)
        let isEmpty = state.withLock { state -> Bool in
            guard state.isWriting || !state.waiting.isEmpty else { return true }
            state.flushers.append(done)
            return false
        }
        let nanoseconds = Int(clamping: limit.components.seconds) * 1_000_000_000
            + Int(limit.components.attoseconds / 1_000_000_000)
        return isEmpty || done.wait(timeout: .now() + .nanoseconds(nanoseconds)) == .success
    }

    // MARK: The thread

    private func startThread() {
        Thread.detachNewThread { [self] in
            LogSignals.blockAll()
            run()
        }
    }

    private func run() {
        var isTorn = false
        while true {
            wake.wait()
            let portions = state.withLock { state -> [Portion] in
                defer { (state.waiting, state.waitingByteCount) = ([], 0) }
                state.isWriting = true
                return state.waiting
            }
            for portion in portions {
                // A line that was cut off must not be joined with the next one.
                switch writeAll(isTorn ? [UInt8(ascii: "\n")] + portion.bytes : portion.bytes) {
                case .all: isTorn = false
                case .none: dropped.add(portion.lineCount, ordering: .relaxed)
                case .part:
                    isTorn = true
                    dropped.add(portion.lineCount, ordering: .relaxed)
                }
            }
            let flushers = state.withLock { state -> [DispatchSemaphore] in
                state.isWriting = false
                guard state.waiting.isEmpty else { return [] }
                defer { state.flushers = [] }
                return state.flushers
            }
            for flusher in flushers { flusher.signal() }
        }
    }

    private enum Written { case all, part, none }

    /// Blocks as long as the reader does not read. `FileHandle.write` would trap where the descriptor fails.
    private func writeAll(_ bytes: [UInt8]) -> Written {
        var count = 0
        while count < bytes.count {
            let result = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress?.advanced(by: count), $0.count - count) }
            if result >= 0 {
                count += result
            } else if errno == EAGAIN {
                // Another process that shares the descriptor has made it non-blocking.
                var wait = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                poll(&wait, 1, -1)
            } else if errno != EINTR {
                return count == 0 ? .none : .part
            }
        }
        return .all
    }
}

/// The signals of the thread that writes the log.
enum LogSignals {
    /// Leaves all signals to other threads. Above all SIGPIPE, which goes to the thread that wrote (signal(7)): blocked
    /// there, a reader that has gone is an error code, in commands that leave the signal as it is too.
    static func blockAll() {
        var all = sigset_t()
        sigfillset(&all)
        pthread_sigmask(SIG_BLOCK, &all, nil)
    }
}
