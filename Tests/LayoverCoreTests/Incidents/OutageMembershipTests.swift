import Testing

@testable import LayoverCore

/// Everything that waits for an origin is a member of its incident, whether it was tried or not.
struct OutageMembershipTests {
    private var bench = PendingBench()

    private var open: [Incident] { bench.set.incidents(now: bench.now) }

    /// After a restart one ticket at a time is sent to an origin.
    private mutating func restored(_ count: Int) -> [EntryID] {
        let ids = (0..<count).map { _ in bench.accepted() }
        _ = bench.restart()
        return ids
    }

    @Test mutating func untriedEntriesJoinWhenTheGateShuts() throws {
        let ids = restored(50)
        #expect(open.isEmpty)
        let tried = try #require(ids.first { bench.state($0) == .attempting })
        _ = bench.fail(tried, .refused)
        let incident = try #require(open.first)
        #expect(open.count == 1 && incident.waiting == 50)
        #expect(incident.cause == .init(kind: .connectionRefused, phase: .connecting))
        _ = bench.command(.cancel, incident: incident.id)
        #expect(bench.set.count == 0)
        #expect(bench.incidents.last?.kind == .closed)
    }

    @Test mutating func untriedEntriesOfAnEarlierRunAreInTheIncidentOfTheTriedOnes() throws {
        let ids = [bench.accepted(), bench.accepted(), bench.accepted()]
        _ = bench.fail(ids[0], .refused)
        _ = bench.restart()
        let waiting = ids.filter { bench.state($0) == .waiting }
        let incident = try #require(open.first)
        #expect(open.count == 1 && waiting.allSatisfy { bench.entry($0)?.incident == incident.id })
        #expect(!waiting.isEmpty && bench.incidents.first?.incident.waiting == incident.waiting, "as it is opened")
    }

    @Test mutating func ticketsAcceptedOfflineAreInTheIncidentOfTheNetwork() throws {
        _ = bench.mode(.offline)
        let ids = [bench.accepted(), bench.accepted()]
        let incident = try #require(open.first)
        #expect(incident.scope == .network && incident.waiting == 2)
        _ = bench.command(.cancel, incident: incident.id)
        #expect(ids.allSatisfy { bench.set.entry($0, now: bench.now)?.state == .cancelled })
    }

    @Test mutating func waitingEntriesJoinWhenAPersonGoesOffline() throws {
        _ = restored(5)
        _ = bench.mode(.offline)
        #expect(open.first?.scope == .network)
        #expect(open.first?.waiting == 4, "all but the one that is under way")
    }

    @Test mutating func releasedEntryJoinsBehindAShutGate() throws {
        let ids = restored(3)
        let tried = try #require(ids.first { bench.state($0) == .attempting })
        let held = try #require(ids.first { bench.state($0) == .waiting })
        _ = bench.command(.hold, held)
        _ = bench.fail(tried, .refused)
        #expect(open.first?.waiting == 2)
        _ = bench.command(.release, held)
        #expect(open.first?.waiting == 3)
    }

    /// So many join in portions, each at the end of a fact.
    @Test mutating func manyEntriesJoinInPortions() throws {
        let ids = restored(2 * Strays.portion + 100)
        let tried = try #require(ids.first { bench.state($0) == .attempting })
        _ = bench.fail(tried, .refused)
        #expect(open.first?.waiting == Strays.portion)
        for _ in 0..<2 {
            #expect(bench.set.nextWakeAt == bench.now)
            _ = bench.handle(TimePassed())
        }
        #expect(open.first?.waiting == ids.count)
    }
}
