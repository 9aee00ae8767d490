import Foundation
import Synchronization

/// The last lines that a process has written to a pipe.
final class LogTail: Sendable {
    /// Most bytes that are kept. Default: 16 KiB.
    private static let byteCountMax = 16 << 10

    private let kept = Mutex<[UInt8]>([])
    private let end = DispatchSemaphore(value: 0)

    /// Reads until no process has the other end any more, and closes it.
    init(_ descriptor: Int32) {
        Thread.detachNewThread { [self] in
            LogSignals.blockAll()
            var buffer = [UInt8](repeating: 0, count: 4096)
            while true {
                let count = read(descriptor, &buffer, buffer.count)
                guard count > 0 else {
                    if count < 0, errno == EINTR { continue }
                    break
                }
                kept.withLock { kept in
                    kept += buffer[..<count]
                    kept.removeFirst(max(0, kept.count - Self.byteCountMax))
                }
            }
            close(descriptor)
            end.signal()
        }
    }

    /// The lines, once the other end is closed; a second later at most.
    func lines() -> [String] {
        _ = end.wait(timeout: .now() + 1)
        return kept.withLock { String(decoding: $0, as: UTF8.self) }.split(separator: "\n").map(String.init)
    }
}
