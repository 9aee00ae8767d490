import Foundation
import LayoverTestSupport
import Testing

private let soakSeconds = ProcessInfo.processInfo.environment["SOAK_SECONDS"].flatMap(Int.init)

/// Everything mixed for as long as SOAK_SECONDS says: `make soak` takes ten minutes, `make test` leaves it out.
@Suite(.serialized, .enabled(if: soakSeconds != nil), .timeLimit(.minutes(60)))
struct SoakTests {
    /// `UsageTrend` says what flat means.
    @Test func memoryDescriptorsAndThreadsAreFlatAfterTheFirstThird() async throws {
        let seed = ProcessInfo.processInfo.environment["MIXED_SEED"].flatMap(UInt64.init) ?? .random(in: 1...999_999)
        var load = try MixedLoad(seconds: soakSeconds ?? 600, seed: seed)
        // As many as are remembered (docs/tickets.md). The load ends some five entries per second, so memory would grow by
        // design through the whole run. This takes half a minute of the first third.
        load.endedEntryCount = 10_000
        let layover = try await RunningLayover.start(load.configuration)
        let usage = UsageLog(of: layover)
        let reading = Task { await usage.run() }
        let report = try await load.run(on: layover)
        reading.cancel()
        let trend = usage.trend
        print("soak: MIXED_SEED=\(seed): \(report.summary)\n\(trend)")
        #expect(report.breachCount == 0, "MIXED_SEED=\(seed)\n\(report.breaches.joined(separator: "\n"))")
        #expect(trend.resident.last > 0, "nothing was read")
        #expect(trend.excesses.isEmpty, "\(trend.excesses.joined(separator: "; "))\n\(trend)")
        let result = await layover.stop()
        #expect(result.status == 0, "\(result)")
    }
}
