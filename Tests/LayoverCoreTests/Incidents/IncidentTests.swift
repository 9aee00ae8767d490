import Testing

@testable import LayoverCore

/// One incident for one outage: who is in it, what it shows, when it is told.
struct IncidentTests {
    private static let other = Origin(scheme: .https, host: "b.example")
    private var bench = PendingBench()

    private var open: [Incident] { bench.set.incidents(now: bench.now) }
    private var kinds: [IncidentEventKind] { bench.incidents.map(\.kind) }

    // MARK: Opened, joined, closed

    /// S1c: visible from the first failure on, until nothing waits.
    @Test mutating func s1cIncidentOpensWithTheFirstFailureAndClosesWithTheLastEntry() throws {
        let first = bench.parked()
        #expect(kinds == [.opened])
        let opened = try #require(bench.incidents.first?.incident)
        #expect(opened.scope == .origin(PendingBench.origin))
        #expect(opened.cause == .init(kind: .connectionRefused, phase: .connecting))
        #expect(opened.since == bench.now)
        #expect(opened.waiting == 1)
        #expect(opened.actions == [.retry, .cancel])
        #expect(bench.entry(first)?.incident == opened.id)
        #expect(open == [opened])

        let second = bench.parked()
        #expect(kinds == [])
        #expect(bench.entry(second)?.incident == opened.id)
        #expect(bench.set.incident(opened.id, now: bench.now)?.waiting == 2)
        #expect(bench.set.incidentCount == 1)

        _ = bench.command(.cancel, first)
        #expect(kinds == [])
        _ = bench.command(.cancel, second)
        #expect(kinds == [.closed])
        #expect(bench.incidents.first?.incident.waiting == 0)
        #expect(bench.incidents.first?.incident.actions == [])
        #expect(open == [])
        // The next outage is another one.
        _ = bench.parked()
        #expect(kinds == [.opened])
        #expect(bench.incidents.first?.incident.id != opened.id)
    }

    @Test mutating func eachOriginHasItsOwnIncidentOldestFirst() {
        _ = bench.parked()
        _ = bench.wait(.milliseconds(1))
        _ = bench.parked(origin: Self.other)
        #expect(open.map(\.scope) == [.origin(PendingBench.origin), .origin(Self.other)])
    }

    @Test mutating func networkOutageIsOneIncidentForAllOrigins() {
        bench.set.networkNoted(isAway: true)
        let ids = [bench.parked(), bench.parked(origin: Self.other), bench.parked(nil)]
        #expect(open.map(\.scope) == [.network])
        #expect(open.first?.waiting == 3)
        // Who is in one stays in it; who comes later joins the outage that there is then.
        bench.set.networkNoted(isAway: false)
        _ = bench.parked(origin: Self.other)
        #expect(Set(open.map(\.scope)) == [.network, .origin(Self.other)])
        for id in ids { _ = bench.command(.cancel, id) }
        #expect(open.map(\.scope) == [.origin(Self.other)])
    }

    @Test mutating func offlineModeIsANetworkIncidentWithoutACause() {
        _ = bench.mode(.offline)
        let id = bench.parked(nil)
        #expect(bench.entry(id)?.incident == open.first?.id)
        #expect(open.first?.scope == .network)
        #expect(open.first?.cause == nil)
        #expect(open.first?.nextAttemptAt == nil)
    }

    @Test mutating func firstFailureIsTheCauseOfTheIncident() {
        _ = bench.mode(.offline)
        let id = bench.parked(nil)
        #expect(bench.mode(.auto).compactMap(\.started) == [id])
        _ = bench.fail(id, .fixture(.dnsTimeout, phase: .resolving))
        _ = bench.wait(.seconds(1))
        _ = bench.fail(id, .refused)
        #expect(open.first?.cause == .init(kind: .dnsTimeout, phase: .resolving))
    }

