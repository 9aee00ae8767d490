import Testing

@testable import LayoverCore

/// A great many tickets after a restart: time must grow with their number, not with its square.
struct ManyTicketsTests {
    private static let count = 100_000

    private static func records(_ wish: (Int) -> PendingBench.Wish) -> [TicketRecord] {
        let now = Timestamp.at(.seconds(1000))
        return (0..<count).map { number in
            let wish = wish(number)
            let id = EntryID(high: 1, low: UInt64(number))
            return TicketRecord(wish.entry(id, now: now), wish.ticket, sequence: number + 1, now: now)
        }
    }

    /// A hundred thousand at once, then some of them delivered in their order.
    private static func check(_ policy: Policy = .fixture(), _ wish: @escaping (Int) -> PendingBench.Wish) {
        var bench = PendingBench()
        let records = records(wish)
        let clock = ContinuousClock()
        var order: [EntryID] = []
        let time = clock.measure {
            order = bench.restart(records, policy: policy).started
            for next in 0..<1000 where next < order.count { order += bench.deliver(order[next]).started }
        }
        print("RESTORED \(count) in \(time)")
        #expect(order.count > 1000)
        #expect(order == order.sorted { $0.low < $1.low })
        // A square of it would be minutes.
        #expect(time < .seconds(60))
    }

    @Test func manyTicketsInOneLaneAreFast() { Self.check { _ in PendingBench.Wish(lane: "lane") } }

    @Test func manyTicketsWithoutALaneAreFast() { Self.check { _ in PendingBench.Wish() } }

    @Test func manyChildrenOfOneParentAreFast() {
        Self.check { number in PendingBench.Wish(parents: number == 0 ? [] : [EntryID(high: 1, low: 0)]) }
    }

    @Test func manySkippedTicketsInOneLaneAreFast() {
        let skipping = Policy.fixture { $0.undecidedInLane = .skip }
        var bench = PendingBench()
        let records = Self.records { _ in PendingBench.Wish(policy: skipping, lane: "lane") }.map { record in
            var record = record
            record.state = .undecided
            record.why = .maybeApplied
            return record
        }
        let time = ContinuousClock().measure {
            _ = bench.restart(records, policy: skipping)
            for id in records.prefix(1000).map(\.id) { _ = bench.command(.cancel, id) }
        }
        #expect(bench.set.count == Self.count - 1000 && time < .seconds(60))
        let (id, actions) = bench.accept { $0.lane = "lane" }
        #expect(actions.started == [id])
    }

    /// A million of them wait in less than a gibibyte, with all that they point to.
    @Test func anEntryIsSmall() { #expect(MemoryLayout<Entry>.stride <= 552) }
}
