import LayoverCore
import LayoverEngine
import Synchronization

/// The open connections of one worker, by where they lead. Counted on the worker's thread, read on others.
final class OpenConnections: Sendable {
    private let counts = Mutex<[Origin: ConnectionCount]>([:])

    var all: [Origin: ConnectionCount] { counts.withLock { $0 } }

    func changed(_ origin: Origin, by change: ConnectionCount) {
        counts.withLock { counts in
            var count = counts[origin] ?? .init()
            count += change
            counts[origin] = count.open > 0 ? count : nil
        }
    }
}
