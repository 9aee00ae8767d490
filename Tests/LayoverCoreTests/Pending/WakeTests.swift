import Testing

@testable import LayoverCore

/// Reachability, modes, and stopping.
struct WakeTests {
    private var bench = PendingBench()

    @Test mutating func aWakeSendsOneCanaryToEachShutGate() {
        let other = Origin(scheme: .http, host: "b.example")
        let ids = [PendingBench.origin, other, PendingBench.origin].map {
            bench.parked(origin: $0, delay: .seconds(30))
        }
        let actions = bench.reachable()
        #expect(Set(actions) == [.start(ids[0], .reachability), .start(ids[1], .reachability)])
        #expect(bench.deliver(ids[0]).contains(.start(ids[2], .reachability)))
    }

    @Test mutating func entryNotToBeWokenWaitsForItsDueTime() {
        let patient = Policy.fixture { $0.wakeOnReachable = false }
        let ids = [Failure.refused, .reset].map { bench.parked($0, delay: .seconds(30), policy: patient) }
        #expect(bench.reachable() == [])
        #expect(bench.originAnswered() == [.watched()])
        #expect(bench.wait(.seconds(29)) == [])
        // The gate has opened for one; the next success makes room for another.
        #expect(bench.wait(.seconds(1)) == [.start(ids[0], .dueTime)])
        #expect(bench.deliver(ids[0]).contains(.start(ids[1], .dueTime)))
    }

    @Test mutating func wakeResetsTheDelaysOfTheGate() {
        let id = bench.parked()
        for _ in 0..<6 {
            _ = bench.command(.retry, id)
            _ = bench.fail(id)
        }
        #expect(bench.reachable() == [.start(id, .reachability)])
        _ = bench.fail(id)
        #expect(bench.wait(of: id) == .seconds(1))
    }

    // MARK: Attempts that hang on a network that is gone

    /// Fails as libcurl reports an attempt that was cut off.
    private let cutOff = Failure.fixture(.proxyInternalError, phase: .connecting)

    @Test mutating func connectingAttemptIsRepeatedAtOnceAfterAWake() {
        let id = bench.parked()
        #expect(bench.wait(.seconds(1)) == [.start(id, .dueTime)])
        #expect(bench.reachable() == [.abandonConnecting(id)])
        #expect(bench.fail(id, cutOff) == [.start(id, .reachability)])
        #expect(bench.fail(id) == [])
        #expect(bench.wait(of: id) == .seconds(1))
    }