    /// Regression: our own cutting off was shown as the cause of the outage.
    @Test mutating func abandonedAttemptIsNoCauseOfAnIncident() {
        _ = bench.mode(.offline)
        let id = bench.parked(nil)
        _ = bench.mode(.auto)
        _ = bench.reachable()
        _ = bench.fail(id, .fixture(.proxyInternalError, phase: .connecting), delay: .zero, rule: .networkChanged)
        #expect(open.first?.cause == nil)
        #expect(open.first?.waiting == 1)
    }

    /// S1f: statuses are trouble like any other.
    @Test mutating func s1fStatusIsACauseOfAnIncident() {
        _ = bench.parked(.answered(503))
        #expect(open.first?.cause == .init(kind: .httpResponseStatus, phase: .awaitingResponse))
    }

    @Test mutating func undecidedEntryIsNotPartOfAnOutage() {
        let id = bench.parked(.reset, asks: .maybeApplied)
        #expect(open.map(\.kind) == [.decision])
        // One that waited before leaves when it becomes a question.
        let waiting = bench.parked(.reset, delay: .seconds(1))
        #expect(kinds == [.opened])
        _ = bench.wait(.seconds(1))
        _ = bench.fail(waiting, .reset, asks: .maybeApplied, rule: .onMaybeApplied)
        #expect(kinds.contains(.closed))
        #expect(open.map(\.kind) == [.decision] && open.first?.waiting == 2)
        #expect(bench.entry(waiting)?.incident == bench.entry(id)?.incident)
    }

    @Test mutating func heldEntryStaysInTheIncident() {
        let id = bench.parked()
        _ = bench.command(.hold, id)
        #expect(open.first?.waiting == 1)
        #expect(open.first?.manualOnly == true)
        #expect(open.first?.nextAttemptAt == nil)
    }

    /// Regression: an outage lasted as long as the download, or the tunnel, that ended it.
    @Test mutating func answeredEntryLeavesTheIncident() {
        let id = bench.parked(delay: .seconds(1))
        _ = bench.wait(.seconds(1))
        #expect(open.count == 1)
        _ = bench.answer(id)
        #expect(kinds == [.closed])
        #expect(bench.entry(id)?.incident == nil)
        #expect(bench.state(id) == .attempting)
    }

    @Test mutating func incidentThatEndsWithinOneFactIsNotReported() {
        _ = bench.drain()
        _ = bench.parked()
        #expect(kinds == [])
    }

    // MARK: The countdown

    @Test mutating func nextAttemptOfAnIncidentIsThatOfItsFirstEntry() {
        let slow = bench.parked(.reset, delay: .seconds(20))
        #expect(open.first?.nextAttemptAt == bench.now + .seconds(20))
        _ = bench.parked(.reset, delay: .seconds(5))
        #expect(open.first?.nextAttemptAt == bench.now + .seconds(5))
        _ = bench.command(.retry, slow)
        #expect(open.first?.nextAttemptAt == bench.now + .seconds(5))
        #expect(open.first?.manualOnly == false)
    }

    @Test mutating func attemptsLeftOfAnIncidentAreTheMostOfAnyEntry() {
        let few = Policy.fixture { $0.automaticAttemptsMax = 2 }
        let many = Policy.fixture { $0.automaticAttemptsMax = 9 }
        _ = bench.parked(policy: few)
        #expect(open.first?.automaticLeft == 2)
        _ = bench.parked(policy: many)
        #expect(open.first?.automaticLeft == 9)
        let endless = bench.parked()
        #expect(open.first?.automaticLeft == nil)
        _ = bench.command(.hold, endless)
        #expect(open.first?.automaticLeft == 9)
    }

    // MARK: Updates

    @Test mutating func incidentChangesAreCollectedForAQuarterOfASecond() {
        _ = bench.parked(.reset, delay: .seconds(60))
        // Nothing has changed since it was told.
        #expect(bench.set.nextWakeAt == bench.now + .seconds(60))
        for _ in 0..<500 { _ = bench.parked(.reset, delay: .seconds(60)) }
        #expect(kinds == [])
        _ = bench.wait(.milliseconds(249))
        #expect(kinds == [])
        _ = bench.wait(.milliseconds(1))
        #expect(kinds == [.updated])
        #expect(bench.incidents.first?.incident.waiting == 501)
        _ = bench.wait(.seconds(10))
        #expect(kinds == [])
    }

