#if canImport(Glibc)
import Glibc
#endif

/// Limits of the process that are raised before it starts.
enum ProcessLimits {
    /// Every client and every upstream connection needs a descriptor: takes as many as it may have.
    static func raiseDescriptorLimit() {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
        limit.rlim_cur = limit.rlim_max
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }

    /// A peer that closes early is an error code, not the end of the process (signal(7)).
    static func ignoreBrokenPipes() { signal(SIGPIPE, SIG_IGN) }
}
