import Testing

@testable import LayoverCore

/// From hold to ticket.
struct AdoptionTests {
    private static let short = Policy.fixture {
        $0.holdMax = .seconds(10)
        $0.lifetime = .seconds(1000)
    }
    private var bench = PendingBench()

    @Test mutating func waitingEntryIsNotStartedUntilItIsStored() {
        let id = bench.held()
        let record = bench.willStore(id)
        #expect(record?.id == id && record?.state == .waiting)
        #expect(bench.wait(.seconds(60)).started + bench.reachable().started == [])
        #expect(bench.command(.retry, id).1.started == [])
        #expect(bench.stored(id).contains(.start(id, .admin)))
        #expect(bench.set.heldCount == 0 && bench.entry(id)?.client.isConnected == false)
    }

    @Test mutating func adoptedRequestIsStoredWithTheLifetimeOfATicket() {
        let id = bench.held(policy: Self.short)
        let began = bench.now
        _ = bench.wait(.seconds(9))
        #expect(bench.willStore(id)?.expiresAt == began + .seconds(1000), "a crash may come before it is said again")
        #expect(bench.notStored(id).ended == [])
        #expect(bench.entry(id)?.expiresAt == began + .seconds(10))
    }

    @Test mutating func adoptedRequestIsStoredOnce() {
        let id = bench.held()
        #expect(bench.willStore(id) != nil && bench.willStore(id) == nil)
        _ = bench.stored(id)
        #expect(bench.stored(id) == [] && bench.notStored(id) == [] && bench.set.heldCount == 0)
    }

    @Test mutating func requestThatIsNotStoredStaysHeldByItsClient() {
        let id = bench.held(policy: Self.short)
        _ = bench.willStore(id)
        #expect(bench.notStored(id).ended == [])
        #expect(bench.set.record(of: id) == nil && bench.set.heldCount == 1)
        #expect(bench.wait(.seconds(5)).started == [id])
        _ = bench.fail(id, .reset, delay: .seconds(100))
        #expect(bench.wait(.seconds(5)).ended == [id], "its time on the connection is what it was")
        #expect(bench.set.heldCount == 0)
    }

    @Test mutating func requestThatExpiresWhileBeingStoredEndsOnlyIfNotStored() {
        let (good, bad) = (bench.held(policy: Self.short), bench.held(policy: Self.short))
        for id in [good, bad] { _ = bench.willStore(id) }
        #expect(bench.wait(.seconds(20)).ended == [])
        #expect(bench.stored(good).ended == [] && bench.state(good)?.isFinal == false)
        #expect(bench.notStored(bad).ended + bench.wait(.zero).ended == [bad])
    }

