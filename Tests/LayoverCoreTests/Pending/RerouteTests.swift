import Testing

@testable import LayoverCore

/// After a reload, what waits follows the route that is for it now.
struct RerouteTests {
    private var bench = PendingBench()

    @Test mutating func anEntryTakesItsNewRouteAndPolicy() {
        let id = bench.parked(.reset, delay: .seconds(5))
        let policy = Policy.fixture {
            $0.name = "new"
            $0.automaticAttemptsMax = 7
            $0.priority = 1
        }
        #expect(bench.reroute(id, route: "api", policy: policy) == [])
        #expect(bench.reports == [.changed])
        let entry = bench.entry(id)
        #expect(entry?.route == "api")
        #expect(entry?.policy == policy)
        #expect(entry?.automaticLeft == 7)
        #expect(entry?.revision == 2)
        #expect(bench.wait(of: id) == .seconds(5))
        #expect(bench.wait(.seconds(5)) == [.start(id, .dueTime)])
    }

    @Test mutating func rerouteToTheSamePolicyChangesNothing() {
        let id = bench.parked(.reset)
        #expect(bench.reroute(id, policy: .fixture()) == [])
        #expect(bench.reports == [])
        #expect(bench.reroute(EntryID(using: &bench.generator), route: "x", policy: .fixture()) == [])
    }

    @Test mutating func reloadMovesTheEndOfAHoldBothWays() {
        let long = bench.parked(.reset, delay: .seconds(9999))
        let short = bench.parked(.reset, delay: .seconds(9999))
        _ = bench.wait(.seconds(100))
        _ = bench.reroute(long, policy: .fixture { $0.holdMax = .seconds(900) })
        _ = bench.reroute(short, policy: .fixture { $0.lifetime = .seconds(200) })
        // Counted from the moment they were parked.
        #expect(bench.entry(short)?.expiresAt == bench.now + .seconds(100))
        #expect(bench.wait(.seconds(99)) == [])
        #expect(bench.wait(.seconds(1)) == [.end(short, .expired)])
        #expect(bench.wait(.seconds(699)) == [])
        #expect(bench.wait(.seconds(1)).first == .end(long, .expired))
    }

    @Test mutating func holdOfABrokenResponseStillCountsFromItsLastBreakAfterAReload() {
        let id = bench.parked(.reset, delay: .seconds(100), policy: .fixture { $0.holdMax = .seconds(300) })
        #expect(bench.wait(.seconds(100)) == [.start(id, .dueTime)])
        _ = bench.wait(.seconds(100))
        _ = bench.fail(id, .reset, delay: .seconds(9999), resume: ResumeProgress(done: 10, total: 100, times: 1))
        #expect(bench.wait(.seconds(200)) == [])
        #expect(bench.reroute(id, policy: .fixture { $0.holdMax = .seconds(250) }) == [])
        #expect(bench.wait(.seconds(49)) == [])
        #expect(bench.wait(.seconds(1)).first == .end(id, .expired))
    }

    @Test mutating func entryExpiredUnderTheNewPolicyEndsAtOnce() {
        let id = bench.parked(.reset, delay: .seconds(9999))
        _ = bench.wait(.seconds(100))
        #expect(bench.reroute(id, policy: .fixture { $0.holdMax = .seconds(50) }) == [])
        #expect(bench.set.nextWakeAt == bench.now)
        #expect(bench.wait(.zero).first == .end(id, .expired))
    }

