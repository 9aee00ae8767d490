import Testing

@testable import LayoverCore

/// Rule 6: what requests meet is evidence about the network as a whole.
struct TrafficEvidenceTests {
    private var bench = ReachabilityBench()

    private func origin(_ host: String, port: Int? = nil) -> Origin { Origin(scheme: .https, host: host, port: port) }

    private mutating func away(_ hosts: String...) -> [ReachabilityAction] {
        hosts.flatMap { bench.learn(.originAway(origin($0))) }
    }

    @Test mutating func threeOriginsInARowPutTheNetworkInDoubt() {
        #expect(away("a", "b") == [])
        #expect(!bench.machine.isDoubted)
        #expect(away("c") == [.changed])
        #expect(bench.machine.isDoubted)
        #expect(bench.machine.isNetworkAway)
        #expect(bench.state == .limited)
        #expect(bench.machine.view.detail == "The last 3 origins tried were unreachable.")
        #expect(away("d", "e") == [])
    }

    @Test mutating func repeatedFailuresOfOneOriginCountOnce() {
        #expect(away("a", "a", "a", "a") == [])
        #expect(!bench.machine.isDoubted)
    }

    @Test mutating func responseBetweenTheFailuresResetsTheCount() {
        _ = away("a", "b")
        #expect(bench.learn(.originBack) == [])
        _ = away("c", "d")
        #expect(!bench.machine.isDoubted)
        #expect(away("a") == [.changed])
    }

    @Test mutating func firstResponseEndsTheDoubtAndWakes() {
        _ = away("a", "b", "c")
        #expect(bench.learn(.originBack) == [.changed, .wake])
        #expect(!bench.machine.isNetworkAway)
        #expect(bench.state == .online)
        #expect(bench.learn(.originBack) == [])
    }

    @Test(arguments: ["localhost", "app.localhost", "127.0.0.1", "127.9.9.9", "::1"])
    mutating func failuresOfLocalOriginsAreIgnored(host: String) {
        _ = away("a", "b")
        for port in 1...5 { #expect(bench.learn(.originAway(origin(host, port: port))) == []) }
        #expect(!bench.machine.isDoubted)
    }

    @Test mutating func successfulProbeHasPrecedenceOverFailedOrigins() {
        bench = ReachabilityBench(hasProbe: true)
        _ = bench.learn(.probed(.expected))
        _ = away("a", "b", "c")
        #expect(bench.machine.isDoubted)
        #expect(!bench.machine.isNetworkAway)
        #expect(bench.state == .online)
    }

    @Test mutating func onlineModeHasPrecedenceOverFailedOrigins() {
        bench = ReachabilityBench(mode: .online)
        _ = away("a", "b", "c")
        #expect(!bench.machine.isNetworkAway)
        #expect(bench.state == .online)
    }
}
