import Testing

@testable import LayoverCore

/// `coalesce: lastPut`.
struct CoalescingTests {
    private static let policy = Policy.fixture { $0.coalesce = .lastPut }

    /// The bench is offline, so that nothing is sent.
    private static func bench() -> PendingBench {
        var bench = PendingBench()
        _ = bench.mode(.offline)
        return bench
    }

    private static func put(
        _ bench: inout PendingBench, _ path: String = "/", _ change: (inout PendingBench.Wish) -> Void = { _ in }
    ) -> (EntryID, [PendingAction]) {
        bench.accept {
            $0.method = "PUT"
            $0.path = path
            $0.policy = policy
            change(&$0)
        }
    }

    @Test func newerPutSupersedesTheOlderOne() {
        var bench = Self.bench()
        let old = Self.put(&bench).0
        let (new, actions) = Self.put(&bench)
        #expect(actions.contains(.end(old, .superseded(by: new))))
        #expect(bench.state(old) == .cancelled && bench.entry(old)?.supersededBy == new)
        #expect(bench.set.count == 1)
    }

    @Test func putHeldByAPersonIsSuperseded() {
        var bench = Self.bench()
        let old = Self.put(&bench).0
        _ = bench.command(.hold, old)
        let new = Self.put(&bench).0
        #expect(bench.states([old, new]) == [.cancelled, .waiting])
    }

    @Test func putsWithOtherTargetsLanesOrPoliciesAreKept() {
        var bench = Self.bench()
        _ = Self.put(&bench, "/1")
        _ = Self.put(&bench, "/2")
        _ = Self.put(&bench, "/1?q") { $0.lane = "a" }
        _ = Self.put(&bench, "/1?q") { $0.lane = "b" }
        _ = Self.put(&bench, "/3")
        _ = Self.put(&bench, "/3") { $0.policy = .fixture() }
        #expect(bench.set.count == 6)
    }

    @Test(arguments: [nil, "If-Match: 2"] as [String?])
    func putsWithOtherPreconditionsAreKept(preconditions: String?) {
        var bench = Self.bench()
        let old = Self.put(&bench) { $0.preconditions = "If-Match: 1" }.0
        _ = Self.put(&bench) { $0.preconditions = preconditions }
        #expect(bench.state(old) == .waiting)
        _ = Self.put(&bench) { $0.preconditions = "If-Match: 1" }
        #expect(bench.set.count == 3, "nor across one with others")
        _ = Self.put(&bench) { $0.preconditions = "If-Match: 1" }
        #expect(bench.set.count == 3 && bench.state(old) == .waiting)
    }

    @Test(arguments: ["DELETE", "GET", "PATCH"])
    func otherMethodInBetweenPreventsCoalescing(method: String) {
        var bench = Self.bench()
        _ = Self.put(&bench)
        _ = bench.accepted { $0.method = method }
        _ = Self.put(&bench)
        #expect(bench.set.count == 3)
        _ = Self.put(&bench)
        #expect(bench.set.count == 3, "but the newest two are one")
    }

    @Test func otherMethodInTheLanePreventsCoalescing() {
        var bench = Self.bench()
        _ = Self.put(&bench, "/1") { $0.lane = "lane" }
        _ = Self.put(&bench, "/2") { $0.lane = "lane" }
        _ = Self.put(&bench, "/1") { $0.lane = "lane" }
        #expect(bench.set.count == 2, "a PUT to elsewhere does not")
        _ = bench.accepted {
            $0.lane = "lane"
            $0.path = "/3"
        }
        _ = Self.put(&bench, "/1") { $0.lane = "lane" }
        #expect(bench.set.count == 4)
    }

    @Test func putThatMayHaveBeenSentIsNotSuperseded() {
        var bench = PendingBench()
        let old = Self.put(&bench).0
        #expect(Self.put(&bench).1.ended == [], "it is under way")
        _ = bench.fail(old, .reset, delay: .seconds(50))
        #expect(Self.put(&bench).1.ended != [old])
        let other = Self.put(&bench, "/other").0
        _ = bench.status(other, delay: .seconds(50))
        #expect(Self.put(&bench, "/other").1.ended == [], "it was answered")
    }

    @Test func triedButNeverSentPutIsSuperseded() {
        var bench = PendingBench()
        let old = Self.put(&bench).0
        _ = bench.fail(old, .refused, delay: .seconds(50))
        #expect(Self.put(&bench).1.ended == [old])
    }

    @Test func undecidedPutIsNotSuperseded() {
        var bench = PendingBench()
        let old = Self.put(&bench).0
        _ = bench.fail(old, .refused, asks: .exhausted)
        #expect(Self.put(&bench).1.ended == [])
    }

    @Test func putWithAChildIsNotSuperseded() {
        var bench = Self.bench()
        let old = Self.put(&bench).0
        let child = bench.accepted {
            $0.path = "/child"
            $0.parents = [old]
        }
        #expect(Self.put(&bench).1.ended == [], "its child wants its answer")
        _ = bench.command(.cancel, child)
        #expect(bench.set.dependencies.children.isEmpty)
    }

