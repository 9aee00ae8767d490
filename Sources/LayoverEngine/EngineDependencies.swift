package import LayoverCore

#if canImport(Glibc)
import Glibc
#endif

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

    package func wallNanoseconds(of timestamp: Timestamp) -> Int64 {
        Self.read(CLOCK_REALTIME) &+ (timestamp.nanoseconds &- Self.read(CLOCK_BOOTTIME))
    }

    private static func read(_ clock: clockid_t) -> Int64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
    }
}

/// Knows which sockets of this machine listen.
package protocol ListenerTable: Sendable {
    /// The TCP sockets that listen at a port, whatever their address, each by a number that no other socket gets. Does not block.
    ///
    /// - Returns: Nil if the system does not tell.
    func listeners(on port: Int) -> Set<UInt64>?
}

/// Checks on purpose whether the network leads anywhere.
package protocol Prober: Sendable {
    /// Makes one check. Takes as long as its own time-outs allow, never longer.
    func probe() async -> ProbeResult
}
