package import LayoverCore
package import LayoverEngine
package import Logging
import Synchronization

/// A clock that stands still until a test moves it.
package final class ManualClock: EngineClock {
    private let time: Mutex<Timestamp>

    private let date: Duration

    /// - Parameter date: How long after 1970 wall-clock time begins when this clock is at 0. Default: not at all.
    package init(at start: Timestamp = Timestamp(nanoseconds: 1_000_000_000), date: Duration = .zero) {
        time = Mutex(start)
        self.date = date
    }

    package func now() -> Timestamp { time.withLock { $0 } }

    package func wallNanoseconds(of timestamp: Timestamp) -> Int64 { (timestamp + date).nanoseconds }

    /// Moves the clock. The test itself must wake what waits for a time.
    package func advance(by duration: Duration) { time.withLock { $0 = $0 + duration } }
}

/// A log whose lines are kept, from `info` on.
package struct RecordedLog: LogHandler {
    package let lines = Watched<[String]>([])
    package var logLevel = Logger.Level.info
    package var metadata: Logger.Metadata = [:]

    package init() {}

    package var logger: Logger { Logger(label: "test") { [self] _ in self } }

    package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    package func log(event: LogEvent) {
        let pairs = (event.metadata ?? [:]).sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
        let line = "\(event.level) \(event.message): \(pairs.joined(separator: " "))"
        lines.update { $0.append(line) }
    }
}

extension Engine {
    /// The events from now on, and the number of this watcher.
    package func watchEvents() -> (watcher: Int, events: AsyncStream<EngineEvent>) {
        let watcher = watch()
        return (watcher, events(of: watcher, after: lastEventNumber))
    }

    /// The events of a watcher, until its watch ends or it has lost events.
    private nonisolated func events(of watcher: Int, after number: UInt64) -> AsyncStream<EngineEvent> {
        let (stream, continuation) = AsyncStream.makeStream(of: EngineEvent.self)
        let reading = Task {
            var position = number
            while case .events(let events) = await nextEvents(of: watcher, after: position) {
                for event in events {
                    continuation.yield(event)
                    position = event.number
                }
            }
            continuation.finish()
        }
        continuation.onTermination = { _ in reading.cancel() }
        return stream
    }
}
