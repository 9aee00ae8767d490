import Testing

@testable import LayoverCore

/// After a reload the routes of tickets are looked up in portions.
struct ReloadPortionTests {
    private var bench = PendingBench()

    private static let new = Policy.fixture { $0.name = "new" }

    @Test mutating func ticketThatIsDueGoesByItsNewRouteBeforeItsPortion() {
        var ids: [EntryID] = []
        for _ in 0..<3 {
            let id = bench.accepted()
            _ = bench.fail(id, .reset, delay: .seconds(5))
            ids.append(id)
        }
        bench.set.reloaded { _ in TicketRoute(route: "new", policy: Self.new, parentProxyGate: nil) }
        _ = bench.kept(bench.set.rerouteSome(1, now: bench.now))
        #expect(ids.map { bench.entry($0)?.route } == ["new", nil, nil])
        #expect(bench.set.isRerouting)
        #expect(bench.wait(.seconds(5)).started == ids)
        #expect(ids.map { bench.entry($0)?.route } == ["new", "new", "new"])
        #expect(ids.map { bench.entry($0)?.policy.name } == ["new", "new", "new"])
    }

    @Test mutating func laterReloadTakesThePlaceOfTheOneUnderWay() {
        let ids = (0..<3).map { _ in bench.accepted { $0.lane = "lane" } }
        bench.set.reloaded { _ in TicketRoute(route: "old", policy: Self.new, parentProxyGate: nil) }
        _ = bench.kept(bench.set.rerouteSome(2, now: bench.now))
        bench.set.reloaded { _ in TicketRoute(route: "new", policy: Self.new, parentProxyGate: nil) }
        _ = bench.kept(bench.set.rerouteSome(2, now: bench.now))
        #expect(bench.set.isRerouting)
        _ = bench.kept(bench.set.rerouteSome(2, now: bench.now))
        #expect(!bench.set.isRerouting)
        #expect(ids.map { bench.entry($0)?.route } == ["new", "new", "new"])
    }
}
