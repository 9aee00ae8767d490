import LayoverTestSupport
import Retry
import Testing

@testable import LayoverCore

/// The gate of a parent proxy, above those of the origins behind it.
@Suite struct ParentProxyGateTests {
    private static let gate = ParentProxy(scheme: .http, host: "proxy.example", port: 3128).gate
    private static let other = ParentProxy(scheme: .http, host: "other.example", port: 3128).gate
    private static let origins = (1...6).map { Origin(scheme: .https, host: "\($0).example") }
    private static let away = Failure(
        phase: .connecting, kind: .parentProxyUnreachable, evidence: .neverSent, message: "The parent proxy cannot be reached.")
    /// The parent proxy asks for five minutes.
    private static var busy: Failure {
        var failure = Failure(phase: .connecting, kind: .destinationUnavailable, evidence: .neverSent, message: "503 to CONNECT")
        failure.retryAfter = .seconds(300)
        return failure
    }
    private var bench = Bench()

    private struct Bench {
        var pending = PendingBench()

        mutating func park(
            _ origin: Origin, _ failure: Failure? = away, parentProxyGate: Origin? = gate, attemptParentProxyGate: Origin? = nil,
            isWoken: Bool = true
        ) -> (id: EntryID, started: [EntryID]) {
            let id = EntryID(using: &pending.generator)
            var new = NewEntry(
                id: id, method: "POST", url: "\(origin)/", origin: origin, policy: .fixture { $0.wakeOnReachable = isWoken }, client: .init(address: "127.0.0.1"),
                createdAt: pending.now, attemptCount: failure == nil ? 0 : 1, automaticLeft: nil, isExposed: false, failure: failure,
                parking: Self.parking(failure))
            (new.parentProxyGate, new.attemptParentProxyGate) = (parentProxyGate, attemptParentProxyGate ?? parentProxyGate)
            return (id, pending.handle(ParkRequested(new)).started)
        }

        mutating func fail(_ id: EntryID, _ failure: Failure) -> [EntryID] {
            let fact = AttemptFailed(id, failure, Self.parking(failure), AttemptTally(pending.set.counts(id, all: 2)))
            return pending.handle(fact).started
        }

        private static func parking(_ failure: Failure?) -> Verdict.Parking {
            .init(
                delay: failure?.retryAfter ?? .seconds(1), shutsGate: failure?.shutsGate ?? false, rule: failure == nil ? .gate : .retryOn,
                retryAfter: failure?.retryAfter)
        }

        mutating func deliver(_ id: EntryID) -> [EntryID] {
            let tally = AttemptTally(pending.set.counts(id, all: 2))
            return (pending.handle(AttemptAnswered(id, tally)) + pending.handle(ExchangeEnded(id, as: .delivered, tally))).started
        }

        mutating func advance(_ duration: Duration) -> [EntryID] {
            pending.now = pending.now + duration
            return pending.handle(TimePassed()).started
        }

        mutating func retry(_ id: EntryID) -> [EntryID] { pending.set.commanded(.retry, id, now: pending.now).1.started }

        mutating func reroute(_ id: EntryID, to gate: Origin?) -> [EntryID] {
            let policy = pending.set.entries[id]?.policy ?? .fixture()
            return pending.set.rerouted(id, nil, policy, nil, gate, now: pending.now).started
        }
    }

