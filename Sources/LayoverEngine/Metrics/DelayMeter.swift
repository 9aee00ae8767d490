import LayoverCore
import Synchronization

/// How late something comes, as a histogram. Written a few times a second at most, and read by any thread.
package final class DelayMeter: Sendable {
    private let histogram = Mutex(Histogram(bounds: Histogram.delays))

    package init() {}

    package func add(_ delay: Duration) { histogram.withLock { $0.add(max(0, delay.inSeconds)) } }

    package var current: Histogram { histogram.withLock { $0 } }
}
