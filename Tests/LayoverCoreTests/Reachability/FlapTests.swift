import Testing

@testable import LayoverCore

/// Rule 7: a link that flaps does not cause storms.
struct FlapTests {
    private var bench = ReachabilityBench()

    /// The wait from a change to its verdict.
    private mutating func window() -> Duration {
        _ = bench.learn(.resolverChanged)
        let window = bench.wakesIn ?? .zero
        _ = bench.wait(window)
        return window
    }

    @Test mutating func fromTheFourthChangeOnTheWindowDoubles() {
        let windows = (0..<10).map { _ in window() }
        #expect(windows == [500, 500, 500, 1000, 2000, 4000, 8000, 10000, 10000, 10000].map { .milliseconds($0) })
    }

    @Test mutating func quietNetworkResetsTheWindow() {
        for _ in 0..<8 { _ = window() }
        _ = bench.wait(.seconds(30))
        #expect(window() == .seconds(10))
        _ = bench.wait(.seconds(30) + .nanoseconds(1))
        #expect((0..<4).map { _ in window() } == [500, 500, 500, 1000].map { .milliseconds($0) })
    }

    /// Ten minutes of a machine that changes its network ten times a second. The rule gives three windows of 0.5 s,
    /// then 1, 2, 4 and 8 s, which makes 7 in 16.5 s, and one in 10 s for the rest: 58 more, and the one that
    /// begins there.
    @Test mutating func tenMinutesOfFlappingCauseFewWakes() {
        let wakesMax = 7 + 58 + 1
        var (wakes, drops) = (0, 0)
        for tick in 0..<6000 {
            let snapshot = tick.isMultiple(of: 2) ? ReachabilityBench.office : ReachabilityBench.home
            let actions = bench.learn(.links(snapshot)) + bench.wait(.milliseconds(100))
            wakes += actions.count { $0 == .wake }
            drops += actions.count { $0 == .networkChanged }
        }
        #expect(wakes > 30)
        #expect(wakes <= wakesMax)
        #expect(drops <= wakesMax)
    }

    @Test mutating func aWayBackCountsAtOnceForTheFirstChangesOnly() {
        let atOnce = (0..<4).map { _ in
            _ = bench.learn(.links(ReachabilityBench.nothing))
            _ = bench.wait(bench.wakesIn ?? .zero)
            let isWoken = bench.learn(.links(ReachabilityBench.home)).contains(.wake)
            _ = bench.wait(bench.wakesIn ?? .zero)
            return isWoken
        }
        #expect(atOnce == [true, false, false, false])
        _ = bench.learn(.links(ReachabilityBench.nothing))
        _ = bench.wait(bench.wakesIn ?? .zero)
        _ = bench.wait(.seconds(31))
        #expect(bench.learn(.links(ReachabilityBench.home)).contains(.wake))
    }

    @Test mutating func betterEvidenceCountsAtOnce() {
        for _ in 0..<8 { _ = window() }
        #expect(bench.learn(.hinted).contains(.wake))
        #expect(bench.learn(.resumed).contains(.wake))
    }
}
