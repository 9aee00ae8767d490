import LayoverTestSupport
import Testing

@testable import LayoverCore

/// Entries whose repetition was answered in a way that does not show the outcome.
struct UnknownOutcomeTests {
    private var bench = PendingBench()

    /// The origin answered, so others that wait for it go, whatever becomes of the entry.
    @Test mutating func unknownOutcomeOpensTheGateAndAsksAPerson() {
        let id = bench.parked()
        let other = bench.parked()
        _ = bench.wait(.seconds(1))
        #expect(bench.state(id) == .attempting)
        _ = bench.fail(id, .outcomeUnknown(status: 412), asks: .maybeApplied, rule: .outcomeUnknown)
        #expect(bench.gates == [.gate(PendingBench.origin, isShut: false)])
        #expect(bench.entry(id)?.why == .maybeApplied)
        #expect(bench.entry(id)?.actions.contains(.retry) == false)
        #expect(bench.state(other) == .attempting)
    }

    @Test mutating func conflictIsRepeatedAfterItsDelay() {
        let id = bench.parked()
        _ = bench.wait(.seconds(1))
        #expect(bench.state(id) == .attempting)
        _ = bench.fail(id, .outcomeUnknown(status: 409), delay: .seconds(7), rule: .outcomeUnknown)
        #expect(bench.state(id) == .waiting && bench.wait(of: id) == .seconds(7))
        _ = bench.wait(.seconds(7))
        #expect(bench.state(id) == .attempting)
    }
}
