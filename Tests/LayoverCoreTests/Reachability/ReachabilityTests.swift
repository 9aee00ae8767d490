import Testing

@testable import LayoverCore

/// Links, names, hints and modes. The rules are numbered as in the machine's own words.
struct ReachabilityTests {
    private var bench = ReachabilityBench()
    private static let woken: [ReachabilityAction] = [.changed, .networkChanged, .wake]

    // MARK: Before anything changed

    @Test func reachabilityIsUnknownBeforeTheFirstSnapshot() {
        let bench = ReachabilityBench(links: nil)
        #expect(bench.state == .unknown)
        #expect(bench.machine.view.detail == "No information about network links yet.")
        #expect(!bench.machine.isNetworkAway)
        #expect(bench.wakesIn == nil)
    }

    @Test(arguments: [
        (ReachabilityBench.home, ReachabilityState.online), (ReachabilityBench.cable, .limited),
        (ReachabilityBench.nothing, .offline),
    ])
    func firstSnapshotIsNotANetworkChange(links: LinkSnapshot, state: ReachabilityState) {
        var bench = ReachabilityBench(links: nil)
        #expect(bench.learn(.links(links)) == [.changed])
        #expect(bench.state == state)
        #expect(bench.machine.isNetworkAway == (state == .offline))
        #expect((bench.machine.view.detail == nil) == (state == .online))
        #expect(bench.machine.view.links == links)
        #expect(bench.machine.view.networkChangedAt == nil)
        #expect(bench.wakesIn == nil)
        #expect(bench.wait(.seconds(10)) == [])
    }

    // MARK: Rule 1: a change opens a window; at its end the newest picture is judged once

    @Test mutating func aChangeWakesWhenItsWindowIsOver() {
        #expect(bench.learn(.links(ReachabilityBench.office)) == [])
        #expect(bench.wakesIn == .milliseconds(500))
        #expect(bench.machine.view.links == ReachabilityBench.home)
        #expect(bench.wait(.milliseconds(499)) == [])
        #expect(bench.wait(.milliseconds(1)) == Self.woken)
        #expect(bench.machine.view.links == ReachabilityBench.office)
        #expect(bench.machine.view.networkChangedAt == bench.now)
        #expect(bench.wakesIn == nil)
        #expect(bench.wait(.seconds(10)) == [])
    }

    @Test mutating func equalSnapshotIsNotANetworkChange() {
        #expect(bench.learn(.links(ReachabilityBench.home)) == [])
        #expect(bench.wakesIn == nil)
    }

    @Test mutating func moreChangesDoNotLengthenTheWindow() {
        _ = bench.learn(.links(ReachabilityBench.nothing))
        #expect(bench.wait(.milliseconds(300)) == [])
        #expect(bench.learn(.links(ReachabilityBench.cable)) == [])
        #expect(bench.learn(.resolverChanged) == [])
        #expect(bench.wakesIn == .milliseconds(200))
        #expect(bench.wait(.milliseconds(200)) == Self.woken)
        #expect(bench.state == .limited)
        #expect(bench.wait(.seconds(1)) == [])
    }

    @Test mutating func changeAfterTheWindowOpensANewWindow() {
        _ = bench.learn(.links(ReachabilityBench.office))
        bench.now = bench.now + .seconds(2)
        // The window's end is worked on first, then a new one opens.
        #expect(bench.learn(.links(ReachabilityBench.home)) == Self.woken)
        #expect(bench.machine.view.links == ReachabilityBench.office)
        #expect(bench.wakesIn == .milliseconds(500))
    }

    /// Kept connections are dropped. Otherwise the next request would be written to one and hang.
    @Test mutating func networkLossDoesNotWake() {
        #expect(bench.settle(ReachabilityBench.nothing) == [.changed, .networkChanged])
        #expect(bench.state == .offline)
        #expect(bench.machine.isNetworkAway)
        #expect(bench.machine.view.networkChangedAt == bench.now)
        #expect(bench.machine.view.since == bench.now)
    }

    private static let ways: [(before: LinkSnapshot, after: LinkSnapshot)] = [
        (ReachabilityBench.nothing, ReachabilityBench.home), (ReachabilityBench.nothing, ReachabilityBench.cable),
        (ReachabilityBench.cable, ReachabilityBench.home),
    ]

