import Foundation
import LayoverTestSupport
import Testing

private let hostileSeconds = ProcessInfo.processInfo.environment["HOSTILE_SECONDS"].flatMap(Int.init)
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

/// Origins and clients that break the rules, for as long as HOSTILE_SECONDS says: `make soak` takes ten minutes, `make test` leaves it
/// out. HOSTILE_SEED repeats a run.
@Suite(.serialized, .enabled(if: hostileSeconds != nil), .timeLimit(.minutes(60)))
struct HostileTests {
    /// Below this `UsageTrend` takes the time in which pools fill for growth: some three minutes of 450 exchanges a second. Default: 9 minutes.
    private static let trendSecondsMin = 540
    /// Longest wait for what the load has left behind: a client that left while its request waits, or a half-closed one. Default: 60 s.
    private static let cleanMax: Duration = .seconds(60)

    @Test func bytesArriveUnchangedAndNothingIsLeftBehind() async throws {
        let seed = ProcessInfo.processInfo.environment["HOSTILE_SEED"].flatMap(UInt64.init) ?? .random(in: 1...999_999)
        var load = HostileLoad(seconds: hostileSeconds ?? 300, seed: seed)
        // As many as are remembered, as in the other load.
        if load.seconds >= Self.trendSecondsMin { load.endedEntryCount = 10_000 }
        print("hostile: HOSTILE_SEED=\(seed), \(load.seconds) s")
        let layover = try await RunningLayover.start()
        let before = layover.descriptorCount
        let usage = UsageLog(of: layover)
        let reading = Task { await usage.run() }
        let report = try await load.run(on: layover)
        reading.cancel()
        print("hostile: HOSTILE_SEED=\(seed): \(report.summary)\n\(usage.trend)")
        #expect(report.breachCount == 0, "HOSTILE_SEED=\(seed)\n\(report.breaches.joined(separator: "\n"))")
        #expect(report.exchanges > load.seconds)
        if load.seconds >= Self.trendSecondsMin {
            #expect(usage.trend.excesses.isEmpty, "\(usage.trend.excesses.joined(separator: "; "))\n\(usage.trend)")
        }
        // Connections to origins are kept for 55 s after their last use, clients are gone with the load.
        let after = try await UsageLog.descriptors(of: layover, atMost: before + 2, within: Self.cleanMax)
        #expect(after <= before + 2, "descriptors before: \(before)")
        try await layover.waitForPending("nothing waits any more") { $0.data.isEmpty }
        let result = await layover.stop()
        #expect(result.status == 0, "\(result)")
    }
}
