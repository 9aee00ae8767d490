import LayoverTestSupport
import Testing

@testable import LayoverCore

/// Attempts that go on although their clients are gone. Contract: section 2, "When a client is gone".
struct UnattendedTests {
    private static let limit = Duration.seconds(300)
    private var bench = PendingBench()

    /// The client of a first attempt is gone.
    private mutating func joined(
        _ limit: Duration = Self.limit, lane: String? = nil, policy: Policy = .fixture(), isKeyed: Bool = false
    ) -> (EntryID, [PendingAction]) {
        let id = EntryID(using: &bench.generator)
        var new = NewEntry(
            id: id, method: "POST", url: "\(PendingBench.origin)/", origin: PendingBench.origin, policy: policy,
            client: .init(address: "127.0.0.1", isConnected: false), createdAt: bench.now, attemptCount: 1,
            parking: .init(delay: .zero, shutsGate: false, rule: .gate))
        new.unattendedFor = limit
        new.lane = lane
        new.request.hasIdempotencyKey = isKeyed
        return (id, bench.handle(JoinedDuringAttempt(new)))
    }

    /// The client of a replay is gone.
    private mutating func replayed() -> (EntryID, [PendingAction]) {
        let id = bench.parked(.refused)
        _ = bench.command(.retry, id)
        return (id, bench.handle(AttemptBecameUnattended(id, for: Self.limit)))
    }

    @Test mutating func attemptWithoutAClientIsAnEntryOfItsOwnKind() throws {
        let (id, actions) = joined()
        #expect(actions == [] && bench.reports == [.parked], "the loops need not know of its origin")
        let entry = try #require(bench.entry(id))
        #expect(entry.state == .attempting && !entry.client.isConnected && entry.attemptStartedAt == bench.now)
        #expect(entry.actions == [.cancel, .abort])
        #expect(entry.expiresAt == bench.now + Self.limit)
        #expect(bench.set.unattendedCount == 1 && bench.set.heldCount == 0)
        #expect(bench.set.originViews.isEmpty, "it takes no room at its origin")
    }

    @Test mutating func replayWhoseClientIsGoneLeavesEverythingElse() {
        let (id, _) = replayed()
        #expect(bench.set.heldCount == 0 && bench.set.unattendedCount == 1)
        #expect(bench.entry(id)?.incident == nil && bench.set.incidentCount == 0)
        #expect(bench.entry(id)?.client.isConnected == false)
        #expect(bench.set.originViews.allSatisfy { $0.underWay == 0 && $0.backlog == 0 })
        #expect(bench.shutOrigins.count == 1, "what is known of its origin stays")
    }

    @Test mutating func otherStatesAreNotUnattended() {
        let id = bench.parked(.reset)
        #expect(bench.handle(AttemptBecameUnattended(id, for: Self.limit)) == [])
        #expect(bench.state(id) == .waiting && bench.set.unattendedCount == 0)
    }

    /// A server that hangs must not keep the canary from going: the waiting requests of others would never end.
    @Test mutating func canaryDoesNotWaitForIt() {
        _ = replayed()
        let other = bench.parked(nil)
        #expect(bench.state(other) == .attempting, "it is the canary")
    }

    @Test mutating func responseEndsItAndItsStatusIsKept() throws {
        let (id, _) = joined()
        var record = AttemptRecord(number: 1, trigger: .arrival, startedAt: bench.now)
        (record.status, record.endedAt) = (201, bench.now)
        let answered = bench.handle(AttemptAnswered(id, bench.tally(id, 1, records: [record])))
        #expect(answered.allSatisfy { $0.started == nil })
        _ = bench.end(id, as: .cancelled)
        let entry = try #require(bench.entry(id))
        #expect(entry.state == .cancelled && entry.cancelCause == .unattended)
        #expect(entry.attempts.records.last?.status == 201 && !entry.mayHaveBeenApplied)
        #expect(bench.set.unattendedCount == 0 && bench.set.originViews.isEmpty)
    }

    @Test mutating func itEndsWhenItsTimeIsOver() throws {
        let (id, _) = joined()
        #expect(bench.wait(Self.limit - .seconds(1)) == [])
        #expect(bench.wait(.seconds(1)) == [.end(id, .unattended)])
        let entry = try #require(bench.entry(id))
        #expect(entry.state == .cancelled && entry.mayHaveBeenApplied)
        #expect(bench.set.unattendedCount == 0 && bench.set.count == 0)
    }

    @Test mutating func replayEndsWhenItsTimeIsOver() {
        let (id, _) = replayed()
        #expect(bench.wait(Self.limit).contains(.end(id, .unattended)))
    }