    @Test func childOfASupersededTicketWaitsForTheNewerOne() {
        var bench = Self.bench()
        let ids = (0..<3).map { _ in Self.put(&bench).0 }
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

    @Test func putThatWaitsForAParentSupersedesNothing() {
        var bench = Self.bench()
        let old = Self.put(&bench).0
        let parent = bench.accepted { $0.path = "/parent" }
        #expect(Self.put(&bench) { $0.parents = [parent] }.1.ended == [], "it may never be sent")
        #expect(bench.state(old) == .waiting)
    }

    @Test func laneContinuesWithoutTheSupersededPut() {
        var bench = PendingBench()
        let front = bench.lane(1)[0]
        _ = Self.put(&bench, "/1") { $0.lane = "lane" }
        let other = Self.put(&bench, "/2") { $0.lane = "lane" }.0
        let new = Self.put(&bench, "/1") { $0.lane = "lane" }.0
        #expect(bench.deliver(front).started == [other], "the newer one keeps its own turn")
        #expect(bench.deliver(other).started == [new])
    }

    @Test func heldPutNeverSupersedesATicket() {
        var bench = PendingBench()
        let old = Self.heldPut(&bench).0
        let (new, actions) = Self.heldPut(&bench)
        #expect(actions.contains(.end(old, .superseded(by: new))) && bench.set.heldCount == 1)
        let (ticket, more) = Self.put(&bench)
        #expect(more.ended == [new] && bench.set.heldCount == 0)
        let late = Self.heldPut(&bench)
        #expect(late.1.ended == [] && bench.state(ticket) != .cancelled, "a client that leaves takes nothing along")
    }

    // MARK: Bodies that are still arriving

    /// The older one was refused with a 409, the newer one broke off, and nothing was sent.
    @Test func putSupersedesOnlyOnceItsBodyIsComplete() {
        var bench = PendingBench()
        let old = Self.heldPut(&bench).0
        let (new, actions) = Self.heldPut(&bench, isWhole: false)
        #expect(actions.ended == [] && bench.states([old, new]) == [.waiting, .waiting])
        #expect(Self.complete(&bench, new) == [.end(old, .superseded(by: new))])
        #expect(bench.states([old, new]) == [.cancelled, .waiting])
    }

    @Test func brokenOffPutSupersedesNothing() {
        var bench = PendingBench()
        let old = Self.heldPut(&bench).0
        let broken = Self.heldPut(&bench, isWhole: false).0
        _ = bench.end(broken, as: .cancelled)
        #expect(bench.state(old) == .waiting)
        let (new, actions) = Self.heldPut(&bench)
        #expect(actions.ended == [old] && bench.entry(old)?.supersededBy == new)
    }

    @Test func nextCompletePutSupersedesAllOlderOnes() {
        var bench = PendingBench()
        let old = Self.heldPut(&bench).0
        let slow = Self.heldPut(&bench, isWhole: false).0
        #expect(Self.heldPut(&bench).1.ended == [slow, old])
        #expect(Self.complete(&bench, slow) == [], "it is gone")
    }

    @Test func newestPutIsDecidedByArrivalNotByCompletion() {
        var bench = PendingBench()
        let slow = Self.heldPut(&bench, isWhole: false).0
        let late = Self.heldPut(&bench, isWhole: false).0
        #expect(Self.complete(&bench, late).ended == [slow])
        #expect(bench.state(late) == .waiting)
    }

    @Test func otherMethodBeforeCompletionPreventsCoalescing() {
        var bench = PendingBench()
        let old = Self.heldPut(&bench).0
        let slow = Self.heldPut(&bench, isWhole: false).0
        _ = bench.accepted { $0.method = "DELETE" }
        #expect(Self.complete(&bench, slow).ended == [] && bench.state(old)?.isFinal == false)
    }

    private static func complete(_ bench: inout PendingBench, _ id: EntryID) -> [PendingAction] {
        bench.kept(bench.set.handle(BodyCompleted(of: id, byteCount: 9, isReplayable: true), now: bench.now, using: &bench.generator))
    }

    private static func heldPut(_ bench: inout PendingBench, isWhole: Bool = true) -> (EntryID, [PendingAction]) {
        let id = EntryID(using: &bench.generator)
        let new = NewEntry(
            id: id, method: "PUT", url: "\(PendingBench.origin)/", origin: PendingBench.origin, policy: policy,
            client: .init(address: ""), createdAt: bench.now, attemptCount: 1, isBodyReplayable: isWhole, failure: .refused,
            parking: .init(delay: .seconds(50), shutsGate: true))
        return (id, bench.kept(bench.set.handle(ParkRequested(new), now: bench.now, using: &bench.generator)))
    }

    @Test func putsAreCoalescedAfterARestart() {
        var bench = Self.bench()
        let old = Self.put(&bench) { $0.preconditions = "If-Match: 1" }.0
        let records = bench.records()
        _ = bench.restart(records, policy: Self.policy)
        _ = bench.mode(.offline)
        _ = bench.set.commanded(.hold, old, now: bench.now)
        #expect(Self.put(&bench).1.ended == [])
        _ = bench.restart(records, policy: Self.policy)
        _ = bench.fail(old, .refused, delay: .seconds(50))
        #expect(Self.put(&bench) { $0.preconditions = "If-Match: 1" }.1.ended == [old])
    }

    @Test func cancelledPutsAreForgotten() {
        var bench = Self.bench()
        for number in 0..<10 {
            let id = Self.put(&bench, "/\(number)").0
            _ = bench.command(.cancel, id)
        }
        #expect(bench.set.puts.isEmpty)
    }
}
