import Glibc
package import LayoverCore
import NIOCore

/// Where the engine takes the time from. Tests pass one that they move by hand.
package protocol EngineClock: Sendable {
    func now() -> Timestamp
    /// Wall-clock time of a timestamp, in nanoseconds since 1970 UTC; only for showing to people.
    func wallNanoseconds(of timestamp: Timestamp) -> Int64
}

/// The machine's clock, which goes on during suspend (`CLOCK_BOOTTIME`, clock_gettime(2)).
package struct SystemClock: EngineClock {
    package init() {}

    package func now() -> Timestamp { Timestamp(nanoseconds: Self.read(CLOCK_BOOTTIME)) }

    /// Most time between the readings of both clocks, unless the third try takes longer too. Default: 0.1 ms.
    private static let gapMax: Int64 = 100_000

    package func wallNanoseconds(of timestamp: Timestamp) -> Int64 {
        // A thread may be stopped between two readings, and the store keeps the offset that a start finds.
        var (offset, least) = (Int64(0), Int64.max)
        for _ in 0..<3 where least > Self.gapMax {
            let before = Self.read(CLOCK_BOOTTIME)
            let wall = Self.read(CLOCK_REALTIME)
            let gap = Self.read(CLOCK_BOOTTIME) &- before
            if gap < least { (offset, least) = (wall &- before, gap) }
        }
        return timestamp.nanoseconds &+ offset
    }

    private static func read(_ clock: clockid_t) -> Int64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
    }
}

/// The one timer of the engine: it fires when the next thing is due in any machine.
struct EngineTimer {
    /// The timer fires at least this often while anything is due in the future. Default: 60 s.
    private static let waitMax: Duration = .seconds(60)
    /// Shortest wait for what is not due yet: shorter ones would leave the event loop no time for its sockets. Default: 1 ms.
    private static let waitMin: Duration = .milliseconds(1)

    private var scheduled: Scheduled<Void>?
    /// When the next thing is due. Nil: nothing is.
    private var dueAt: Timestamp?

    func isSet(to next: Timestamp?) -> Bool { next == dueAt }

    mutating func set(to next: Timestamp?, now: Timestamp, on eventLoop: any EventLoop, fire: @escaping @Sendable () -> Void) {
        scheduled?.cancel()
        scheduled = nil
        dueAt = next
        guard let next else { return }
        // NIO's clock stops during suspend; a long suspend must not delay due times by as much.
        let wait = next <= now ? .zero : min(max(Self.waitMin, next - now), Self.waitMax)
        scheduled = eventLoop.scheduleTask(in: .nanoseconds(wait.nanosecondsSaturating), fire)
    }

    mutating func cancel() {
        scheduled?.cancel()
        fired()
    }

    mutating func fired() {
        scheduled = nil
        dueAt = nil
    }
}
