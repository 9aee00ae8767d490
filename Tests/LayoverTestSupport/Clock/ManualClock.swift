package import LayoverCore
import LayoverEngine
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
