import Synchronization

/// Resources that a process uses at one moment.
package struct Usage: Sendable {
    /// Seconds since the first reading.
    package var second: Double
    package var residentByteCount: Int
    package var descriptorCount: Int
    package var threadCount: Int

    package init(second: Double, residentByteCount: Int, descriptorCount: Int, threadCount: Int) {
        self.second = second
        self.residentByteCount = residentByteCount
        self.descriptorCount = descriptorCount
        self.threadCount = threadCount
    }
}

/// How the usage of a process changes over a run, and whether it grows. One reading per second is expected.
///
/// Nothing of the first third of the run is judged: caches and pools fill. After it, memory is judged by its slope, descriptors
/// and threads by the medians of the second and the last third. Peaks are only shown: they depend on how many requests of the
/// load coincide. The limits were chosen for a run of ten minutes; in a shorter one the slope of noise may exceed them.
package struct UsageTrend: Sendable, CustomStringConvertible {
    /// Most growth of memory, extrapolated to an hour: 20 MiB are 5.7 KiB per second. A leak of 10 KiB per second is 35 MiB per
    /// hour, and noise of some MiB moves the slope by less than the rest.
    package static let residentGrowthPerHourMax = 20 << 20
    /// Most growth of the median of descriptors, which depends a little on the load and on the idle connections of the moment.
    package static let descriptorGrowthMax = 10
    package static let threadGrowthMax = 1
    /// Readings whose median is one point of the slope, so that a burst of large bodies weighs no more than any reading.
    private static let readingsPerPoint = 10

    /// The figures of one quantity.
    package struct Figures: Sendable {
        package let start: Int
        /// The medians of the second and the last third.
        package let middle: Int
        package let last: Int
        package let peak: Int

        fileprivate init(_ values: [Int]) {
            let third = values.count / 3
            start = values.first ?? 0
            middle = median(values.dropFirst(third).prefix(third))
            last = median(values.suffix(third))
            peak = values.max() ?? 0
        }

        fileprivate func text(_ name: String, dividedBy divisor: Int = 1) -> String {
            "\(name): start \(start / divisor), medians of the second and the last third \(middle / divisor) and "
                + "\(last / divisor), peak \(peak / divisor)"
        }
    }

    package let resident: Figures
    package let descriptors: Figures
    package let threads: Figures
    /// The least-squares slope of memory over the last two thirds, in bytes per hour.
    package let residentGrowthPerHour: Double

    package init(_ readings: [Usage]) {
        resident = Figures(readings.map(\.residentByteCount))
        descriptors = Figures(readings.map(\.descriptorCount))
        threads = Figures(readings.map(\.threadCount))
        residentGrowthPerHour = Self.bytesPerSecond(Array(readings.dropFirst(readings.count / 3))) * 3600
    }

    private static func bytesPerSecond(_ readings: [Usage]) -> Double {
        let points = (0..<readings.count / readingsPerPoint).map { number -> (x: Double, y: Double) in
            let part = readings.dropFirst(number * readingsPerPoint).prefix(readingsPerPoint)
            let seconds = part.map(\.second).reduce(0, +)
            return (x: seconds / Double(part.count), y: Double(median(part.map(\.residentByteCount))))
        }
        let meanX = points.map(\.x).reduce(0, +) / Double(max(points.count, 1))
        let meanY = points.map(\.y).reduce(0, +) / Double(max(points.count, 1))
        var spread = 0.0
        var common = 0.0
        for point in points {
            spread += (point.x - meanX) * (point.x - meanX)
            common += (point.x - meanX) * (point.y - meanY)
        }
        return spread > 0 ? common / spread : 0
    }

    /// Resources that grew by more than their limit. Empty if the usage is flat.
    package var excesses: [String] {
        var result: [String] = []
        if residentGrowthPerHour > Double(Self.residentGrowthPerHourMax) {
            result.append("memory grows by \(kibibytesPerHour) KiB per hour, more than \(Self.residentGrowthPerHourMax >> 10)")
        }
        if descriptors.last - descriptors.middle > Self.descriptorGrowthMax {
            result.append("descriptors grow by \(descriptors.last - descriptors.middle), more than \(Self.descriptorGrowthMax)")
        }
        if threads.last - threads.middle > Self.threadGrowthMax {
            result.append("threads grow by \(threads.last - threads.middle), more than \(Self.threadGrowthMax)")
        }
        return result
    }

    private var kibibytesPerHour: Int { Int((residentGrowthPerHour / 1024).rounded()) }

    package var description: String {
        """
        \(resident.text("memory in KiB", dividedBy: 1024)), slope \(kibibytesPerHour) per hour
        \(descriptors.text("descriptors"))
        \(threads.text("threads"))
        """
    }
}

/// The median; for an even number of values the upper one of the two in the middle, and 0 for no values.
private func median(_ values: some Sequence<Int>) -> Int {
    let sorted = values.sorted()
    return sorted.isEmpty ? 0 : sorted[sorted.count / 2]
}

/// Reads once a second what a running proxy takes from the machine, while something else loads it.
package final class UsageLog: Sendable {
    private let readings = Mutex<[Usage]>([])
    private let layover: RunningLayover

    package init(of layover: RunningLayover) { self.layover = layover }

    /// Reads until its task is cancelled.
    package func run() async {
        let start = ContinuousClock.now
        while !Task.isCancelled {
            let reading = Usage(
                second: start.duration(to: ContinuousClock.now) / Duration.seconds(1),
                residentByteCount: layover.residentByteCount,
                descriptorCount: layover.descriptorCount, threadCount: layover.threadCount)
            readings.withLock { $0.append(reading) }
            try? await Task.sleep(for: .seconds(1))
        }
    }

    /// Waits until the process has no more descriptors than these.
    ///
    /// - Returns: How many it has. More: the time is over.
    package static func descriptors(of layover: RunningLayover, atMost count: Int, within limit: Duration) async throws -> Int {
        let deadline = Deadline(in: limit)
        // Polling, because no event reports that a process has closed a descriptor.
        while layover.descriptorCount > count, !deadline.hasPassed { try await Task.sleep(for: .seconds(1)) }
        return layover.descriptorCount
    }

    /// How the usage changed so far.
    package var trend: UsageTrend { UsageTrend(readings.withLock { $0 }) }
}
