import Foundation
import LayoverTestSupport
import Testing

/// SIGKILL in the middle of everything, again and again, on one store.
///
/// `make crash` runs 300 rounds; in `make test` it is a dozen. CRASH_ROUNDS and CRASH_SEED choose others. The seed
/// draws the requests and the moments; what the machine makes of a moment is not drawn, so a seed repeats the load
/// and not every interleaving.
@Suite(.serialized, .timeLimit(.minutes(15)))
struct CrashTests {
    @Test func acceptedTicketsAreNeitherLostNorDoubledByKills() async throws {
        let environment = ProcessInfo.processInfo.environment
        let rounds = environment["CRASH_ROUNDS"].flatMap(Int.init) ?? 12
        let seed = environment["CRASH_SEED"].flatMap(UInt64.init) ?? .random(in: 1...999_999)
        print("crash test: CRASH_SEED=\(seed) CRASH_ROUNDS=\(rounds)")
        let began = ContinuousClock.now
        let report = try await CrashRun(seed: seed).run(rounds: rounds)
        let seconds = Int(began.duration(to: .now).components.seconds)
        print("crash test: \(report.summary) in \(seconds) s")

        #expect(report.acceptedCount > rounds)
        #expect(report.arrivalCount > rounds)
        #expect(report.breaches.isEmpty, "CRASH_SEED=\(seed): \(report.breaches.count) breaches\n\(report.breaches.prefix(20).joined(separator: "\n"))")
    }
}