    @Test(arguments: ways)
    mutating func aWayWhereNoneWasWakesAtOnceAndAtTheEndOfItsWindow(before: LinkSnapshot, after: LinkSnapshot) {
        _ = bench.settle(before)
        #expect(bench.learn(.links(after)) == Self.woken)
        #expect(bench.machine.view.links == after)
        #expect(bench.machine.view.networkChangedAt == bench.now)
        #expect(bench.wakesIn == .milliseconds(500))
        #expect(bench.wait(.milliseconds(499)) == [])
        #expect(bench.wait(.milliseconds(1)) == Self.woken)
        #expect(bench.wait(.seconds(10)) == [])
    }

    /// As by DHCP: the address first, then the default route.
    @Test mutating func eachStepOfAWayBackWakesAtOnce() {
        _ = bench.settle(ReachabilityBench.nothing)
        #expect(bench.learn(.links(ReachabilityBench.cable)) == Self.woken)
        #expect(bench.wait(.milliseconds(200)) == [])
        #expect(bench.learn(.links(ReachabilityBench.office)) == Self.woken)
        #expect(bench.wakesIn == .milliseconds(300))
        #expect(bench.state == .online)
    }

    @Test(arguments: [ReachabilityBench.home, nil])
    mutating func anotherResolverIsAChange(links: LinkSnapshot?) {
        bench = ReachabilityBench(links: links)
        #expect(bench.learn(.resolverChanged) == [])
        #expect(bench.wait(.milliseconds(500)) == Self.woken)
    }

    // MARK: Rule 2: a link that went and came back wakes too

    @Test mutating func aLinkThatFlapsWithinTheWindowWakes() {
        _ = bench.learn(.links(ReachabilityBench.nothing))
        _ = bench.wait(.milliseconds(100))
        _ = bench.learn(.links(ReachabilityBench.home))
        #expect(bench.wait(.milliseconds(400)) == Self.woken)
        #expect(bench.state == .online)
    }

    /// A loose plug: twenty changes a second for ten seconds.
    @Test mutating func aLinkThatFlapsOnWakesOnceAWindow() {
        var wakeCount = 0
        for number in 0..<200 {
            let links = number % 2 == 0 ? ReachabilityBench.nothing : ReachabilityBench.home
            wakeCount += bench.learn(.links(links)).count { $0 == .wake }
            wakeCount += bench.wait(.milliseconds(50)).count { $0 == .wake }
        }
        #expect((1...20).contains(wakeCount))
        #expect(bench.wait(.seconds(1)).count { $0 == .wake } <= 1)
        #expect(bench.state == .online)
    }

    // MARK: Rule 4: a hint and a resume wake at once

    @Test(arguments: [ReachabilityFact.hinted, .resumed])
    mutating func aHintWakesAtOnce(fact: ReachabilityFact) {
        #expect(bench.learn(fact) == Self.woken)
        #expect(bench.wait(.seconds(10)) == [])
        bench = ReachabilityBench(links: ReachabilityBench.nothing)
        #expect(bench.learn(fact) == Self.woken)
        #expect(bench.state == .offline)
    }

    @Test mutating func hintKeepsTheChangeThatIsBeingCollected() {
        _ = bench.learn(.links(ReachabilityBench.office))
        #expect(bench.learn(.hinted) == Self.woken)
        #expect(bench.wait(.milliseconds(500)) == Self.woken)
    }

    // MARK: Modes

    @Test mutating func modeOfTheAdminHasPrecedenceOverObservations() {
        #expect(bench.learn(.mode(.offline, reason: "on a train")) == [.changed])
        #expect(bench.state == .offline)
        #expect(bench.machine.isNetworkAway)
        #expect(bench.machine.view.observed == .online)
        #expect(bench.machine.view.reason == "on a train")
        #expect(bench.learn(.mode(.offline, reason: "on a train")) == [])
        #expect(bench.learn(.mode(.offline, reason: nil)) == [.changed])
        #expect(bench.learn(.mode(.online, reason: nil)) == [.changed])
        _ = bench.settle(ReachabilityBench.nothing)
        #expect(bench.state == .online)
        #expect(bench.machine.view.observed == .offline)
        #expect(bench.learn(.mode(.auto, reason: nil)) == [.changed])
        #expect(bench.state == .offline)
        #expect(bench.machine.view.since == bench.now)
    }

    @Test mutating func offlineModeAppliesFromTheStart() {
        bench = ReachabilityBench(mode: .offline, hasProbe: true)
        #expect(bench.state == .offline)
        #expect(bench.wakesIn == nil)
    }
}