    @Test mutating func incidentThatEndsBeforeItsReportIsOnlyClosed() {
        let ids = [bench.parked(), bench.parked()]
        for id in ids { _ = bench.command(.cancel, id) }
        #expect(kinds == [.closed])
        _ = bench.wait(.seconds(1))
        #expect(kinds == [])
    }

    /// Regression: nobody was told that a person had set an incident going again.
    @Test(arguments: [EntryCommand.retry, .hold])
    mutating func commandUpdatesItsIncident(command: EntryCommand) {
        let id = bench.parked(.reset, delay: .seconds(60))
        _ = bench.command(command, id)
        _ = bench.wait(.milliseconds(250))
        #expect(kinds == [.updated])
    }

    // MARK: Commands

    /// S1a: retry sends all of them again.
    @Test mutating func s1aRetrySendsAllRequestsOfTheIncident() throws {
        let ids = (0..<3).map { _ in bench.parked(delay: .seconds(30)) }
        let held = bench.parked(delay: .seconds(30))
        _ = bench.command(.hold, held)
        let elsewhere = bench.parked(origin: Self.other, delay: .seconds(30))
        let incident = try #require(bench.entry(ids[0])?.incident)
        #expect(bench.command(.retry, incident: incident) == (.done, [.start(ids[0], .admin)]))
        // The others are next as soon as the way is open, the held one too.
        _ = bench.answer(ids[0])
        #expect(bench.end(ids[0]) == [.start(ids[1], .admin)])
        #expect(bench.answer(ids[1]) == [.start(ids[2], .admin)])
        #expect(bench.end(ids[1]) == [.start(held, .admin)])
        #expect(bench.state(elsewhere) == .waiting)
        #expect(bench.wait(of: elsewhere) == .seconds(1))
    }

    /// S1a: cancel fails all of them. Regression: each that was cancelled started the next.
    @Test mutating func s1aCancelFailsAllRequestsOfTheIncident() throws {
        let ids = (0..<4).map { _ in bench.parked(delay: .seconds(20)) }
        #expect(bench.wait(.seconds(1)) == [.start(ids[0], .canary)])
        let incident = try #require(bench.entry(ids[0])?.incident)
        let (result, actions) = bench.command(.cancel, incident: incident)
        #expect(result == .done)
        #expect(actions == ids.map { .end($0, .cancelled(reason: nil)) })
        #expect(kinds == [.closed])
        #expect(bench.set.count == 0)
        #expect(bench.command(.cancel, incident: incident) == (.unknown, []))
        #expect(bench.command(.retry, incident: incident) == (.unknown, []))
    }

    @Test mutating func cancellingSeveralEntriesStartsTheNextOneAtTheEnd() {
        let ids = (0..<4).map { _ in bench.parked(delay: .seconds(20)) }
        _ = bench.wait(.seconds(1))
        let (results, actions) = bench.set.commanded(
            .cancel, each: Array(ids[0...2]) + [ids[0], EntryID(using: &bench.generator)], now: bench.now)
        #expect(results == [.done, .done, .done, .conflict, .unknown])
        #expect(actions.compactMap(\.started) == [ids[3]])
        let (retried, none) = bench.set.commanded(.retry, each: ids, now: bench.now)
        #expect(retried == [.conflict, .conflict, .conflict, .conflict])
        #expect(none == [])
    }

    @Test(arguments: [EntryCommand.hold, .release, .force, .settle, .abort])
    mutating func incidentRefusesHoldReleaseAndForce(command: EntryCommand) throws {
        let id = bench.parked()
        let incident = try #require(bench.entry(id)?.incident)
        #expect(bench.command(command, incident: incident) == (.conflict, []))
    }
}