    @Test mutating func oldestEndsWhenThereAreTooMany() {
        bench = PendingBench { $0.unattendedCountMax = 3 }
        let ids = (0..<3).map { _ in joined().0 }
        #expect(bench.set.unattendedCount == 3)
        _ = bench.end(ids[0], as: .cancelled)
        let (fourth, none) = joined()
        #expect(none == [], "there was room")
        let (_, actions) = joined()
        #expect(actions == [.end(ids[1], .unattended)])
        #expect(bench.states([ids[1], ids[2], fourth]) == [.cancelled, .attempting, .attempting])
        #expect(bench.set.unattendedCount == 3)
    }

    @Test mutating func otherLimitsDoNotCountIt() {
        bench = PendingBench {
            $0.entryCountMax = 1
            $0.heldClientCountMax = 1
        }
        _ = joined()
        _ = joined()
        let held = bench.parked(.reset)
        #expect(bench.state(held) == .waiting)
        let (refused, actions) = bench.park(.reset)
        #expect(actions == [.refuse(refused, limit: "limits.entries", value: 1)])
    }

    @Test(arguments: [EntryCommand.retry, .hold, .release, .force, .settle])
    mutating func onlyAbortAndCancelApply(command: EntryCommand) {
        let (id, _) = joined()
        #expect(bench.command(command, id, acknowledgement: EntryCommand.duplicateRisk).0 == .conflict)
        #expect(bench.patch(id, priority: 1).0 == .conflict)
        #expect(bench.command(.abort, id) == (.done, [.abortAttempt(id, isCommanded: true)]))
        #expect(bench.command(.cancel, id) == (.done, [.end(id, .cancelled(reason: nil))]))
        #expect(bench.set.unattendedCount == 0)
    }

    /// After a head too: no client reads the response.
    @Test mutating func answeredOneCanBeAborted() {
        let (id, _) = joined()
        _ = bench.answer(id)
        #expect(bench.entry(id)?.actions == [.cancel, .abort])
    }

    @Test mutating func laneWaitsForAReplayWithoutAClient() {
        let first = bench.held(lane: "lane")
        _ = bench.command(.retry, first)
        let second = bench.held(lane: "lane")
        _ = bench.handle(AttemptBecameUnattended(first, for: Self.limit))
        #expect(bench.reason(second) == .lane)
        _ = bench.end(first, as: .cancelled)
        #expect(bench.reason(second) != .lane)
    }

    @Test mutating func stopOfTheProxyLetsItFinish() {
        let (id, _) = joined()
        #expect(bench.drain() == [])
        #expect(bench.state(id) == .attempting)
        let (late, _) = joined()
        #expect(bench.state(late) == .attempting, "its client left while the proxy was stopping")
    }

    @Test mutating func diskThatDoesNotTakeItChangesNothing() {
        let (id, _) = joined()
        #expect(bench.declines(id) == [])
        #expect(bench.set.unattendedCount == 1 && bench.set.heldCount == 0)
        #expect(bench.wait(Self.limit) == [.end(id, .unattended)])
    }

    /// Others with its key want a ticket of it.
    @Test mutating func itCanBecomeATicket() {
        let (id, _) = joined()
        #expect(bench.willStore(id) != nil)
        #expect(bench.set.unattendedCount == 0 && bench.set.heldCount == 1)
        _ = bench.stored(id)
        #expect(bench.wait(Self.limit) == [], "its time is that of a ticket")
        #expect(bench.state(id) == .attempting)
        _ = bench.end(id)
        #expect(bench.set.originViews.isEmpty)
    }

    /// The server may hang, and no ticket limits the attempt.
    @Test(arguments: [false, true])
    mutating func itEndsInItsTimeThoughTheDiskRefusesTheTicket(isAnswered: Bool) throws {
        let (id, _) = joined()
        #expect(bench.willStore(id) != nil)
        _ = bench.handle(EntryNotStored(id))
        if isAnswered { _ = bench.answer(id) }
        #expect(bench.wait(Self.limit - .seconds(1)) == [])
        // The time is watched twice, and an attempt is aborted once, however often that is asked for.
        let actions = bench.wait(.seconds(1))
        let end = isAnswered ? PendingAction.abortAttempt(id, isCommanded: false) : .end(id, .expired)
        #expect(!actions.isEmpty && actions.allSatisfy { $0 == end })
        #expect(bench.state(id) == (isAnswered ? .attempting : .expired))
    }

    // MARK: Others with its key

