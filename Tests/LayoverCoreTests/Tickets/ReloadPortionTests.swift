import Testing

@testable import LayoverCore

/// After a reload the routes of entries are looked up in portions.
struct ReloadPortionTests {
    private var bench = PendingBench()

    private static let new = Policy.fixture { $0.name = "new" }

    private mutating func reload(
        as number: Int = 1, to route: String? = "new", policy: Policy = Self.new, first: [EntryID] = [], portion: Int
    ) -> [PendingAction] {
        bench.kept(
            bench.set.reloaded(as: number, first: first, portion: portion, now: bench.now) { _ in
                FoundRoute(route: route, policy: policy, parentProxyGate: nil)
            })
    }

    @Test mutating func ticketThatIsDueGoesByItsNewRouteBeforeItsPortion() {
        var ids: [EntryID] = []
        for _ in 0..<3 {
            let id = bench.accepted()
            _ = bench.fail(id, .reset, delay: .seconds(5))
            ids.append(id)
        }
        _ = reload(portion: 1)
        #expect(ids.map { bench.entry($0)?.route } == ["new", nil, nil])
        #expect(bench.set.isRerouting)
        #expect(bench.wait(.seconds(5)).started == ids)
        #expect(ids.map { bench.entry($0)?.route } == ["new", "new", "new"])
        #expect(ids.map { bench.entry($0)?.policy.name } == ["new", "new", "new"])
    }

    @Test mutating func laterReloadTakesThePlaceOfTheOneUnderWay() {
        let ids = (0..<3).map { _ in bench.accepted { $0.lane = "lane" } }
        _ = reload(to: "old", portion: 2)
        _ = reload(as: 2, portion: 2)
        #expect(bench.set.isRerouting)
        _ = bench.kept(bench.set.rerouteSome(2, now: bench.now))
        #expect(!bench.set.isRerouting)
        #expect(ids.map { bench.entry($0)?.route } == ["new", "new", "new"])
    }

    @Test mutating func entriesThatAreToBeFirstAreInTheFirstPortion() {
        let ticket = bench.accepted { $0.lane = "lane" }
        let held = bench.parked()
        let actions = reload(first: [held], portion: 1)
        #expect(actions.contains(.reroute(held)))
        #expect([ticket, held].map { bench.entry($0)?.route } == [nil, "new"])
        _ = bench.kept(bench.set.rerouteSome(2, now: bench.now))
        #expect(!bench.set.isRerouting)
        #expect(bench.entry(ticket)?.route == "new")
    }

    @Test mutating func entriesLeftAreCounted() {
        for _ in 0..<3 { _ = bench.accepted { $0.lane = "lane" } }
        let held = bench.parked()
        #expect(bench.set.rerouteCount == 0)
        _ = reload(first: [held], portion: 0)
        #expect(bench.set.rerouteCount == 4 && bench.set.isReroutingFirst)
        for left in [3, 2, 1, 0] {
            _ = bench.kept(bench.set.rerouteSome(1, now: bench.now))
            #expect(bench.set.rerouteCount == left && !bench.set.isReroutingFirst)
        }
        #expect(!bench.set.isRerouting, "the one that was first has no second turn")
    }

    /// A loop planned it by the table of before the reload, and it came to the engine after the reload.
    @Test(arguments: [false, true]) mutating func requestPlannedByAnOlderTableIsReroutedAsItJoins(isOld: Bool) {
        _ = reload(portion: 1)
        #expect(!bench.set.isRerouting)
        let id = EntryID(using: &bench.generator)
        var new = NewEntry(
            RequestDescription(
                id: id, method: "GET", url: "\(PendingBench.origin)/", origin: PendingBench.origin, createdAt: bench.now),
            client: .init(address: "127.0.0.1"), policy: .fixture(), failure: .refused,
            parking: .init(delay: .seconds(1), shutsGate: true, rule: .retryOn))
        new.routesNumber = isOld ? 0 : 1
        let actions = bench.handle(ParkRequested(new))
        #expect(actions.contains(.reroute(id)) == isOld)
        #expect(bench.entry(id)?.route == (isOld ? "new" : nil))
        let later = bench.wait(.seconds(60))
        #expect(later.started == [id])
        #expect(!later.contains(.reroute(id)), "once")
    }

    /// A request that may have been applied joins after a reload.
    private mutating func joined(
        _ method: String, by policy: Policy, after failure: Failure, _ rule: Verdict.ParkingRule, automaticLeft: Int? = nil,
        new newPolicy: Policy
    ) -> (EntryID, [PendingAction]) {
        _ = reload(to: nil, policy: newPolicy, portion: 1)
        let id = EntryID(using: &bench.generator)
        let new = NewEntry(
            RequestDescription(
                id: id, method: method, url: "\(PendingBench.origin)/", origin: PendingBench.origin, createdAt: bench.now),
            client: .init(address: "127.0.0.1"), policy: policy,
            AttemptTally(AttemptCounts(all: 1, automatic: 1, mayHaveBeenApplied: true), automaticLeft: automaticLeft), failure: failure,
            parking: .init(delay: .seconds(1), shutsGate: false, rule: rule))
        return (id, bench.handle(ParkRequested(new)))
    }

    /// By the new policy it may not be sent twice.
    @Test mutating func requestThatMayNotBeSentTwiceAnyMoreEndsAsItJoins() {
        let (id, actions) = joined("POST", by: .fixture { $0.repeatable = true }, after: .reset, .retryOn, new: Self.new)
        #expect(actions.contains(.end(id, .maybeApplied)))
    }

    /// The loop judged the first attempt by a policy that allowed more than one.
    @Test(arguments: [Failure.reset, .answered(503)])
    mutating func requestWithoutAnAttemptLeftEndsAsItJoins(failure: Failure) {
        let isAnswered = failure.evidence == .answered
        let (id, actions) = joined(
            "GET", by: .fixture { $0.automaticAttemptsMax = 4 }, after: failure, isAnswered ? .status : .retryOn, automaticLeft: 3,
            new: .fixture { $0.automaticAttemptsMax = 1 })
        let expected: PendingAction = isAnswered ? .deliverResponse(id, .exhausted) : .end(id, .exhausted(nil))
        #expect(actions.contains(expected))
        #expect(!bench.set.isLive(id))
    }

    /// The response of its first attempt is in hand: its status was to be retried by the policy of before.
    @Test mutating func responseInHandIsDeliveredIfTheRequestMayNotBeSentTwiceAnyMore() {
        let (id, actions) = joined("POST", by: .fixture { $0.repeatable = true }, after: .answered(503), .status, new: Self.new)
        #expect(actions.contains(.deliverResponse(id, .notRepeatable)))
        #expect(!bench.set.isLive(id))
    }
}