    @Test mutating func abandonedAttemptDoesNotChangeTheGate() {
        bench = PendingBench(perOriginAttemptCountMax: 4)
        let ids = (0..<4).map { _ in bench.parked(.reset, delay: .zero) }
        // Four resets made the window narrow; answers widen it again.
        for _ in 0..<4 { _ = bench.originAnswered() }
        #expect(bench.wait(.zero).compactMap(\.started) == ids)
        #expect(Set(bench.reachable()) == Set(ids.map { .abandonConnecting($0) }))
        for id in ids { #expect(bench.fail(id, cutOff) == [.start(id, .reachability)]) }
        #expect(bench.shutOrigins.isEmpty)
    }

    /// A first attempt can be cut off too.
    @Test mutating func requestWithAnAbandonedFirstAttemptStartsAtOnce() {
        bench = PendingBench(perOriginAttemptCountMax: 8)
        let (id, actions) = bench.park(cutOff, delay: .zero)
        #expect(actions == [.watched()])
        #expect(bench.wait(.zero) == [.start(id, .dueTime)])
        #expect(bench.set.origins.states[PendingBench.origin]?.gate.window == 8)
    }

    @Test mutating func anAttemptThatHadConnectedIsJudgedByItsOutcome() {
        let id = bench.parked()
        _ = bench.wait(.seconds(1))
        _ = bench.reachable()
        #expect(bench.fail(id, .reset) == [])
        // The next failure is not taken for an abandoned one.
        #expect(bench.wait(.seconds(30)) == [.start(id, .dueTime)])
        #expect(bench.fail(id) == [])
    }

    /// The attempt has sent something, so it goes on, although it was told to end if it had not.
    @Test(arguments: [false, true])
    mutating func responseToAnAbandonedAttemptIsDelivered(isOffline: Bool) {
        let id = bench.parked()
        _ = bench.wait(.seconds(1))
        #expect((isOffline ? bench.mode(.offline) : bench.reachable()) == [.abandonConnecting(id)])
        #expect(bench.deliver(id) == [.watched(), .forgotten()])
    }

    @Test mutating func attemptOfAnEntryWithoutWakeOnReachableContinues() {
        let id = bench.parked(policy: .fixture { $0.wakeOnReachable = false })
        _ = bench.wait(.seconds(1))
        #expect(bench.state(id) == .attempting)
        #expect(bench.reachable() == [])
    }

    // MARK: Modes

    /// An attempt that was connecting when the mode was set went on, and sent its request.
    @Test mutating func offlineAbandonsAttemptsThatHaveSentNothing() {
        let id = bench.parked(policy: .fixture { $0.wakeOnReachable = false })
        _ = bench.wait(.seconds(1))
        #expect(bench.state(id) == .attempting)
        #expect(bench.mode(.offline) == [.abandonConnecting(id)])
        #expect(bench.fail(id, cutOff, delay: .zero, rule: .offline) == [])
        #expect(bench.entry(id)?.waitingFor == .network)
        #expect(bench.wait(.seconds(30)) == [])
        #expect(bench.mode(.auto) == [.start(id, .reachability)])
    }

    @Test mutating func offlineThatCutsAbortsEveryAttempt() {
        let id = bench.parked()
        _ = bench.wait(.seconds(1))
        #expect(
            bench.set.handle(ModeChanged(to: .offline, cuts: true), now: bench.now, using: &bench.generator) == [
                .abortAttempt(id, isCommanded: true)
            ])
        #expect(bench.fail(id, .reset, delay: .seconds(5), rule: .aborted) == [])
        #expect(bench.set.handle(ModeChanged(to: .offline, cuts: true), now: bench.now, using: &bench.generator) == [], "none is under way")
        #expect(bench.mode(.auto) == [.start(id, .reachability)])
    }

    @Test mutating func offlineThatCutsReachesWhatOfflineLeft() {
        let id = bench.parked(policy: .fixture { $0.wakeOnReachable = false })
        _ = bench.wait(.seconds(1))
        #expect(bench.mode(.offline) == [.abandonConnecting(id)])
        #expect(
            bench.set.handle(ModeChanged(to: .offline, cuts: true), now: bench.now, using: &bench.generator) == [
                .abortAttempt(id, isCommanded: true)
            ])
    }

    @Test mutating func offlineStartsNothing() {
        let ids = [bench.parked(), bench.parked(.reset)]
        #expect(bench.mode(.offline) == [])
        #expect(ids.map { bench.entry($0)?.waitingFor } == [.network, .network])
        #expect(ids.map { bench.entry($0)?.nextAttemptAt } == [nil, nil])
        #expect(bench.wait(.seconds(60)) == [])
        #expect(bench.reachable() == [])
        #expect(bench.originAnswered() == [.watched()])
        #expect(bench.fresh(1) == [])
        #expect(bench.park(nil).1 == [])
    }

    @Test(arguments: [ReachabilityMode.auto, .online])
    mutating func leavingOfflineWakes(mode: ReachabilityMode) {
        _ = bench.mode(.offline)
        let id = bench.parked(delay: .seconds(30))
        #expect(bench.mode(.offline) == [])
        #expect(bench.mode(mode) == [.start(id, .reachability)])
        #expect(bench.mode(mode) == [])
    }

    // MARK: Stopping

    @Test mutating func drainEndsWaitingEntriesAndLetsAttemptsFinish() {
        let waiting = bench.parked()
        let attempting = bench.parked(nil)
        #expect(bench.drain() == [.end(waiting, .draining)])
        #expect(bench.state(waiting) == .cancelled)
        #expect(bench.state(attempting) == .attempting)
        #expect(bench.reachable() == [])
        #expect(bench.deliver(attempting).contains(.forgotten()))
        #expect(bench.set.count == 0)
    }

    @Test mutating func nothingIsParkedWhileDraining() {
        let attempting = bench.parked()
        _ = bench.command(.retry, attempting)
        _ = bench.drain()
        let (late, actions) = bench.park()
        #expect(actions == [.end(late, .draining)])
        #expect(bench.fail(attempting) == [.end(attempting, .draining)])
        #expect(bench.state(attempting) == .cancelled)
        #expect(bench.set.count == 0)
    }
}
