import LayoverCore
import Synchronization

/// Counts of durations, for a histogram.
package struct Histogram: Sendable, Hashable {
    /// Bounds for the lives of requests, in seconds: from what no one notices to a week.
    package static let lives: [Double] = [0.1, 0.5, 1, 5, 15, 60, 300, 900, 3600, 6 * 3600, 24 * 3600, 7 * 24 * 3600]
    /// Bounds for the delays inside the process, in seconds: from what is usual to what everybody notices.
    package static let delays: [Double] = [
        0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
    ]

    /// The upper bounds of its buckets, in seconds.
    package let bounds: [Double]
    /// How many were at most as long as each bound, and longer than the one before.
    package private(set) var counts: [Int]
    /// All of them, those over the last bound included.
    package private(set) var count = 0
    /// In seconds.
    package private(set) var sum = 0.0

    package init(bounds: [Double] = Histogram.lives) {
        self.bounds = bounds
        counts = [Int](repeating: 0, count: bounds.count)
    }

    package mutating func add(_ seconds: Double) {
        count += 1
        sum += seconds
        if let index = bounds.firstIndex(where: { seconds <= $0 }) { counts[index] += 1 }
    }

    /// Adds what another one with the same bounds has counted.
    package mutating func add(_ other: Histogram) {
        guard bounds == other.bounds else { return }
        count += other.count
        sum += other.sum
        for index in counts.indices { counts[index] += other.counts[index] }
    }
}

/// How late something comes, as a histogram. Written a few times a second at most, and read by any thread.
package final class DelayMeter: Sendable {
    private let histogram = Mutex(Histogram(bounds: Histogram.delays))

    package init() {}

    package func add(_ delay: Duration) { histogram.withLock { $0.add(max(0, delay.inSeconds)) } }

    package var current: Histogram { histogram.withLock { $0 } }
}
