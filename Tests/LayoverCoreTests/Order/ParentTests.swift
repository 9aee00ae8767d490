import Testing

@testable import LayoverCore

/// Tickets that depend on tickets.
struct ParentTests {
    private var bench = PendingBench()

    @Test mutating func childStartsWhenItsParentIsDelivered() {
        let parent = bench.accepted()
        let child = bench.accepted { $0.parents = [parent] }
        #expect(bench.state(child) == .waiting && bench.reason(child) == .parent)
        #expect(bench.answer(parent).started == [], "an answer that has begun may still break")
        #expect(bench.end(parent).contains(.start(child, .predecessor)))
    }

    @Test(arguments: [EntryState.failed, .cancelled, .expired])
    mutating func childIsUndecidedWhenItsParentIsNotDelivered(state: EntryState) {
        let parent = bench.accepted()
        let child = bench.accepted { $0.parents = [parent] }
        let grandchild = bench.accepted { $0.parents = [child] }
        #expect(bench.end(parent, as: state).started == [])
        #expect(bench.state(child) == .undecided && bench.why(child) == .parentFailed)
        #expect(bench.reason(grandchild) == .parent, "its own parent is not lost yet")
        _ = bench.command(.cancel, child)
        #expect(bench.why(grandchild) == .parentFailed)
    }

    @Test mutating func undecidedTicketIsSentWhenAPersonRetriesIt() {
        let parent = bench.accepted()
        let child = bench.accepted { $0.parents = [parent] }
        _ = bench.end(parent, as: .failed)
        #expect(bench.command(.retry, child).1.contains(.start(child, .admin)))
    }

    @Test mutating func childWaitsForAllItsParents() {
        let (one, two) = (bench.accepted(), bench.accepted())
        let child = bench.accepted { $0.parents = [one, two, one] }
        #expect(bench.deliver(one).started == [])
        #expect(bench.deliver(two).started == [child])
    }

    @Test mutating func retryByAPersonStillWaitsForTheOtherParent() {
        let (one, two) = (bench.accepted(), bench.accepted())
        let child = bench.accepted { $0.parents = [one, two] }
        _ = bench.end(one, as: .failed)
        #expect(bench.command(.retry, child).1.started == [], "the other is still under way")
        #expect(bench.reason(child) == .parent)
        #expect(bench.deliver(two).contains(.start(child, .admin)))
    }

    @Test mutating func childIsUndecidedAgainWhenAnotherParentFails() {
        let (one, two) = (bench.accepted(), bench.accepted())
        let child = bench.accepted { $0.parents = [one, two] }
        _ = bench.end(one, as: .failed)
        _ = bench.command(.retry, child)
        #expect(bench.end(two, as: .cancelled).started == [] && bench.why(child) == .parentFailed)
    }

    @Test mutating func cancelledChildIsNotUndecidedWhenItsParentFails() {
        let parent = bench.accepted()
        let child = bench.accepted { $0.parents = [parent] }
        _ = bench.command(.cancel, child)
        _ = bench.end(parent, as: .failed)
        #expect(bench.state(child) == .cancelled)
        #expect(bench.set.dependencies.children.isEmpty && bench.set.dependencies.parentsLeft.isEmpty)
    }

    @Test mutating func childCanBeHeldAndRetriedWhileItsParentIsUnderWay() {
        let parent = bench.accepted()
        let (held, wanted) = (bench.accepted { $0.parents = [parent] }, bench.accepted { $0.parents = [parent] })
        _ = bench.command(.hold, held)
        #expect(bench.command(.retry, wanted).1.started == [])
        #expect(bench.reachable().started == [])
        let actions = bench.deliver(parent)
        #expect(actions.started == [wanted] && actions.contains(.start(wanted, .admin)))
        #expect(bench.state(held) == .held)
        #expect(bench.command(.release, held).1.started + bench.wait(.zero).started == [held])
    }

    @Test mutating func heldChildOfAFailedParentIsUndecidedAndThenHeldAgain() {
        let parent = bench.accepted()
        let child = bench.accepted { $0.parents = [parent] }
        _ = bench.command(.hold, child)
        _ = bench.end(parent, as: .failed)
        #expect(bench.why(child) == .parentFailed)
        _ = bench.command(.retry, child)
        _ = bench.fail(child, .reset)
        #expect(bench.state(child) == .held)
    }

    @Test mutating func parentThatEndedBeforeItsChildWasStoredDecidesTheChild() {
        let (good, bad) = (bench.accepted(), bench.accepted())
        _ = bench.deliver(good)
        _ = bench.end(bad, as: .failed)
        #expect(bench.accept { $0.parents = [good] }.1.started != [])
        let orphan = bench.accepted { $0.parents = [good, bad] }
        #expect(bench.state(orphan) == .undecided && bench.why(orphan) == .parentFailed)
    }

    @Test mutating func ticketDoesNotWaitForItself() {
        var copy = bench.generator
        let id = EntryID(using: &copy)
        #expect(bench.accepted { $0.parents = [id] } == id)
        #expect(bench.why(id) == .parentFailed)
    }

    @Test mutating func childrenOfOneParentStartInOrder() {
        let parent = bench.accepted()
        let children = (0..<20).map { _ in bench.accepted { $0.parents = [parent] } }
        #expect(bench.deliver(parent).started == children)
    }

    @Test mutating func aChildBehindALaneWaitsForBoth() {
        let parent = bench.accepted()
        let front = bench.lane(1)[0]
        let child = bench.accepted {
            $0.lane = "lane"
            $0.parents = [parent]
        }
        let last = bench.lane(1)[0]
        #expect(bench.deliver(front).started == [])
        #expect(bench.deliver(parent).started == [child])
        #expect(bench.deliver(child).started == [last])
    }

    @Test mutating func aParentBehindItsChildInALaneBlocksTheLaneForGood() {
        // A parent is accepted before its child, but a person can move it behind the child.
        let parent = bench.accepted { $0.lane = "other" }
        let child = bench.lane(1) { $0.parents = [parent] }[0]
        _ = bench.fail(parent, .reset)
        _ = bench.patch(parent, lane: "lane")
        #expect(bench.command(.retry, parent).1.started == [parent], "it is older, so it is before")
        #expect(bench.deliver(parent).started == [child])
    }

    @Test mutating func behindAShutGateAChildWaitsForItsOrigin() {
        let parent = bench.accepted { $0.origin = PendingBench.other }
        let child = bench.accepted { $0.parents = [parent] }
        let canary = bench.accepted()
        _ = bench.fail(canary, .refused, delay: .seconds(50))
        #expect(bench.deliver(parent).started == [] && bench.reason(child) == .origin)
        #expect(bench.originAnswered().started.contains(child))
    }
}
