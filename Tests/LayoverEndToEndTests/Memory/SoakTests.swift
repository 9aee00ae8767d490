import Foundation
import LayoverTestSupport
import Testing

private let soakSeconds = ProcessInfo.processInfo.environment["SOAK_SECONDS"].flatMap(Int.init)

/// Everything mixed for as long as SOAK_SECONDS says: `make soak` takes ten minutes, `make test` leaves it out.
@Suite(.serialized, .enabled(if: soakSeconds != nil), .timeLimit(.minutes(60)))
struct SoakTests {
    /// What the memory of the last 10 000 ended entries may still take after the first third (docs/tickets.md), and what an
    /// allocator keeps.
    private static let spareByteCount = 24 << 20
    /// The load has as many connections open at one moment as its dice say.
    private static let spareDescriptorCount = 40

    @Test func memoryDescriptorsAndThreadsAreFlatAfterTheFirstThird() async throws {
        let seed = ProcessInfo.processInfo.environment["MIXED_SEED"].flatMap(UInt64.init) ?? .random(in: 1...999_999)
        let layover = try await RunningLayover.start()
        let usage = UsageLog(of: layover)
        let reading = Task { await usage.run() }
        let report = try await MixedLoad(seconds: soakSeconds ?? 600, seed: seed).run(on: layover)
        reading.cancel()
        let (early, late) = (usage.peaks(from: 0.2, to: 0.4), usage.peaks(from: 0.7, to: 1))
        print("soak: MIXED_SEED=\(seed): \(report.summary)")
        print("soak: \(usage.peaks(from: 0, to: 0.2)); then \(early); in the end \(late)")
        #expect(report.breachCount == 0, "MIXED_SEED=\(seed)\n\(report.breaches.joined(separator: "\n"))")
        #expect(late.residentByteCount <= early.residentByteCount + Self.spareByteCount)
        #expect(late.descriptorCount <= early.descriptorCount + Self.spareDescriptorCount)
        #expect(late.threadCount <= early.threadCount + 2)
        let result = await layover.stop()
        #expect(result.status == 0, "\(result)")
    }
}
