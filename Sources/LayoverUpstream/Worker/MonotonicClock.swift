import Glibc

/// Nanoseconds of CLOCK_MONOTONIC, the clock that libcurl's timers run on.
enum MonotonicClock {
    static var now: UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
    }
}

extension Duration {
    /// Whole nanoseconds; negative durations are 0.
    var nanoseconds: UInt64 {
        let (seconds, attoseconds) = components
        guard seconds >= 0, attoseconds >= 0 else { return 0 }
        return UInt64(min(seconds, 1 << 32)) * 1_000_000_000 + UInt64(attoseconds / 1_000_000_000)
    }

    /// Milliseconds for libcurl and the kernel, where 0 would mean "default" or "never": at least 1.
    var millisecondsAtLeastOne: Int {
        max(1, Int(min(nanoseconds / 1_000_000, UInt64(Int32.max))))
    }
}