    /// `holdMax` had passed during the attempt, so only the end of the old lifetime was watched.
    @Test(arguments: [750, 700, 650])
    mutating func aShorterLifetimeEndsAnAttemptThatHasOutlastedHoldMax(lifetime: Int) {
        let id = bench.parked(.reset, delay: .zero)
        #expect(bench.wait(.zero) == [.start(id, .dueTime)])
        #expect(bench.wait(.seconds(700)) == [], "only its wait is limited by holdMax")
        #expect(bench.reroute(id, policy: .fixture { $0.lifetime = .seconds(lifetime) }).ended == [])
        if lifetime > 700 { #expect(bench.wait(.seconds(lifetime - 701)).ended == []) }
        #expect(bench.wait(lifetime > 700 ? .seconds(1) : .zero).ended == [id])
        #expect(bench.state(id) == .expired)
    }

    @Test mutating func aReloadNeverShortensTheLifeOfATicket() {
        let id = bench.accepted { $0.policy = .fixture { $0.lifetime = .seconds(3600) } }
        _ = bench.fail(id, .reset, delay: .seconds(99_999))
        let began = bench.now
        _ = bench.wait(.seconds(100))
        _ = bench.reroute(id, policy: .fixture { $0.lifetime = .seconds(50) })
        #expect(bench.wait(.zero).ended == [])
        #expect(bench.entry(id)?.expiresAt == began + .seconds(3600))
        _ = bench.reroute(id, policy: .fixture { $0.lifetime = .seconds(7200) })
        #expect(bench.entry(id)?.expiresAt == began + .seconds(7200), "the later of the two")
        _ = bench.reroute(id, policy: .fixture { $0.lifetime = .seconds(50) })
        #expect(bench.wait(.seconds(7099)).ended == [])
        #expect(bench.wait(.seconds(1)).ended == [id])
    }

    @Test mutating func attemptUnderWayMayFinish() {
        let id = bench.parked(.reset, delay: .seconds(1))
        _ = bench.wait(.seconds(100))
        _ = bench.reroute(id, policy: .fixture { $0.holdMax = .seconds(50) })
        #expect(bench.wait(.seconds(100)) == [])
        #expect(bench.deliver(id) == [.forgotten()])
        #expect(bench.state(id) == .delivered)
    }

    /// A ticket that the reload ended as `failed` could not be brought back by another one.
    @Test(arguments: [Policy.ExhaustedRule.fail, .ask, .standIn(StandInResponse(status: 200))])
    mutating func attemptThatIsWaitedForIsMadeThoughTheNewPolicyLeavesNone(rule: Policy.ExhaustedRule) {
        let id = bench.parked(.reset, delay: .seconds(5))
        bench.counted(id)
        let policy = Policy.fixture { ($0.automaticAttemptsMax, $0.onExhausted) = (1, rule) }
        #expect(bench.reroute(id, route: nil, policy: policy, automaticLeft: 0, parentProxyGate: nil).ended == [])
        #expect(bench.state(id) == .waiting)
        #expect(bench.entry(id)?.automaticLeft == 0)
        #expect(bench.wait(.seconds(5)).started == [id])
    }

    @Test mutating func wakeOnReachableFollowsTheNewPolicy() {
        let patient = Policy.fixture { $0.wakeOnReachable = false }
        let ids = (0..<2).map { bench.parked(delay: .seconds(50), policy: $0 == 0 ? patient : .fixture()) }
        _ = bench.reroute(ids[0], policy: .fixture())
        _ = bench.reroute(ids[1], policy: patient)
        #expect(bench.originAnswered() == [.watched(), .start(ids[0], .reachability)])
        #expect(bench.reachable() == [.abandonConnecting(ids[0])])
        #expect(bench.state(ids[1]) == .waiting)
    }

    @Test(arguments: [EntryCommand.hold, nil])
    mutating func heldEntryStaysHeldAfterAReroute(command: EntryCommand?) {
        let id = bench.parked(.reset, asks: command == nil ? .exhausted : nil)
        if let command { _ = bench.command(command, id) }
        let before = bench.state(id)
        #expect(bench.reroute(id, route: "new", policy: .fixture { $0.automaticAttemptsMax = 99 }) == [])
        #expect(bench.state(id) == before)
        #expect(bench.wait(.seconds(99)) == [])
    }
}
