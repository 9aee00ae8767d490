import LayoverCore
import LayoverEngine
import LayoverText
import Synchronization

/// Shows timestamps as wall-clock times.
///
/// The two clocks cannot be read at the same instant, so the difference between them seems to tremble; held
/// fast, the same timestamp is the same text in every response. It changes when the date is set.
final class WallTime: Sendable {
    /// Differences up to this are ignored, in nanoseconds.
    private static let tolerance: Int64 = 20_000_000

    private let clock: any EngineClock
    /// Wall-clock time of timestamp zero.
    private let zero: Mutex<Int64>

    init(clock: any EngineClock) {
        self.clock = clock
        zero = Mutex(Self.zero(of: clock))
    }

    func text(of timestamp: Timestamp) -> String {
        let (sum, overflow) = steadyZero.addingReportingOverflow(timestamp.nanoseconds)
        return RFC3339.text(nanoseconds: overflow ? (timestamp.nanoseconds < 0 ? .min : .max) : sum)
    }

    /// The way back.
    ///
    /// - Parameter nanoseconds: Since 1970 UTC.
    func timestamp(ofNanoseconds nanoseconds: Int64) -> Timestamp {
        let (difference, overflow) = nanoseconds.subtractingReportingOverflow(steadyZero)
        return overflow ? Timestamp(nanoseconds: nanoseconds < 0 ? .min : .max) : Timestamp(nanoseconds: difference)
    }

    private var steadyZero: Int64 {
        zero.withLock { held in
            let (now, held0) = (Self.zero(of: clock), held)
            if (now &- held0).magnitude > Self.tolerance.magnitude { held = now }
            return held
        }
    }

    private static func zero(of clock: any EngineClock) -> Int64 {
        let now = clock.now()
        return clock.wallNanoseconds(of: now) &- now.nanoseconds
    }
}
