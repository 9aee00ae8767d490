#if FAST_ALLOCATOR
import CMimalloc
#endif

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

/// The memory allocator of the process.
///
/// A small request makes some sixty short-lived allocations, most of them libcurl's. mimalloc does that in
/// clearly less time than the C library; where its package was not there at build time, the C library's
/// malloc serves as well.
enum Allocator {
    /// For the log. Asking also keeps the linker from leaving the library out.
    static var name: String {
        #if FAST_ALLOCATOR
        "mimalloc \(mi_version())"
        #else
        "libc"
        #endif
    }
}
