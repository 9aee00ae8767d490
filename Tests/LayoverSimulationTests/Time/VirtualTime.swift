import LayoverCore
import LayoverEngine
import NIOCore

/// The two clocks of a simulated machine: one that stands still while it sleeps, and one that goes on.
///
/// `@unchecked Sendable`: a simulation runs on one thread from its beginning to its end.
final class VirtualTime: EngineClock, @unchecked Sendable {
    /// The clock of event loops.
    private(set) var nanoseconds: Int64 = 1_000_000_000
    /// How long the machine has slept.
    private var slept: Int64 = 0

    /// The clock of due times: it goes on during suspend.
    func now() -> Timestamp { Timestamp(nanoseconds: nanoseconds + slept) }

    func wallNanoseconds(of timestamp: Timestamp) -> Int64 { timestamp.nanoseconds }

    var deadline: NIODeadline { .uptimeNanoseconds(UInt64(nanoseconds)) }

    func move(to nanoseconds: Int64) { self.nanoseconds = max(self.nanoseconds, nanoseconds) }

    /// The machine sleeps and wakes: timers of loops have seen nothing of it.
    func suspend(for duration: Duration) { slept += duration.nanosecondsSaturating }
}