    private mutating func found(_ id: EntryID, doWait: Bool) -> [PendingAction] {
        bench.handle(OthersLookedFor(id, doWait: doWait))
    }

    private mutating func othersLeft(_ id: EntryID) -> [PendingAction] {
        bench.handle(OthersLeft(id))
    }

    @Test mutating func attemptThatOthersWaitForGoesOn() throws {
        let (id, _) = joined(isKeyed: true)
        #expect(bench.set.unattendedCount == 1)
        #expect(bench.wait(Self.limit) == [.lookForOthers(id)])
        #expect(found(id, doWait: true) == [])
        let entry = try #require(bench.entry(id))
        #expect(entry.state == .attempting && entry.isUnattended && entry.isAwaitedByOthers && entry.actions == [.cancel, .abort])
        #expect(bench.set.unattendedCount == 0 && bench.set.heldCount == 0 && bench.set.originViews.isEmpty)
        #expect(bench.wait(Self.limit) == [.lookForOthers(id)], "it is asked again")
        #expect(found(id, doWait: false) == [.end(id, .unattended)])
        #expect(bench.entry(id)?.cancelCause == .unattended && bench.entry(id)?.mayHaveBeenApplied == true)
        #expect(found(id, doWait: true) == [])
        #expect(bench.set.count == 0)
    }

    @Test mutating func itsTimeBeginsWhenTheLastOfTheOthersLeaves() {
        let (id, _) = joined(isKeyed: true)
        #expect(othersLeft(id) == [], "nobody has asked for others yet")
        _ = bench.wait(Self.limit)
        _ = found(id, doWait: true)
        _ = bench.wait(.seconds(1))
        #expect(othersLeft(id) == [])
        #expect(bench.set.unattendedCount == 1)
        #expect(bench.wait(Self.limit - .seconds(1)) == [])
        #expect(bench.wait(.seconds(1)) == [.lookForOthers(id)])
    }

    /// Policy `ai`: what nobody wants is not made.
    @Test mutating func othersAreLookedForAtOnceWhereThereIsNoTime() {
        let (id, actions) = joined(.zero, policy: .fixture { $0.unattendedMax = .zero }, isKeyed: true)
        #expect(actions == [.lookForOthers(id)])
        #expect(found(id, doWait: true) == [])
        #expect(bench.wait(.seconds(10)) == [])
        #expect(othersLeft(id) == [.lookForOthers(id)])
        #expect(found(id, doWait: false) == [.end(id, .unattended)])
    }

    @Test mutating func oneThatOthersWaitForIsNotTheOneThatIsTooMany() {
        bench = PendingBench { $0.unattendedCountMax = 1 }
        let (keyed, _) = joined(isKeyed: true)
        let (second, actions) = joined()
        #expect(actions == [.lookForOthers(keyed)])
        #expect(found(keyed, doWait: true) == [])
        #expect(joined().1 == [.end(second, .unattended)])
        #expect(othersLeft(keyed).count == 1, "there is no room for it and another")
        #expect(bench.set.unattendedCount == 1)
    }

    @Test mutating func othersDoNotKeepItForEver() {
        let (id, _) = joined(policy: .fixture { $0.lifetime = Self.limit + .seconds(10) }, isKeyed: true)
        _ = bench.wait(Self.limit)
        #expect(found(id, doWait: true) == [])
        #expect(bench.wait(.seconds(10)) == [.end(id, .unattended)])
    }

    @Test mutating func oneThatOthersWaitForCanBecomeATicket() {
        let (id, _) = joined(isKeyed: true)
        _ = bench.wait(Self.limit)
        #expect(bench.willStore(id) != nil)
        #expect(found(id, doWait: false) == [])
        #expect(bench.state(id) == .attempting, "the ticket waits for it")
    }

    /// An entry without a client has no reader. It has one as soon as it is to become a ticket.
    @Test mutating func canaryGoesSoonerOnceItBecomesATicket() throws {
        let patient = bench.parked()
        for _ in 0..<6 {
            let canaryAt = try #require(bench.set.origins.canaryAt(PendingBench.origin))
            _ = bench.wait(canaryAt - bench.now)
            _ = bench.fail(patient, delay: .seconds(1000))
        }
        let (id, _) = joined(policy: .fixture { $0.holdMax = .seconds(20) })
        let before = try #require(bench.set.origins.canaryAt(PendingBench.origin))
        #expect(before - bench.now == .seconds(30))
        #expect(bench.willStore(id) != nil)
        let after = try #require(bench.set.origins.canaryAt(PendingBench.origin))
        #expect(after - bench.now <= .seconds(1))
    }
}