    @Test mutating func attemptUnderWayContinuesDuringAdoption() {
        let ids = (0..<4).map { _ in bench.held() }
        _ = bench.wait(.seconds(5))
        for id in ids { #expect(bench.willStore(id)?.state == .attempting) }
        _ = bench.deliver(ids[0])
        #expect(bench.set.record(of: ids[0])?.state == .delivered, "to be written over what is on its way")
        #expect(bench.stored(ids[0]) == [])
        #expect(bench.fail(ids[1], .reset, delay: .zero).started == [])
        #expect(bench.stored(ids[1]).started == [], "the window is full")
        #expect(bench.set.entries[ids[1]]?.eligibleBy == .predecessor)
        _ = bench.fail(ids[2], .reset, asks: .maybeApplied)
        _ = bench.stored(ids[2])
        #expect(bench.why(ids[2]) == .maybeApplied)
        _ = bench.stored(ids[3])
        #expect(bench.state(ids[3]) == .attempting && bench.set.heldCount == 0)
    }

    @Test(arguments: [true, false])
    mutating func requestCancelledWhileBeingStoredStaysCancelled(isStored: Bool) {
        let id = bench.held()
        _ = bench.willStore(id)
        #expect(bench.command(.cancel, id).1.ended == [id])
        #expect((isStored ? bench.stored(id) : bench.notStored(id)) == [])
        #expect(bench.state(id) == .cancelled && bench.set.heldCount == 0)
        #expect(bench.set.record(of: id)?.state == .cancelled)
    }

    @Test mutating func requestHeldWhileBeingStoredStaysHeld() {
        let id = bench.held()
        _ = bench.willStore(id)
        _ = bench.command(.hold, id)
        #expect(bench.stored(id).started == [] && bench.state(id) == .held)
        #expect(bench.set.record(of: id)?.isHeldBack == true)
    }

    // MARK: Whose client wants a ticket

    @Test mutating func ticketIsOfferedOnceAtTheEndOfTheHold() {
        let id = bench.held(wantsTicket: true, policy: Self.short)
        _ = bench.wait(.seconds(5))
        _ = bench.fail(id, .reset, delay: .seconds(100))
        #expect(bench.wait(.seconds(5)).offered == [id])
        _ = bench.reroute(id, policy: .fixture { $0.holdMax = .seconds(1) })
        #expect(bench.wait(.seconds(5)) == [], "the answer is still to come")
        #expect(bench.declines(id).ended + bench.wait(.zero).ended == [id])
        #expect(bench.set.heldCount == 0)
    }

    @Test mutating func requestWithATicketOutlivesHoldMax() {
        let id = bench.held(wantsTicket: true, policy: Self.short)
        _ = bench.wait(.seconds(5))
        _ = bench.fail(id, .reset, delay: .seconds(100))
        _ = bench.wait(.seconds(5))
        _ = bench.willStore(id)
        _ = bench.stored(id)
        #expect(bench.entry(id)?.expiresAt == bench.entry(id).map { $0.parkedAt + .seconds(1000) })
        #expect(bench.wait(.seconds(990)).ended == [id])
    }

    /// The machine was asleep for longer than that.
    @Test mutating func noTicketIsOfferedWhoseLifetimeIsOver() {
        let id = bench.held(wantsTicket: true, policy: Self.short)
        _ = bench.wait(.seconds(5))
        _ = bench.fail(id, .reset, delay: .seconds(100))
        let actions = bench.wait(.seconds(2000))
        #expect(actions.ended == [id] && actions.offered == [] && actions.started == [])
    }

    @Test mutating func ticketIsOfferedAfterTheAttemptThatOutlivesHoldMax() {
        let id = bench.held(wantsTicket: true, policy: Self.short)
        _ = bench.wait(.seconds(5))
        #expect(bench.wait(.seconds(50)) == [])
        let actions = bench.fail(id, .reset, delay: .seconds(100))
        #expect(actions.offered == [id] && actions.ended == [])
        #expect(bench.declines(id).ended + bench.wait(.zero).ended == [id])
    }

    @Test mutating func drainingOffersATicketBeforeItEndsTheRequest() {
        let (good, bad, under) = (
            bench.held(wantsTicket: true), bench.held(wantsTicket: true), bench.held(wantsTicket: true)
        )
        _ = bench.command(.retry, under)
        let actions = bench.drain()
        #expect(actions.offered == [good, bad, under] && actions.ended == [])
        _ = bench.willStore(good)
        _ = bench.stored(good)
        #expect(bench.state(good) == .waiting)
        #expect(bench.declines(bad).contains(.end(bad, .draining)))
        #expect(bench.fail(under, .reset) == [], "the answer is still to come")
        #expect(bench.declines(under).contains(.end(under, .draining)))
        #expect(bench.set.heldCount == 0)
    }

    @Test mutating func requestThatCannotBeStoredEndsWhileDraining() {
        let (waiting, under) = (bench.held(), bench.held())
        _ = bench.command(.retry, under)
        for id in [waiting, under] { _ = bench.willStore(id) }
        #expect(bench.drain() == [], "both are on their way")
        #expect(bench.notStored(waiting).contains(.end(waiting, .draining)))
        #expect(bench.notStored(under) == [])
        #expect(bench.fail(under, .reset).contains(.end(under, .draining)))
    }

    @Test mutating func ticketDeclinedBeforeTheEndOfTheHoldChangesNothing() {
        let id = bench.held(wantsTicket: true, policy: Self.short)
        #expect(bench.declines(id) == [] && bench.wait(.zero) == [])
        #expect(bench.wait(.seconds(5)).started == [id])
        _ = bench.fail(id, .reset, delay: .seconds(100))
        #expect(bench.wait(.seconds(5)).ended == [id])
    }

    // MARK: Order

    @Test mutating func adoptedRequestWaitsForItsParents() {
        let parent = bench.accepted()
        let id = bench.held()
        _ = bench.willStore(id) { $0.parents = [parent] }
        #expect(bench.stored(id).started == [] && bench.reason(id) == .parent)
        #expect(bench.wait(.seconds(10)).started == [])
        #expect(bench.deliver(parent).started == [id])
    }

    @Test(arguments: [true, false])
    mutating func requestIsUndecidedIfItsParentFailsWhileItIsStored(isStored: Bool) {
        let parent = bench.accepted()
        let id = bench.held()
        _ = bench.willStore(id) { $0.parents = [parent] }
        _ = bench.end(parent, as: .failed)
        #expect(bench.why(id) == .parentFailed)
        _ = isStored ? bench.stored(id) : bench.notStored(id)
        #expect(bench.why(id) == .parentFailed && bench.set.dependencies.children.isEmpty)
    }

    @Test mutating func adoptedRequestKeepsItsPlaceInItsLane() {
        let held = bench.held(lane: "lane")
        let ticket = bench.lane(1)[0]
        _ = bench.willStore(held)
        _ = bench.wait(.seconds(10))
        #expect(bench.stored(held).started == [held])
        #expect(bench.deliver(held).started == [ticket])
    }

    @Test mutating func requestAdoptedDuringItsFirstAttemptIsStored() {
        let id = EntryID(using: &bench.generator)
        var new = PendingBench.Wish().entry(id, now: bench.now)
        new.ticket = nil
        new.lane = "lane"
        let actions = bench.handle(JoinedDuringAttempt(new))
        #expect(actions == [.watched()] && bench.state(id) == .attempting && bench.set.heldCount == 1)
        let next = bench.lane(1)[0]
        #expect(bench.state(next) == .waiting)
        _ = bench.willStore(id)
        _ = bench.stored(id)
        #expect(bench.set.heldCount == 0)
        #expect(bench.deliver(id).started == [next])
    }
}
