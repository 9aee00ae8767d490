/// Counts of durations, for a histogram.
package struct Histogram: Sendable {
    /// The upper bounds of its buckets, in seconds: from what no one notices to a week.
    package static let bounds: [Double] = [0.1, 0.5, 1, 5, 15, 60, 300, 900, 3600, 6 * 3600, 24 * 3600, 7 * 24 * 3600]

    /// How many were at most as long as each bound, and longer than the one before.
    package private(set) var counts = [Int](repeating: 0, count: bounds.count)
    /// All of them, those over the last bound included.
    package private(set) var count = 0
    /// In seconds.
    package private(set) var sum = 0.0

    package init() {}

    package mutating func add(_ seconds: Double) {
        count += 1
        sum += seconds
        if let index = Self.bounds.firstIndex(where: { seconds <= $0 }) { counts[index] += 1 }
    }
}
