package import LayoverCore

/// What happened to entries in the last quarter of an hour, in buckets of five seconds.
package struct ActivitySeries: Sendable {
    /// Default: 5 s.
    package static let bucketLength: Duration = .seconds(5)
    /// Default: 180, which is 15 minutes.
    package static let bucketCount = 180

    package struct Bucket: Sendable, Hashable {
        /// Number of the bucket since boot.
        fileprivate var number: Int64
        package var parked = 0
        /// Attempts of entries that began.
        package var attempted = 0
        package var delivered = 0
        /// Entries that ended otherwise.
        package var ended = 0
        /// Live entries at its end.
        package var live = 0

        package var beginsAt: Timestamp {
            Timestamp(nanoseconds: number * ActivitySeries.nanoseconds)
        }
    }

    private static let nanoseconds = Int64(bucketLength.components.seconds) * 1_000_000_000
    /// Those in which something happened, in their order.
    private var buckets: [Bucket] = []

    package init() {}

    /// - Parameter live: How many entries are live now.
    mutating func count(_ kind: EntryEventKind, _ state: EntryState, live: Int, now: Timestamp) {
        let number = now.nanoseconds / Self.nanoseconds
        if buckets.last?.number != number {
            buckets.append(Bucket(number: number))
            let oldest = number - Int64(Self.bucketCount)
            // Of the buckets that are too old the newest is kept: it has the number of live entries before the others.
            if let kept = buckets.lastIndex(where: { $0.number <= oldest }), kept > 0 { buckets.removeFirst(kept) }
        }
        let last = buckets.count - 1
        switch kind {
        case .parked: buckets[last].parked += 1
        case .attempted: buckets[last].attempted += 1
        case .changed: break
        case .ended:
            if state == .delivered { buckets[last].delivered += 1 } else { buckets[last].ended += 1 }
        }
        buckets[last].live = live
    }

    /// Every bucket of the time, those in which nothing happened included; the last one is not over yet.
    package func all(now: Timestamp) -> [Bucket] {
        let last = now.nanoseconds / Self.nanoseconds
        let first = last - Int64(Self.bucketCount) + 1
        var live = buckets.last { $0.number < first }?.live ?? 0
        var known = buckets.drop { $0.number < first }
        return (first...last).map { number in
            guard known.first?.number == number, let bucket = known.popFirst() else {
                return Bucket(number: number, live: live)
            }
            live = bucket.live
            return bucket
        }
    }
}
