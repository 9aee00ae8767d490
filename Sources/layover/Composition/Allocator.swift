#if FAST_ALLOCATOR
import CMimalloc
#endif

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
