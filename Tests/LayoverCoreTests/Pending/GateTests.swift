import Testing

@testable import LayoverCore

/// How entries, fresh requests and the gate of their origin play together.
struct GateTests {
    private var bench = PendingBench()

    @Test mutating func canaryStartsAloneWhenTheDelayOfTheGateIsOver() {
        let first = bench.parked(delay: .seconds(9))
        let second = bench.parked(delay: .seconds(3))
        // Nobody is due yet; who is due first among those that wait for the origin tests the way.
        #expect(bench.wait(.seconds(1)) == [.start(second, .canary)])
        #expect(bench.state(first) == .waiting)
        #expect(bench.wait(.seconds(60)) == [])
    }

    @Test mutating func aCanaryThatFailsWaitsLongerEachTime() {
        let id = bench.parked()
        var waits: [Duration] = []
        for _ in 0..<6 {
            let before = bench.now
            while bench.state(id) == .waiting {
                let next = bench.set.nextWakeAt ?? .distantFuture
                _ = bench.wait(next - bench.now)
            }
            waits.append(bench.now - before)
            #expect(bench.fail(id, delay: .seconds(1)) == [])
        }
        #expect(waits == [1, 2, 4, 8, 16, 30].map { .seconds($0) })
    }

    @Test mutating func responseToTheCanaryOpensTheGateAndStartsTheRestStepByStep() {
        let ids = (0..<6).map { _ in bench.parked(delay: .seconds(20)) }
        #expect(bench.wait(.seconds(1)) == [.start(ids[0], .canary)])
        // The canary's own success opens the way for one: itself, until it is over.
        #expect(bench.answer(ids[0]) == [.watched()])
        #expect(bench.shutOrigins.isEmpty)
        #expect(bench.entry(ids[2])?.waitingFor == .turn)
        #expect(bench.end(ids[0]) == [.start(ids[1], .reachability)])
        // Each success makes room for one more.
        #expect(bench.answer(ids[1]) == [.start(ids[2], .reachability)])
        #expect(bench.end(ids[1]) == [.start(ids[3], .reachability)])
        #expect(bench.answer(ids[2]) == [.start(ids[4], .reachability)])
        #expect(bench.answer(ids[3]) == [.start(ids[5], .reachability)])
        for id in ids[2...3] { _ = bench.end(id) }
        _ = bench.deliver(ids[4])
        #expect(bench.deliver(ids[5]) == [.forgotten()])
        #expect(bench.set.count == 0)
    }

    @Test mutating func responseToAnotherRequestOpensTheGate() {
        let id = bench.parked(delay: .seconds(20))
        #expect(bench.originAnswered() == [.watched(), .start(id, .reachability)])
        #expect(bench.originAnswered(Origin(scheme: .http, host: "other")) == [])
        #expect(bench.entry(id)?.attemptCount == 1)
    }

    @Test mutating func responseOpensOnlyTheGateOfItsOrigin() {
        let other = Origin(scheme: .https, host: "a.example")
        let here = bench.parked(delay: .seconds(20))
        let there = bench.parked(origin: other, delay: .seconds(20))
        #expect(bench.originAnswered(other) == [.watched(other), .start(there, .reachability)])
        #expect(bench.state(here) == .waiting)
        #expect(bench.shutOrigins == [PendingBench.origin])
    }

    @Test mutating func attemptsThatWereUnderWayWhenTheGateShutDoNotShutItAnew() {
        let ids = (0..<3).map { _ in bench.parked(.reset, delay: .seconds(1)) }
        #expect(bench.wait(.seconds(1)).compactMap(\.started) == ids)
        #expect(bench.fail(ids[0]) == [.shut()])
        #expect(bench.fail(ids[1]) == [])
        // While an attempt is under way nobody tests the way.
        #expect(bench.wait(.seconds(1)) == [])
        #expect(bench.park(nil).1 == [])
        #expect(bench.fail(ids[2]).compactMap(\.started).count == 1)
    }

    /// A canary that connected and was let down proves no response.
    @Test mutating func aResetOfTheCanaryKeepsTheGateShut() {
        let id = bench.parked()
        #expect(bench.wait(.seconds(1)) == [.start(id, .dueTime)])
        #expect(bench.fail(id, .reset) == [])
        #expect(bench.shutOrigins == [PendingBench.origin])
        #expect(bench.wait(of: id) == .seconds(2))
    }

    /// Regression: the whole backlog was thrown at an origin that took requests and dropped them.
    @Test mutating func aCanaryThatEndsByAResetKeepsTheOthersWaiting() {
        let ids = (0..<3).map { _ in bench.parked(delay: .seconds(20)) }
        #expect(bench.wait(.seconds(1)) == [.start(ids[0], .canary)])
        #expect(bench.end(ids[0], as: .failed, failure: .reset) == [])
        #expect(bench.wait(.seconds(1)) == [])
        #expect(bench.wait(.seconds(1)) == [.start(ids[1], .canary)])
    }

