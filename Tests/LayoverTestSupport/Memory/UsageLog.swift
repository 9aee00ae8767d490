import Synchronization

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
