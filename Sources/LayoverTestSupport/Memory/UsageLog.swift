import Foundation
import Synchronization

/// What a running proxy takes from the machine, read once a second while something else loads it.
package final class UsageLog: Sendable {
    /// The most of each within a part of the time.
    package struct Peaks: Sendable, CustomStringConvertible {
        package var residentByteCount = 0
        package var descriptorCount = 0
        package var threadCount = 0

        fileprivate mutating func include(_ other: Peaks) {
            residentByteCount = max(residentByteCount, other.residentByteCount)
            descriptorCount = max(descriptorCount, other.descriptorCount)
            threadCount = max(threadCount, other.threadCount)
        }

        package var description: String {
            "\(residentByteCount >> 20) MiB resident, \(descriptorCount) descriptors, \(threadCount) threads"
        }
    }

    private let readings = Mutex<[Peaks]>([])
    private let layover: RunningLayover

    package init(of layover: RunningLayover) { self.layover = layover }

    /// Reads until its task is cancelled.
    package func run() async {
        while !Task.isCancelled {
            let reading = Peaks(
                residentByteCount: layover.residentByteCount, descriptorCount: layover.descriptorCount,
                threadCount: layover.threadCount)
            readings.withLock { $0.append(reading) }
            try? await Task.sleep(for: .seconds(1))
        }
    }

    /// The peaks of a part of the time so far; 0 is its beginning, 1 is now.
    package func peaks(from start: Double, to end: Double) -> Peaks {
        let all = readings.withLock { $0 }
        let last = min(Int(Double(all.count) * end), all.count)
        let first = min(Int(Double(all.count) * start), last)
        return all[first..<last].reduce(into: Peaks()) { $0.include($1) }
    }
}