    @Test mutating func canaryThatEndsWithoutAConnectivityFailureIsFollowedByTheNext() {
        let ids = (0..<3).map { _ in bench.parked(delay: .seconds(20)) }
        #expect(bench.wait(.seconds(1)) == [.start(ids[0], .canary)])
        let certificate = Failure.fixture(.tlsCertificateError, phase: .securing)
        #expect(bench.end(ids[0], as: .failed, failure: certificate) == [.start(ids[1], .canary)])
        #expect(
            bench.command(.cancel, ids[1]).1 == [
                .end(ids[1], .cancelled(reason: nil)), .start(ids[2], .canary),
            ])
    }

    @Test mutating func theLastAutomaticFailureShutsTheGateAsWell() {
        let id = bench.parked(.reset, delay: .seconds(1))
        #expect(bench.wait(.seconds(1)) == [.start(id, .dueTime)])
        #expect(bench.end(id, as: .failed, failure: .refused) == [.shut()])
        #expect(bench.state(id) == .failed)
        #expect(bench.entry(id)?.lastFailure == .refused)
        // An old failure of an entry that was only waiting is no news.
        _ = bench.originAnswered()
        let waiting = bench.parked(.reset)
        #expect(bench.end(waiting, as: .failed, failure: .refused) == [.forgotten()])
    }

    @Test mutating func aShutGateIsRememberedWithoutEntriesAndForgottenWhenItOpens() {
        let id = bench.parked()
        #expect(bench.command(.cancel, id).1 == [.end(id, .cancelled(reason: nil))])
        #expect(bench.shutOrigins == [PendingBench.origin])
        let (fresh, actions) = bench.park(nil)
        #expect(actions == [.start(fresh, .canary)])
        #expect(bench.answer(fresh) == [.watched()])
        #expect(bench.end(fresh) == [.forgotten()])
        #expect(bench.set.origins.states.isEmpty)
    }

    @Test mutating func originsWithoutEntriesAreRememberedUpToTheLimit() {
        bench = PendingBench { $0.rememberedOriginCountMax = 2 }
        for number in 0..<5 {
            let origin = Origin(scheme: .http, host: "h\(number)")
            let id = bench.parked(origin: origin)
            let isRemembered = number < 2
            #expect(
                bench.command(.cancel, id).1
                    == [.end(id, .cancelled(reason: nil))] + (isRemembered ? [] : [.forgotten(origin)]))
        }
        #expect(bench.set.origins.states.count == 2)
    }

    // MARK: The window

    @Test mutating func replaysNeverExceedTheLimitAndFreshAttemptsCountInIt() {
        bench = PendingBench(perOriginAttemptCountMax: 4)
        _ = bench.parked(.reset, delay: .seconds(1))
        #expect(bench.fresh(3) == [])
        _ = bench.originAnswered()
        for _ in 0..<9 { _ = bench.parked(.reset, delay: .seconds(1)) }
        for _ in 0..<3 { _ = bench.originAnswered() }
        #expect(bench.wait(.seconds(1)).count == 1)
        #expect(bench.fresh(-1).count == 1)
        #expect(bench.fresh(-2).count == 2)
        #expect(bench.fresh(-1) == [])
        #expect(bench.set.counts == [.waiting: 6, .attempting: 4, .held: 0, .undecided: 0])
    }

    @Test mutating func freshAttemptsNeverWaitForTheWindow() {
        bench = PendingBench(perOriginAttemptCountMax: 1)
        _ = bench.parked(.reset)
        let started = (0..<5).flatMap { _ in bench.park(nil).1.compactMap(\.started) }
        #expect(started.count == 5)
    }

    @Test mutating func failureAfterSendingNarrowsTheWindow() {
        bench = PendingBench(perOriginAttemptCountMax: 8)
        let ids = (0..<8).map { _ in bench.parked(delay: .zero) }
        #expect(bench.wait(.seconds(1)).count == 1)
        for _ in 0..<8 { _ = bench.originAnswered() }
        #expect(bench.set.counts[.attempting] == 8)
        for id in ids.prefix(3) { #expect(bench.fail(id, .reset, delay: .zero) == []) }
        // 8 → 4 → 2 → 1: five are under way, and nobody follows until they are done.
        #expect(bench.wait(.zero) == [])
        for id in ids[3...6] { #expect(bench.end(id, as: .failed, failure: .reset) == []) }
        #expect(bench.end(ids[7]).count == 1)
    }

    @Test mutating func nextEntryIsChosenByPriorityThenArrival() {
        bench = PendingBench(perOriginAttemptCountMax: 1)
        let blocker = bench.parked(.reset, delay: .zero)
        #expect(bench.wait(.zero) == [.start(blocker, .dueTime)])
        let ids = [3, 7, 0, 3, 0].map { priority in
            bench.parked(.reset, delay: .seconds(1), policy: .fixture { $0.priority = priority })
        }
        _ = bench.wait(.seconds(1))
        // A person's word outranks the priority.
        #expect(bench.command(.retry, ids[1]).1 == [])
        var order: [PendingAction] = []
        var current = blocker
        for _ in 0..<5 {
            let actions = bench.end(current)
            order += actions
            current = actions.first?.started ?? current
        }
        #expect(
            order == [
                .start(ids[1], .admin), .start(ids[2], .dueTime), .start(ids[4], .dueTime),
                .start(ids[0], .dueTime), .start(ids[3], .dueTime),
            ])
    }
}