    @Test mutating func oneCanaryGoesForAllOriginsBehindAParentProxyThatIsAway() {
        for origin in Self.origins { #expect(bench.park(origin).started == []) }
        #expect(bench.pending.set.shutOrigins == [Self.gate])
        let first = bench.advance(.seconds(5))
        #expect(first.count == 1)
        #expect(bench.advance(.seconds(5)) == [])
        #expect(bench.fail(first[0], Self.away) == [])
        #expect(bench.pending.set.shutOrigins == [Self.gate])
        #expect(bench.advance(.seconds(60)).count == 1)
    }

    @Test mutating func allAreDeliveredOnceWhenTheParentProxyIsBack() throws {
        for origin in Self.origins + Self.origins { _ = bench.park(origin) }
        var started = bench.advance(.seconds(5))
        var delivered: [EntryID] = []
        var rounds = 0
        #expect(started.count == 1)
        while let id = started.first, rounds < 100 {
            rounds += 1
            delivered.append(id)
            started = started.dropFirst() + bench.deliver(id)
            if started.isEmpty { started = bench.advance(.seconds(1)) }
        }
        #expect(delivered.count == 12)
        #expect(Set(delivered).count == 12)
        #expect(bench.pending.set.count == 0)
    }

    @Test mutating func aFreshRequestIsTheCanaryAndTheNextWaits() {
        _ = bench.park(Self.origins[0])
        let fresh = bench.park(Self.origins[1], nil)
        #expect(fresh.started == [fresh.id])
        #expect(bench.park(Self.origins[2], nil).started == [])
        let elsewhere = bench.park(Origin(scheme: .https, host: "direct.example"), nil, parentProxyGate: nil)
        #expect(elsewhere.started == [elsewhere.id])
    }

    @Test mutating func originThatIsDownBehindAReachableParentProxyShutsItsOwnGateOnly() {
        let down = Failure(phase: .connecting, kind: .destinationUnavailable, evidence: .neverSent, message: "502 to CONNECT")
        _ = bench.park(Self.origins[0], down)
        #expect(bench.pending.set.shutOrigins == [Self.origins[0]])
        let other = bench.park(Self.origins[1], nil)
        #expect(other.started == [other.id])
    }

    @Test mutating func entriesThatWaitForAParentProxyAreOneIncident() {
        for origin in Self.origins { _ = bench.park(origin) }
        let incidents = bench.pending.set.incidents(now: bench.pending.now)
        #expect(incidents.map(\.scope) == [.parentProxy(Self.gate)])
        #expect(incidents.first?.waiting == Self.origins.count)
    }

    /// It waited for the parent proxy without a failure of its own, and its origin turns out to be down.
    @Test mutating func attemptThatComesPastTheParentProxyWaitsForItsOrigin() {
        let first = bench.park(Self.origins[0]).id
        let canary = bench.park(Self.origins[2], nil)
        #expect(canary.started == [canary.id])
        let other = bench.park(Self.origins[1], nil).id
        #expect(bench.pending.set.entries[other]?.incident == bench.pending.set.entries[first]?.incident)
        #expect(bench.deliver(canary.id) == [first])
        #expect(bench.deliver(first) == [other])
        _ = bench.fail(other, .fixture(.tlsProtocolError, phase: .securing))
        let incident = bench.pending.set.entries[other]?.incident.flatMap { bench.pending.set.incidents[$0] }
        #expect(incident?.scope == .origin(Self.origins[1]))
    }

    @Test mutating func reloadWithoutTheParentProxySendsWhatWaitedForIt() {
        let waiting = bench.park(Self.origins[0]).id
        #expect(bench.reroute(waiting, to: nil) == [waiting], "at once, whatever its delay is")
        #expect(bench.pending.entry(waiting)?.parentProxyGate == nil)
    }

    /// A connection to the old one was being made at the time of the reload.
    @Test(arguments: [false, true]) mutating func failureAtReplacedParentProxyRetriesByNewProxy(isOldUsed: Bool) {
        let first = bench.park(Self.origins[0], nil)
        #expect(first.started == [first.id])
        if isOldUsed { _ = bench.park(Self.origins[1], nil) }
        #expect(bench.reroute(first.id, to: Self.other) == [])
        #expect(bench.fail(first.id, Self.away) == [first.id], "by the other one")
        #expect(bench.pending.set.shutOrigins == (isOldUsed ? [Self.gate] : []), "the gate of the proxy that was away, if it counts at all")
        let incidents = bench.pending.set.incidents(now: bench.pending.now)
        #expect(!incidents.contains { $0.scope == .parentProxy(Self.other) })
        #expect(bench.deliver(first.id) == [])
    }

    @Test mutating func attemptThatReachesTheReplacedParentProxyOpensTheGateOfThatOne() {
        for origin in Self.origins[0...1] { _ = bench.park(origin) }
        let elsewhere = bench.park(Self.origins[2], parentProxyGate: Self.other).id
        #expect(Set(bench.pending.set.shutOrigins) == [Self.gate, Self.other])
        let started = bench.advance(.seconds(5)).filter { $0 != elsewhere }
        #expect(started.count == 1)
        _ = bench.reroute(started[0], to: Self.other)
        _ = bench.deliver(started[0])
        #expect(bench.pending.set.shutOrigins == [Self.other])
    }

    /// A reload that names the other parent proxy.
    private mutating func reload(portion: Int) {
        _ = bench.pending.set.reloaded(as: 1, portion: portion, now: bench.pending.now) { _ in
            FoundRoute(route: nil, policy: .fixture(), parentProxyGate: Self.other)
        }
    }

    /// The engine is told of the reload first: an attempt that it starts afterwards goes through the new parent proxy.
    @Test(arguments: [false, true]) mutating func attemptThatBeginsAfterTheReloadCountsForTheNewParentProxy(isInPortion: Bool) {
        let id = bench.park(Self.origins[0], .reset).id
        reload(portion: isInPortion ? 1 : 0)
        #expect(bench.advance(.seconds(5)) == [id])
        #expect(bench.fail(id, Self.away) == [])
        #expect(bench.pending.set.shutOrigins == [Self.other])
    }

    /// A loop planned the request by the table of before, and the engine has a newer one.
    @Test mutating func requestPlannedByAnOldTableBeginsThroughTheNewParentProxy() {
        reload(portion: 1)
        let new = bench.park(Self.origins[0], nil)
        #expect(new.started == [new.id])
        #expect(bench.pending.entry(new.id)?.parentProxyGate == Self.other)
        #expect(bench.fail(new.id, Self.away) == [])
        #expect(bench.pending.set.shutOrigins == [Self.other])
    }

    /// The first attempt of a request failed, and the reload came before its request joined.
    @Test mutating func firstAttemptThatFailsAtReplacedParentProxyRetriesByNewProxy() {
        let new = bench.park(Self.origins[0], parentProxyGate: Self.other, attemptParentProxyGate: Self.gate)
        #expect(new.started == [new.id])
        #expect(bench.pending.set.shutOrigins == [])
    }

    // MARK: Pauses

    @Test mutating func pauseThatAParentProxyAsksForConcernsRequestsThroughItOnly() {
        let failed = bench.park(Self.origins[0], Self.busy).id
        let paused = bench.park(Self.origins[0], nil)
        #expect(paused.started == [])
        let elsewhere = bench.park(Self.origins[0], nil, parentProxyGate: Self.other)
        #expect(elsewhere.started == [elsewhere.id])
        #expect(bench.deliver(elsewhere.id) == [], "the gate is open, and the pause goes on")
        expectPause(of: [failed, paused.id], for: .seconds(300))
        let direct = bench.park(Self.origins[0], nil, parentProxyGate: nil)
        #expect(direct.started == [direct.id])
        #expect(bench.deliver(direct.id) == [])
        #expect(bench.advance(.seconds(299)) == [])
        #expect(bench.advance(.seconds(1)).count == 2)
    }

    /// A parent proxy asked for the only pause. People see the pause, and so do the clients of the requests that it stops.
    private func expectPause(of ids: [EntryID], for length: Duration) {
        let (set, now) = (bench.pending.set, bench.pending.now)
        #expect(set.originViews.flatMap(\.pauses) == [OriginView.Pause(policy: "test", until: now + length)])
        for id in ids {
            #expect(bench.pending.reason(id) == .pause)
            #expect(bench.pending.wait(of: id) == length)
            #expect(bench.pending.entry(id).flatMap { set.retryAfter(for: $0, now: now) } == length)
        }
    }

    /// One request failed at the old parent proxy. The pause puts another request aside.
    @Test(arguments: [other, nil], [true, false])
    mutating func reloadToAnotherWayEndsTheWaitThatTheOldParentProxyAskedFor(next: Origin?, isWoken: Bool) {
        let failed = bench.park(Self.origins[0], Self.busy, isWoken: isWoken).id
        let paused = bench.park(Self.origins[0], nil).id
        #expect(bench.advance(.seconds(60)) == [], "the canary is due")
        #expect(bench.reroute(failed, to: next) == [failed])
        #expect(bench.reroute(paused, to: next) == [])
        #expect(bench.deliver(failed) == [paused])
    }

    @Test(arguments: [true, false]) mutating func waitThatAReplacedParentProxyAsksForDuringTheReloadIsNotObeyed(isWoken: Bool) {
        let first = bench.park(Self.origins[0], nil, isWoken: isWoken)
        #expect(first.started == [first.id])
        #expect(bench.reroute(first.id, to: Self.other) == [])
        #expect(bench.fail(first.id, Self.busy) == [], "the canary is not due")
        #expect(bench.advance(.seconds(60)) == [first.id])
    }

    @Test mutating func reloadBackToTheParentProxyKeepsItsPause() {
        let failed = bench.park(Self.origins[0], Self.busy).id
        _ = bench.reroute(failed, to: Self.other)
        _ = bench.reroute(failed, to: Self.gate)
        #expect(bench.advance(.seconds(299)) == [])
        #expect(bench.advance(.seconds(1)) == [failed])
    }

    /// The way is open sooner than the parent proxy said. A pause that an origin asks for ends in the same way.
    @Test mutating func retryByAPersonEndsThePauseOfAParentProxyIfItIsAnswered() {
        let failed = bench.park(Self.origins[0], Self.busy).id
        let paused = bench.park(Self.origins[0], nil).id
        #expect(bench.retry(failed) == [failed])
        #expect(bench.deliver(failed) == [paused])
    }

    @Test mutating func responseToAnAttemptFromBeforeThePauseDoesNotEndIt() {
        let first = bench.park(Self.origins[0], nil)
        #expect(first.started == [first.id])
        #expect(bench.advance(.seconds(1)) == [])
        _ = bench.park(Self.origins[0], Self.busy)
        _ = bench.park(Self.origins[0], nil)
        #expect(bench.deliver(first.id) == [])
        #expect(bench.advance(.seconds(299)) == [])
    }

    @Test func loopsParkOnlyRequestsThroughTheParentProxyThatAskedForThePause() {
        let notice = OriginNotice.paused(["all"], through: [ProxiedPolicy(policy: "some", gate: Self.gate)])
        #expect(notice.forRequests(through: Self.gate) == .paused(["all", "some"]))
        #expect(notice.forRequests(through: Self.other) == .paused(["all"]))
        #expect(notice.forRequests(through: nil) == .paused(["all"]))
        #expect(OriginNotice.shut.forRequests(through: Self.gate) == .shut)
    }

    // MARK: Reloads to a parent proxy that is away

    @Test mutating func reloadWithAnotherParentProxyThatIsAwayKeepsWhatWaitsInItsOutage() {
        let (waiting, elsewhere) = (bench.park(Self.origins[0]).id, bench.park(Self.origins[1], parentProxyGate: Self.other).id)
        #expect(bench.reroute(waiting, to: Self.other) == [], "its canary is not due")
        let incidents = bench.pending.set.incidents(now: bench.pending.now)
        #expect(incidents.map(\.scope) == [.parentProxy(Self.other)])
        #expect(incidents.first?.waiting == 2)
        let canary = bench.advance(.seconds(5))
        #expect(canary == [elsewhere] || canary == [waiting], "one of them tests the way")
    }
}
