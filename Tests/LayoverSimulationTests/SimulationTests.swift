import Foundation
import LayoverTestSupport
import Testing

/// The whole engine on a virtual clock, with everything random from a seed that is printed when it fails.
@Suite struct SimulationTests {
    /// Seeds in one run of the tests.
    private static let seedCount = 2000
    private static let stepCount = 120
    /// For the few seeds of which more is wanted.
    private static let longStepCount = 200
    /// Points of the store at which a process dies, each once for each of a few seeds.
    private static let crashPointCount = 40
    /// Lines of the trace that are shown when a seed fails.
    private static let shownLineCount =
        ProcessInfo.processInfo.environment["SIM_LINES"].flatMap { Int($0) } ?? 60

    @Test func allInvariantsHoldForManySeeds() async throws {
        let seeds = Self.seeds()
        let threadCount = min(seeds.count, 2)
        let failures = try await withThrowingTaskGroup(of: [UInt64].self) { group in
            for thread in 0..<threadCount {
                group.addTask {
                    var failures: [UInt64] = []
                    for place in stride(from: thread, to: seeds.count, by: threadCount)
                    where failures.count < 6 {
                        let simulation = try Simulation(seed: seeds[place])
                        try simulation.run(stepCount: Self.stepCount)
                        if !simulation.breaches.isEmpty { failures.append(seeds[place]) }
                    }
                    return failures
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        for seed in failures.sorted().prefix(6) { try show(seed) }
    }

    /// Runs a seed once more, and says what happened.
    private func show(_ seed: UInt64) throws {
        let simulation = try Simulation(seed: seed, isTraced: true)
        try simulation.run(stepCount: Self.stepCount)
        let lines = simulation.trace.lines.suffix(Self.shownLineCount).joined(separator: "\n")
        let breach =
            simulation.breaches.first.map(String.init(describing:)) ?? "a breach that did not come again"
        Issue.record("\(breach)\nmake sim SEED=\(seed)\n\(lines)")
    }

    private static func seeds() -> [UInt64] {
        let environment = ProcessInfo.processInfo.environment
        if let seed = environment["SIM_SEED"].flatMap({ UInt64($0) }) { return [seed] }
        let count = environment["SIM_SEEDS"].flatMap { UInt64($0) } ?? UInt64(seedCount)
        let first = environment["SIM_FIRST"].flatMap { UInt64($0) } ?? 1
        return (first..<first + count).map { $0 }
    }

    /// A simulation in which nothing happens would find nothing.
    @Test func everyKindOfEventHappens() throws {
        var tally: [String: Int] = [:]
        for seed in UInt64(1)...100 {
            let simulation = try Simulation(seed: seed)
            try simulation.run(stepCount: Self.longStepCount)
            tally.merge(simulation.tally, uniquingKeysWith: +)
        }
        let kinds = [
            "attempts", "replays", "answers", "own answers", "broken answers", "forced sendings", "retry",
            "cancel",
            "hold", "release", "force", "settle", "abort",
            "tickets", "repetitions", "shared answers", "questions", "children", "lane starts", "deaths", "crash points", "stops", "rescued",
            "delivered tickets", "cancelled tickets", "failed tickets", "deaths after a reload", "not adopted",
            "broken after its client left", "superseded", "words taken back", "failed searches", "stores opened later", "requests for a rest", "resumed answers", "attempt counts reset",
            "closed sockets", "clients lost before the head", "clients lost after the head", "unattended entries",
            "crowds lost", "crowds behind a pause", "clients lost within the body", "responses read for others",
        ]
        for kind in kinds { #expect(tally[kind, default: 0] > 0, "\(kind) never happened: \(tally)") }
    }

    /// The process dies at each numbered point of its store, and another one goes on.
    @Test(arguments: [11, 12])
    func invariantsHoldAfterACrashAtEachPoint(seed: UInt64) throws {
        var deaths = 0
        for point in 1...Self.crashPointCount {
            let simulation = try Simulation(seed: seed, crashPoint: point)
            try simulation.run(stepCount: Self.longStepCount / 2)
            if let breach = simulation.breaches.first {
                Issue.record("\(breach), seed \(seed), crash point \(point)")
            }
            deaths += simulation.tally["crash points", default: 0]
        }
        #expect(deaths >= Self.crashPointCount / 2, "too few of them were reached")
    }

    @Test func equalSeedsGiveEqualTraces() throws {
        for seed in UInt64(1)...20 {
            let stories = try (0..<2).map { _ in
                let simulation = try Simulation(seed: seed, isTraced: true)
                try simulation.run(stepCount: Self.longStepCount)
                return simulation.trace.lines
            }
            let difference = zip(stories[0], stories[1]).first { $0 != $1 }
            #expect(stories[0] == stories[1], "seed \(seed): \(String(describing: difference))")
        }
    }
}
