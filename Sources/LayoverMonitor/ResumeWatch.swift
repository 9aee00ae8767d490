import CLinux
import Glibc

/// Notices that the machine slept and woke: then the boot clock is further ahead of the monotonic one,
/// which stands still during suspend (clock_gettime(2)).
struct ResumeWatch {
    let descriptor: CInt
    private var ahead: Int64

    init() throws(MonitorError) {
        descriptor = timerfd_create(CLOCK_REALTIME, CInt(TFD_CLOEXEC) | CInt(TFD_NONBLOCK))
        guard descriptor >= 0 else { throw MonitorError(context: "Cannot create a timer descriptor.") }
        ahead = Self.timeAhead
        arm()
    }

    /// A timer that never fires, but is cancelled whenever the wall clock jumps, and it does on resume
    /// (timerfd_create(2), TFD_TIMER_CANCEL_ON_SET).
    private func arm() {
        var setting = itimerspec()
        setting.it_value.tv_sec = .max / 4
        let flags = CInt(TFD_TIMER_ABSTIME) | CInt(TFD_TIMER_CANCEL_ON_SET)
        timerfd_settime(descriptor, flags, &setting, nil)
    }

    /// Call it when the descriptor is readable; true when the machine has slept since the last call.
    mutating func hasResumed() -> Bool {
        var count: UInt64 = 0
        _ = read(descriptor, &count, 8)
        arm()
        let now = Self.timeAhead
        defer { ahead = now }
        return now - ahead > 1_000_000_000
    }

    func close() { _ = Glibc.close(descriptor) }

    private static var timeAhead: Int64 {
        var (boot, monotonic) = (timespec(), timespec())
        clock_gettime(CLOCK_MONOTONIC, &monotonic)
        clock_gettime(CLOCK_BOOTTIME, &boot)
        return Int64(boot.tv_sec - monotonic.tv_sec) * 1_000_000_000 + Int64(boot.tv_nsec - monotonic.tv_nsec)
    }
}
