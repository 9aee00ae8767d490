import Testing

@testable import LayoverCore

/// `coalesce: lastPut`.
struct CoalescingTests {
    private static let policy = Policy.fixture { $0.coalesce = .lastPut }
    /// Nothing is sent in mode `offline`.
    private var bench = PendingBench()

    private mutating func put(
        _ path: String = "/", _ change: (inout PendingBench.Wish) -> Void = { _ in }
    ) -> (EntryID, [PendingAction]) {
        bench.accept {
            $0.method = "PUT"
            $0.path = path
            $0.policy = Self.policy
            change(&$0)
        }
    }

    @Test mutating func newerPutSupersedesTheOlderOne() {
        _ = bench.mode(.offline)
        let old = put().0
        let (new, actions) = put()
        #expect(actions.contains(.end(old, .superseded(by: new))))
        #expect(bench.state(old) == .cancelled && bench.entry(old)?.supersededBy == new)
        #expect(bench.set.count == 1)
    }

    @Test mutating func putHeldByAPersonIsSuperseded() {
        _ = bench.mode(.offline)
        let old = put().0
        _ = bench.command(.hold, old)
        let new = put().0
        #expect(bench.states([old, new]) == [.cancelled, .waiting])
    }

    @Test mutating func putsWithOtherTargetsLanesOrPoliciesAreKept() {
        _ = bench.mode(.offline)
        _ = put("/1")
        _ = put("/2")
        _ = put("/1?q") { $0.lane = "a" }
        _ = put("/1?q") { $0.lane = "b" }
        _ = put("/3")
        _ = put("/3") { $0.policy = .fixture() }
        #expect(bench.set.count == 6)
    }

    @Test(arguments: [nil, "If-Match: 2"] as [String?])
    mutating func putsWithOtherPreconditionsAreKept(preconditions: String?) {
        _ = bench.mode(.offline)
        let old = put { $0.preconditions = "If-Match: 1" }.0
        _ = put { $0.preconditions = preconditions }
        #expect(bench.state(old) == .waiting)
        _ = put { $0.preconditions = "If-Match: 1" }
        #expect(bench.set.count == 3, "nor across one with others")
        _ = put { $0.preconditions = "If-Match: 1" }
        #expect(bench.set.count == 3 && bench.state(old) == .waiting)
    }

    @Test(arguments: ["DELETE", "GET", "PATCH"])
    mutating func otherMethodInBetweenPreventsCoalescing(method: String) {
        _ = bench.mode(.offline)
        _ = put()
        _ = bench.accepted { $0.method = method }
        _ = put()
        #expect(bench.set.count == 3)
        _ = put()
        #expect(bench.set.count == 3, "but the newest two are one")
    }

    @Test mutating func otherMethodInTheLanePreventsCoalescing() {
        _ = bench.mode(.offline)
        _ = put("/1") { $0.lane = "lane" }
        _ = put("/2") { $0.lane = "lane" }
        _ = put("/1") { $0.lane = "lane" }
        #expect(bench.set.count == 2, "a PUT to elsewhere does not")
        _ = bench.accepted {
            $0.lane = "lane"
            $0.path = "/3"
        }
        _ = put("/1") { $0.lane = "lane" }
        #expect(bench.set.count == 4)
    }

    @Test mutating func putThatMayHaveBeenSentIsNotSuperseded() {
        let old = put().0
        #expect(put().1.ended == [], "it is under way")
        _ = bench.fail(old, .reset, delay: .seconds(50))
        #expect(put().1.ended != [old])
        let other = put("/other").0
        _ = bench.status(other, delay: .seconds(50))
        #expect(put("/other").1.ended == [], "it was answered")
    }

    /// Tried and never sent, and with `asks` a person is asked about it.
    @Test(arguments: [nil, UndecidedReason.exhausted])
    mutating func triedPutIsSupersededUnlessItIsUndecided(asks: UndecidedReason?) {
        let old = put().0
        _ = bench.fail(old, .refused, delay: .seconds(50), asks: asks)
        #expect(put().1.ended == (asks == nil ? [old] : []))
    }

    @Test mutating func putWithAChildIsNotSuperseded() {
        _ = bench.mode(.offline)
        let old = put().0
        let child = bench.accepted {
            $0.path = "/child"
            $0.parents = [old]
        }
        #expect(put().1.ended == [], "its child wants its answer")
        _ = bench.command(.cancel, child)
        #expect(bench.set.dependencies.children.isEmpty)
    }

    @Test mutating func childOfASupersededTicketWaitsForTheNewerOne() {
        _ = bench.mode(.offline)
        let ids = (0..<3).map { _ in put().0 }
        let child = bench.accepted {
            $0.path = "/child"
            $0.parents = [ids[0]]
        }
        #expect(bench.reason(child) == .parent)
        #expect(bench.set.record(of: child)?.parents == [ids[2]], "after a restart too")
        _ = bench.mode(.auto)
        _ = bench.wait(.zero)
        #expect(bench.deliver(ids[2]).started == [child])
    }

