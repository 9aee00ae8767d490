import Testing

@testable import LayoverCore

struct ParkingTests {
    private var bench = PendingBench()

    @Test mutating func connectivityFailureShutsTheGateAndParksTheEntry() {
        let (id, actions) = bench.park()
        #expect(actions == [.shut()])
        #expect(bench.reports == [.parked])
        let entry = bench.entry(id)
        #expect(entry?.state == .waiting)
        #expect(entry?.waitingFor == .origin)
        #expect(entry?.attemptCount == 1)
        #expect(entry?.lastFailure == .refused)
        #expect(entry?.lastFailureAt == bench.now)
        #expect(entry?.revision == 1)
        #expect(bench.wait(of: id) == .seconds(1))
        #expect(bench.set.nextWakeAt == bench.now + .seconds(1))
        #expect(bench.shutOrigins == [PendingBench.origin])
    }

    @Test mutating func aFailureAfterSendingLeavesTheGateOpen() {
        let (id, actions) = bench.park(.reset, delay: .seconds(5))
        #expect(actions == [.watched()])
        #expect(bench.entry(id)?.waitingFor == .time)
        #expect(bench.wait(of: id) == .seconds(5))
        #expect(bench.shutOrigins.isEmpty)
        #expect(bench.wait(.seconds(4)) == [])
        #expect(bench.wait(.seconds(1)) == [.start(id, .dueTime)])
        #expect(bench.reports == [.attempted])
        #expect(bench.state(id) == .attempting)
        #expect(bench.wait(of: id) == nil)
    }

    @Test mutating func gateIsReportedOnlyWhenItChanges() {
        #expect(bench.park(.reset).1 == [.watched()])
        #expect(bench.park(.reset).1 == [])
        let (canary, actions) = bench.park()
        #expect(actions == [.shut()])
        #expect(bench.park().1 == [])
        #expect(bench.wait(.seconds(1)).contains(.start(canary, .dueTime)) == false)
    }

    // MARK: Fresh requests at a shut gate

    @Test mutating func aFreshRequestAtAShutGateIsTheCanary() {
        _ = bench.parked()
        let (fresh, actions) = bench.park(nil)
        #expect(actions == [.start(fresh, .canary)])
        #expect(bench.reports == [.parked, .attempted])
        // One at a time.
        let (second, none) = bench.park(nil)
        #expect(none == [])
        let entry = bench.entry(second)
        #expect(entry?.state == .waiting)
        #expect(entry?.waitingFor == .origin)
        #expect(entry?.attemptCount == 0)
        #expect(entry?.lastFailure == nil)
        #expect(entry?.lastFailureAt == nil)
    }

    @Test mutating func freshRequestAtAnOpenGatePassesTheBacklog() {
        bench = PendingBench(perOriginAttemptCountMax: 1)
        let old = bench.parked(.reset, delay: .zero)
        #expect(bench.wait(.zero) == [.start(old, .dueTime)])
        let (fresh, actions) = bench.park(nil)
        #expect(actions == [.start(fresh, .arrival)])
    }

    @Test mutating func offlineModeStartsNoCanary() {
        _ = bench.mode(.offline)
        let (fresh, actions) = bench.park(nil)
        #expect(actions == [.watched()])
        #expect(bench.entry(fresh)?.waitingFor == .network)
        #expect(bench.wait(of: fresh) == nil)
        #expect(bench.wait(.seconds(60)) == [])
        #expect(bench.mode(.auto) == [.start(fresh, .dueTime)])
    }

    // MARK: Limits

    @Test mutating func fullPendingSetRefusesRequests() {
        bench = PendingBench { $0.entryCountMax = 2 }
        let first = bench.parked()
        _ = bench.parked()
        let (refused, actions) = bench.park()
        #expect(actions == [.refuse(refused, limit: "limits.entries", value: 2)])
        #expect(bench.entry(refused) == nil)
        #expect(bench.set.count == 2)
        // A place that becomes free can be had.
        _ = bench.command(.cancel, first)
        #expect(bench.park().1 == [])
        #expect(bench.set.count == 2)
    }

    @Test mutating func requestAboveTheLimitOfHeldClientsIsRefused() {
        bench = PendingBench { $0.heldClientCountMax = 1 }
        _ = bench.parked(.reset)
        let (refused, actions) = bench.park(nil)
        #expect(actions == [.refuse(refused, limit: "limits.heldClients", value: 1)])
        #expect(bench.set.heldCount == 1)
    }

    // MARK: Views

    @Test mutating func countsAreThoseOfTheEntries() {
        #expect(bench.set.counts == [.waiting: 0, .attempting: 0, .held: 0, .undecided: 0])
        _ = bench.parked()
        _ = bench.parked(nil)
        _ = bench.parked(nil)
        #expect(bench.set.counts == [.waiting: 2, .attempting: 1, .held: 0, .undecided: 0])
        #expect(bench.set.heldCount == 3)
        #expect(bench.set.liveEntries.count == 3)
    }

    @Test mutating func networkOutageIsShownAsTheReasonForWaiting() {
        let id = bench.parked()
        bench.set.networkNoted(isAway: true)
        #expect(bench.entry(id)?.waitingFor == .network)
    }

    @Test mutating func entryNotWokenByItsOriginShowsItsRealDueTime() {
        let patient = Policy.fixture { $0.wakeOnReachable = false }
        let id = bench.parked(delay: .seconds(20), policy: patient)
        #expect(bench.wait(of: id) == .seconds(20))
        #expect(bench.wait(.seconds(19)) == [])
        #expect(bench.wait(.seconds(1)) == [.start(id, .dueTime)])
    }

    @Test mutating func retryAfterIsTheDelayOfTheGate() throws {
        let id = bench.parked()
        let entry = try #require(bench.entry(id))
        #expect(bench.set.retryAfter(for: entry, now: bench.now) == .seconds(1))
        #expect(bench.set.retryAfter(for: entry, now: bench.now + .seconds(5)) == .seconds(1))
        let broken = bench.parked(.reset, origin: Origin(scheme: .http, host: "b"))
        let other = try #require(bench.entry(broken))
        #expect(bench.set.retryAfter(for: other, now: bench.now) == nil)
    }

    @Test mutating func retryAfterIsTheEndOfAPause() throws {
        let id = bench.park(.answered(503), delay: .seconds(40), retryAfter: .seconds(40)).0
        let entry = try #require(bench.entry(id))
        #expect(bench.set.retryAfter(for: entry, now: bench.now) == .seconds(40))
    }
}
