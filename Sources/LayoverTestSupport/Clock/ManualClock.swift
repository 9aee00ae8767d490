package import LayoverCore
import LayoverEngine
import Synchronization

/// A clock that stands still until a test moves it.
package final class ManualClock: EngineClock {
    private let time: Mutex<Timestamp>

    package init(at start: Timestamp = Timestamp(nanoseconds: 1_000_000_000)) { time = Mutex(start) }

    package func now() -> Timestamp { time.withLock { $0 } }

    /// Wall-clock time begins at 1970 when this clock is at 0.
    package func wallNanoseconds(of timestamp: Timestamp) -> Int64 { timestamp.nanoseconds }

    /// Moves the clock. Whoever waits for it must be told by the test.
    package func advance(by duration: Duration) { time.withLock { $0 = $0 + duration } }
}