    @Test mutating func putThatWaitsForAParentSupersedesNothing() {
        _ = bench.mode(.offline)
        let old = put().0
        let parent = bench.accepted { $0.path = "/parent" }
        #expect(put { $0.parents = [parent] }.1.ended == [], "it may never be sent")
        #expect(bench.state(old) == .waiting)
    }

    @Test mutating func laneContinuesWithoutTheSupersededPut() {
        let front = bench.lane(1)[0]
        _ = put("/1") { $0.lane = "lane" }
        let other = put("/2") { $0.lane = "lane" }.0
        let new = put("/1") { $0.lane = "lane" }.0
        #expect(bench.deliver(front).started == [other], "the newer one keeps its own turn")
        #expect(bench.deliver(other).started == [new])
    }

    @Test mutating func heldPutNeverSupersedesATicket() {
        let old = heldPut().0
        let (new, actions) = heldPut()
        #expect(actions.contains(.end(old, .superseded(by: new))) && bench.set.heldCount == 1)
        let (ticket, more) = put()
        #expect(more.ended == [new] && bench.set.heldCount == 0)
        let late = heldPut()
        #expect(late.1.ended == [] && bench.state(ticket) != .cancelled, "a client that leaves takes nothing along")
    }

    // MARK: Bodies that are still arriving

    /// The older one was refused with a 409, the newer one broke off, and nothing was sent.
    @Test mutating func putSupersedesOnlyOnceItsBodyIsComplete() {
        let old = heldPut().0
        let (new, actions) = heldPut(isWhole: false)
        #expect(actions.ended == [] && bench.states([old, new]) == [.waiting, .waiting])
        #expect(complete(new) == [.end(old, .superseded(by: new))])
        #expect(bench.states([old, new]) == [.cancelled, .waiting])
    }

    @Test mutating func brokenOffPutSupersedesNothing() {
        let old = heldPut().0
        let broken = heldPut(isWhole: false).0
        _ = bench.end(broken, as: .cancelled)
        #expect(bench.state(old) == .waiting)
        let (new, actions) = heldPut()
        #expect(actions.ended == [old] && bench.entry(old)?.supersededBy == new)
    }

    @Test mutating func nextCompletePutSupersedesAllOlderOnes() {
        let old = heldPut().0
        let slow = heldPut(isWhole: false).0
        #expect(heldPut().1.ended == [slow, old])
        #expect(complete(slow) == [], "it is gone")
    }

    @Test mutating func newestPutIsDecidedByArrivalNotByCompletion() {
        let slow = heldPut(isWhole: false).0
        let late = heldPut(isWhole: false).0
        #expect(complete(late).ended == [slow])
        #expect(bench.state(late) == .waiting)
    }

    @Test mutating func otherMethodBeforeCompletionPreventsCoalescing() {
        let old = heldPut().0
        let slow = heldPut(isWhole: false).0
        _ = bench.accepted { $0.method = "DELETE" }
        #expect(complete(slow).ended == [] && bench.state(old)?.isFinal == false)
    }

    private mutating func complete(_ id: EntryID) -> [PendingAction] {
        bench.handle(BodyCompleted(of: id, byteCount: 9, isReplayable: true))
    }

    private mutating func heldPut(isWhole: Bool = true) -> (EntryID, [PendingAction]) {
        let id = EntryID(using: &bench.generator)
        let new = NewEntry(
            id: id, method: "PUT", url: "\(PendingBench.origin)/", origin: PendingBench.origin, policy: Self.policy,
            client: .init(address: ""), createdAt: bench.now, attemptCount: 1, isBodyReplayable: isWhole, failure: .refused,
            parking: .init(delay: .seconds(50), shutsGate: true))
        return (id, bench.handle(ParkRequested(new)))
    }

    @Test mutating func putsAreCoalescedAfterARestart() {
        _ = bench.mode(.offline)
        let old = put { $0.preconditions = "If-Match: 1" }.0
        let records = bench.records()
        _ = bench.restart(records, policy: Self.policy)
        _ = bench.mode(.offline)
        _ = bench.set.commanded(.hold, old, now: bench.now)
        #expect(put().1.ended == [])
        _ = bench.restart(records, policy: Self.policy)
        _ = bench.fail(old, .refused, delay: .seconds(50))
        #expect(put { $0.preconditions = "If-Match: 1" }.1.ended == [old])
    }

    @Test mutating func cancelledPutsAreForgotten() {
        _ = bench.mode(.offline)
        for number in 0..<10 {
            let id = put("/\(number)").0
            _ = bench.command(.cancel, id)
        }
        #expect(bench.set.puts.isEmpty)
    }
}
