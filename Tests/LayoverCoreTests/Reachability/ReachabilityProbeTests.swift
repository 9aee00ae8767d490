import Testing

@testable import LayoverCore

/// Probes and captive portals.
struct ReachabilityProbeTests {
    private var bench = ReachabilityBench(hasProbe: true)
    private static let silence = ProbeResult.failed(.connectionTimeout, message: "No answer.")

    /// Answers the first probe.
    private mutating func begin(_ result: ProbeResult) {
        _ = bench.wait(.zero)
        _ = bench.learn(.probed(result))
    }

    // MARK: When

    @Test mutating func firstProbeIsDueAtOnceAndTheNextAfterItsResult() {
        bench = ReachabilityBench(hasProbe: true, links: nil)
        #expect(bench.wakesIn == .zero)
        #expect(bench.wait(.zero) == [.probe])
        // While it is under way nothing is due, however long it takes.
        #expect(bench.wakesIn == nil)
        #expect(bench.wait(.seconds(60)) == [])
        #expect(bench.learn(.probed(.expected)) == [.changed])
        #expect(bench.machine.view.lastProbe == .expected)
        #expect(bench.machine.view.lastProbeAt == bench.now)
        #expect(bench.wakesIn == .seconds(10))
        #expect(bench.wait(.seconds(9)) == [])
        #expect(bench.wait(.seconds(1)) == [.probe])
        // A response that is no news is told to nobody.
        #expect(bench.learn(.probed(.expected)) == [])
    }

    @Test mutating func networkChangeIsProbedAtOnce() {
        begin(.expected)
        #expect(bench.settle(ReachabilityBench.office) == [.changed, .networkChanged, .wake, .probe])
        #expect(bench.wakesIn == nil)
        #expect(bench.learn(.hinted) == [.changed, .networkChanged, .wake, .probe])
    }

    @Test mutating func noProbeIsMadeIfNoneIsConfigured() {
        bench = ReachabilityBench()
        #expect(bench.wakesIn == nil)
        #expect(bench.learn(.hinted) == [.changed, .networkChanged, .wake])
        #expect(
            bench.learn(.mode(.offline, reason: nil)) + bench.learn(.mode(.auto, reason: nil)) == [
                .changed, .changed,
            ])
    }

    // MARK: Rule 5: offline makes no probe

    @Test mutating func offlineMakesNoProbe() {
        begin(.expected)
        #expect(bench.learn(.mode(.offline, reason: nil)) == [.changed])
        #expect(bench.wakesIn == nil)
        #expect(bench.wait(.seconds(60)) == [])
        #expect(bench.settle(ReachabilityBench.office).contains(.probe) == false)
        #expect(bench.learn(.hinted).contains(.probe) == false)
        // A late response does not start the clock.
        _ = bench.learn(.probed(.expected))
        #expect(bench.wakesIn == nil)
        #expect(bench.learn(.mode(.auto, reason: nil)) == [.changed, .probe])
    }

    // MARK: What a response says

    @Test(arguments: [
        (ProbeResult.expected, ReachabilityState.online, nil),
        (.portal(status: 302), .portal, "The probe got an unexpected status (302): probably a captive portal."),
        (silence, .limited, "The probe failed: No answer."),
    ])
    mutating func probeResultHasPrecedenceOverTheLinks(result: ProbeResult, state: ReachabilityState, detail: String?) {
        bench = ReachabilityBench(hasProbe: true, links: ReachabilityBench.cable)
        begin(result)
        #expect(bench.state == state)
        #expect(bench.machine.view.detail == detail)
        #expect(bench.machine.isNetworkAway == (state == .portal))
    }

    @Test mutating func failedProbeDoesNotWake() {
        begin(.expected)
        _ = bench.wait(.seconds(10))
        #expect(bench.learn(.probed(Self.silence)) == [.changed])
        #expect(bench.state == .limited)
    }

    // MARK: Rule 3: behind a portal a change wakes nobody until the probe was made anew

    @Test mutating func behindAPortalAChangeWaitsForTheProbe() {
        begin(.portal(status: 200))
        #expect(bench.settle(ReachabilityBench.office) == [.changed, .networkChanged, .probe])
        #expect(bench.state == .portal)
        #expect(bench.learn(.probed(.portal(status: 200))) == [])
        #expect(bench.state == .portal)
        _ = bench.wait(.seconds(10))
        #expect(bench.learn(.probed(.expected)) == [.changed, .networkChanged, .wake])
        #expect(bench.state == .online)
        #expect(bench.machine.view.networkChangedAt == bench.now)
    }

    /// The link went and came back in front of the same portal.
    @Test mutating func behindAPortalAWayBackWaitsForTheProbeToo() {
        begin(.portal(status: 302))
        #expect(bench.settle(ReachabilityBench.nothing) == [.changed, .networkChanged])
        #expect(bench.learn(.links(ReachabilityBench.home)) == [.changed, .networkChanged, .probe])
        #expect(bench.wait(.milliseconds(500)) == [.changed, .networkChanged, .probe])
        #expect(bench.learn(.probed(.expected)).contains(.wake))
    }

    @Test mutating func failedProbeReleasesAWakeDelayedByAPortalOnce() {
        begin(.portal(status: 302))
        _ = bench.settle(ReachabilityBench.office)
        #expect(bench.learn(.probed(Self.silence)) == [.changed, .wake])
        #expect(bench.state == .limited)
        _ = bench.wait(.seconds(10))
        #expect(bench.learn(.probed(Self.silence)) == [])
    }

    @Test mutating func networkLossDropsADelayedWake() {
        begin(.portal(status: 302))
        _ = bench.settle(ReachabilityBench.office)
        #expect(bench.settle(ReachabilityBench.nothing) == [.changed, .networkChanged])
        #expect(bench.state == .offline)
        #expect(bench.learn(.probed(Self.silence)).contains(.wake) == false)
    }

    @Test mutating func onlineModeIgnoresPortals() {
        begin(.portal(status: 302))
        #expect(bench.learn(.mode(.online, reason: nil)) == [.changed])
        #expect(bench.state == .online)
        #expect(!bench.machine.isNetworkAway)
        #expect(bench.settle(ReachabilityBench.office) == [.changed, .networkChanged, .wake, .probe])
    }
}
