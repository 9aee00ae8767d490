import Testing

@testable import LayoverCore

/// Big bodies do not starve small ones. Decision 17.
struct BigBodyTests {
    private static let big = OriginState.bigByteCount + 1

    @Test func bigBodiesUseHalfOfTheWindow() {
        var bench = PendingBench(perOriginAttemptCountMax: 4)
        let bigs = (0..<4).map { _ in bench.accepted { $0.byteCount = Self.big } }
        #expect(bench.states(bigs) == [.attempting, .attempting, .waiting, .waiting])
        let small = (0..<3).map { _ in bench.accepted() }
        #expect(bench.states(small) == [.attempting, .attempting, .waiting])
        #expect(bench.deliver(small[0]).started == [small[2]], "a small one, although a big one is older")
        #expect(bench.deliver(bigs[0]).started == [bigs[2]], "its turn had come")
    }

    @Test func bodyOfOneMebibyteIsNotBig() {
        var bench = PendingBench(perOriginAttemptCountMax: 4)
        let ids = (0..<4).map { _ in bench.accepted { $0.byteCount = OriginState.bigByteCount } }
        #expect(bench.states(ids) == [.attempting, .attempting, .attempting, .attempting])
    }

    @Test func windowOfOneIsGivenInOrderOfArrival() {
        var bench = PendingBench(perOriginAttemptCountMax: 1)
        let ids = [Self.big, 0, Self.big].map { count in bench.accepted { $0.byteCount = count } }
        #expect(bench.state(ids[0]) == .attempting)
        #expect(bench.deliver(ids[0]).started == [ids[1]])
        #expect(bench.deliver(ids[1]).started == [ids[2]])
    }

    @Test func smallBodiesDoNotDelayABigOne() {
        var bench = PendingBench(perOriginAttemptCountMax: 2)
        var small = (0..<2).map { _ in bench.accepted() }
        let bigOne = bench.accepted { $0.byteCount = Self.big }
        for _ in 0..<10 { _ = bench.accepted() }
        #expect(bench.deliver(small.removeFirst()).started == [bigOne])
    }

    @Test func priorityAppliesToBigAndSmallBodies() {
        var bench = PendingBench(perOriginAttemptCountMax: 1)
        let first = bench.accepted()
        let rest = [(5, 0), (1, Self.big), (2, 0)].map { priority, count in
            bench.accepted {
                $0.priority = priority
                $0.byteCount = count
            }
        }
        #expect(bench.deliver(first).started == [rest[1]])
        #expect(bench.deliver(rest[1]).started == [rest[2]])
    }

    @Test(arguments: [EntryState.delivered, .cancelled, .failed])
    func roomOfABigBodyIsFreeAfterAnyEnd(state: EntryState) {
        var bench = PendingBench(perOriginAttemptCountMax: 2)
        let bigs = (0..<2).map { _ in bench.accepted { $0.byteCount = Self.big } }
        #expect(bench.end(bigs[0], as: state).started == [bigs[1]])
        #expect(bench.refuse(bigs[1]).started == [])
        let next = bench.accepted { $0.byteCount = Self.big }
        #expect(bench.state(next) == .attempting)
        _ = bench.fail(next, .reset, delay: .seconds(50))
        #expect(bench.set.origins.states[PendingBench.origin]?.bigUnderWay == 0)
    }
}
