import Testing

@testable import LayoverCore

/// While the store takes no marks tickets do not go, and nobody else waits for them.
struct StoreTroubleTests {
    private var bench = PendingBench(perOriginAttemptCountMax: 1)

    /// A gate that is shut since a client's request failed, and whose canary may go. The first of the tickets makes an
    /// attempt, and the others have waited longer than the request that is held.
    private mutating func outage(ticketCount: Int) -> (held: EntryID, tickets: [EntryID]) {
        let first = bench.parked(delay: .seconds(1))
        let tickets = (0..<ticketCount).map { _ in bench.accepted() }
        let held = bench.parked(nil)
        #expect(bench.command(.cancel, first).0 == .done)
        #expect(bench.wait(.seconds(1)) == [])
        #expect(bench.state(tickets[0]) == .attempting)
        return (held, tickets)
    }

    /// Regression: each ticket was the canary once, and by then the first of them was due again.
    @Test mutating func heldRequestsPassPausedTickets() {
        let (held, tickets) = outage(ticketCount: 100)
        #expect(bench.notMarked(tickets[0]) == [.start(held, .dueTime)])
        #expect(bench.deliver(held) == [.watched()])
        #expect(bench.wait(.milliseconds(4900)) == [])
    }

    /// An attempt that the store stopped is no evidence about the origin, so the next canary is not delayed.
    @Test mutating func failureOfTheStoreLeavesTheGateUnchanged() {
        let (held, tickets) = outage(ticketCount: 1)
        _ = bench.notMarked(tickets[0])
        _ = bench.end(held, as: .cancelled)
        #expect(bench.shutOrigins == [PendingBench.origin])
        #expect(bench.park(nil).1.started.count == 1)
    }

    @Test mutating func oneTicketTestsTheStoreAfterThePauseAndTheOthersFollow() {
        let tickets = (0..<4).map { _ in bench.accepted() }
        #expect(bench.notMarked(tickets[0]) == [])
        #expect(bench.wait(.milliseconds(4999)) == [])
        #expect(bench.wait(.milliseconds(1)) == [.start(tickets[1], .arrival)])
        // The attempt connects slowly.
        #expect(bench.wait(.seconds(4)) == [])
        #expect(bench.storeRecovered() == [])
        for (index, id) in [tickets[1], tickets[0], tickets[2]].enumerated() {
            #expect(bench.deliver(id).started == [[tickets[0], tickets[2], tickets[3]][index]])
        }
        #expect(bench.storeRecovered() == [])
    }

    /// One whose mark is never taken does not keep the others from finding out.
    @Test mutating func ticketsTakeTurnsInTestingTheStore() {
        let tickets = (0..<3).map { _ in bench.accepted() }
        var probes = [tickets[0]]
        for _ in 0..<5 {
            #expect(bench.notMarked(probes[probes.count - 1]) == [])
            let actions = bench.wait(.seconds(5))
            #expect(actions.count == 1)
            probes += actions.started
        }
        #expect(probes == tickets + tickets)
    }

    /// The probe did not come as far as the store: the next one asks, at another origin.
    @Test mutating func nextTicketTestsTheStoreIfTheFirstDoesNotReachIt() {
        let here = bench.accepted()
        let waiting = bench.accepted()
        let there = bench.accepted { $0.origin = PendingBench.other }
        #expect(bench.notMarked(there) == [])
        #expect(bench.notMarked(here) == [])
        #expect(bench.wait(.seconds(5)) == [.start(waiting, .arrival)])
        #expect(bench.fail(waiting, delay: .seconds(60)) == [.shut(), .start(there, .dueTime)])
        #expect(bench.end(there, as: .cancelled).started == [])
        #expect(bench.wait(.seconds(1)).started == [here])
    }

    @Test mutating func retryByAPersonStartsInSpiteOfThePause() {
        let first = bench.accepted()
        let second = bench.accepted()
        _ = bench.notMarked(first)
        #expect(bench.command(.retry, second) == (.done, [.start(second, .admin)]))
        #expect(bench.notMarked(second) == [])
        #expect(bench.wait(.milliseconds(4999)) == [])
    }

    @Test mutating func ticketPausedByTheStoreShowsItsNextAttempt() {
        let first = bench.accepted()
        let second = bench.accepted()
        _ = bench.notMarked(first)
        for id in [first, second] {
            #expect(bench.reason(id) == .time)
            #expect(bench.wait(of: id) == .seconds(5))
        }
        _ = bench.wait(.seconds(2))
        #expect(bench.wait(of: second) == .seconds(3))
        _ = bench.mode(.offline)
        #expect(bench.reason(second) == .network)
        _ = bench.mode(.auto)
        #expect(bench.reason(second) == .time)
        // One goes, and the other is next.
        #expect(bench.wait(.seconds(3)).started == [second])
        #expect(bench.reason(first) == .turn)
    }

    @Test mutating func ticketPausedByTheStoreWaitsForAShutGate() {
        let (held, tickets) = outage(ticketCount: 2)
        _ = bench.notMarked(tickets[0])
        _ = bench.end(held, as: .cancelled)
        #expect(bench.reason(tickets[1]) == .origin)
        #expect(bench.wait(of: tickets[1]) == .seconds(5))
        #expect(bench.wait(.seconds(5)) == [.start(tickets[1], .dueTime)])
        #expect(bench.fail(tickets[1], delay: .seconds(60)) == [])
        // The pause is over, so the next canary may be a ticket.
        #expect(bench.wait(.seconds(60)).started.count == 1)
    }

    @Test mutating func newTicketIsNotTheCanaryWhileTheStoreFails() {
        let (held, tickets) = outage(ticketCount: 1)
        _ = bench.notMarked(tickets[0])
        _ = bench.end(held, as: .cancelled)
        let (new, actions) = bench.accept()
        #expect(actions == [])
        #expect(bench.storeRecovered() == [.start(new, .reachability)])
    }

    @Test mutating func heldOrEndedTicketIsNotSentAfterThePause() {
        let tickets = (0..<4).map { _ in bench.accepted() }
        _ = bench.notMarked(tickets[0])
        _ = bench.command(.hold, tickets[1])
        _ = bench.command(.cancel, tickets[2])
        #expect(bench.storeRecovered() == [.start(tickets[3], .arrival)])
    }

    @Test(arguments: [true, false])
    mutating func storeIsNotProbedWhileNoTicketMayGo(isOffline: Bool) {
        let tickets = (0..<2).map { _ in bench.accepted() }
        _ = bench.notMarked(tickets[0])
        _ = isOffline ? bench.mode(.offline) : bench.drain()
        #expect(bench.wait(.seconds(60)) == [])
        #expect(bench.storeRecovered() == [])
        if isOffline { #expect(bench.mode(.auto).started.count == 1) }
    }

    @Test mutating func aLaneKeepsItsOrder() {
        let lane = bench.lane(3)
        _ = bench.notMarked(lane[0])
        #expect(bench.wait(.seconds(5)) == [.start(lane[0], .dueTime)])
        #expect(bench.storeRecovered() == [])
        #expect(bench.deliver(lane[0]).started == [lane[1]])
    }

    @Test mutating func pausedTicketsAreBounded() {
        let keeper = bench.accepted()
        _ = bench.notMarked(keeper)
        for _ in 0..<500 {
            let id = bench.accepted()
            _ = bench.command(.cancel, id)
        }
        #expect((bench.set.origins.states[PendingBench.origin]?.pausedByStore.count ?? 0) <= 104)
        #expect(bench.storeRecovered() == [])
        #expect(bench.wait(.seconds(5)) == [.start(keeper, .dueTime)])
    }
}
