import Synchronization

/// Counts the bytes of responses that wait for clients that speak HTTP/2, on all loops, against `limits.unsentTotal`.
///
/// Touched when a part of a response is written and when the kernel has taken it; never for clients that speak HTTP/1.1, whose connection
/// holds one response at a time.
package final class UnsentTotal: Sendable {
    package let byteCountMax: Int
    private let waiting = Atomic<Int>(0)

    package init(byteCountMax: Int = 256 << 20) { self.byteCountMax = byteCountMax }

    func add(_ count: Int) { waiting.add(count, ordering: .relaxed) }

    package var byteCount: Int { waiting.load(ordering: .relaxed) }

    /// Bytes that may wait in addition; negative where more wait than allowed.
    var rest: Int { byteCountMax - byteCount }
}
