import Testing

@testable import LayoverCore

/// What the pending set tells the monitor about origins.
struct GateFactTests {
    private var bench = PendingBench()

    @Test mutating func shutOrOpenedGateIsReportedOnce() {
        let ids = [bench.parked(), bench.parked()]
        #expect(bench.gates == [])
        _ = bench.wait(.seconds(1))
        _ = bench.fail(ids[0])
        #expect(bench.gates == [])
        _ = bench.originAnswered()
        #expect(bench.gates == [.gate(PendingBench.origin, isShut: false)])
        _ = bench.originAnswered()
        #expect(bench.gates == [])
        _ = bench.parked()
        #expect(bench.gates == [.gate(PendingBench.origin, isShut: true)])
    }

    @Test(arguments: [Failure.reset, .answered(503)])
    mutating func failureThatLeavesTheGateOpenIsNotReported(failure: Failure) {
        _ = bench.parked(failure)
        #expect(bench.gates == [])
    }

    /// Regression: an origin on this machine that answered ended the doubt about the network.
    @Test mutating func reachableLocalOriginIsNotReported() {
        let local = Origin(scheme: .http, host: "127.0.0.1", port: 3000)
        _ = bench.parked(origin: local)
        _ = bench.originAnswered(local)
        #expect(bench.gates == [])
        #expect(bench.shutOrigins.isEmpty)
    }
}
