import LayoverCore

/// The newest events and those who watch.
///
/// A watcher that reads too slowly is dropped: its stream ends, and it comes back to a snapshot. Nothing
/// here ever waits for a watcher.
struct EventLog {
    /// Events that a watcher who lost its connection can catch up on. Default: 1 000.
    private static let rememberedCountMax = 1000
    /// Events that may wait for one watcher. Default: 10 000.
    private static let backlogCountMax = 10_000

    private(set) var lastNumber: UInt64 = 0
    private var remembered: [EngineEvent] = []
    private var watchers: [Int: AsyncStream<EngineEvent>.Continuation] = [:]
    private var nextWatcher = 0

    mutating func append(_ content: EngineEvent.Content) {
        lastNumber += 1
        let event = EngineEvent(number: lastNumber, content: content)
        remembered.append(event)
        if remembered.count > 2 * Self.rememberedCountMax {
            remembered.removeFirst(remembered.count - Self.rememberedCountMax)
        }
        for (number, watcher) in watchers {
            guard case .enqueued = watcher.yield(event) else {
                watcher.finish()
                watchers[number] = nil
                continue
            }
        }
    }

    /// The events after a number; nil when some of them are forgotten or the number is from another run.
    func events(after number: UInt64) -> [EngineEvent]? {
        guard number <= lastNumber else { return nil }
        let first = remembered.first?.number ?? lastNumber + 1
        guard number + 1 >= first else { return nil }
        return remembered.filter { $0.number > number }
    }

    mutating func watch() -> (number: Int, stream: AsyncStream<EngineEvent>) {
        let (stream, continuation) = AsyncStream.makeStream(
            of: EngineEvent.self, bufferingPolicy: .bufferingOldest(Self.backlogCountMax))
        nextWatcher += 1
        watchers[nextWatcher] = continuation
        return (nextWatcher, stream)
    }

    mutating func unwatch(_ number: Int) {
        watchers.removeValue(forKey: number)?.finish()
    }

    mutating func finish() {
        for watcher in watchers.values { watcher.finish() }
        watchers = [:]
    }
}
