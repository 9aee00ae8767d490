import Retry
import Testing

@testable import LayoverCore

/// Under `onExhausted: ask` an incident asks once, for all of its members.
struct SharedExhaustionTests {
    private var bench = PendingBench()
    private var incident: Incident? { bench.set.incidents(now: bench.now).first }

    /// Moves the clock to the next attempt, and says how long that took.
    private mutating func nextAttempt() -> (id: EntryID, after: Duration)? {
        let before = bench.now
        for _ in 0..<20 {
            guard let next = bench.set.nextWakeAt, next - before < .seconds(60) else { return nil }
            if let id = bench.wait(next - bench.now).compactMap(\.started).first { return (id, bench.now - before) }
        }
        return nil
    }

    /// S2c: one countdown for all requests in trouble, three seconds long, three times; then only a person counts.
    @Test mutating func s2cThreeCountdownsForAllRequestsAndThenOnlyAPersonDecides() throws {
        let ids = (0..<5).map { _ in
            let id = bench.parked(delay: .seconds(3), policy: .ask)
            bench.set.entries[id]?.automaticLeft = 3
            return id
        }
        var lefts: [Int?] = []
        for number in 1...3 {
            lefts.append(incident?.automaticLeft)
            #expect(incident?.nextAttemptAt == bench.now + .seconds(3))
            let next = try #require(nextAttempt())
            #expect(next.after == .seconds(3))
            let left = 3 - number
            _ = bench.fail(
                next.id, delay: .seconds(3), asks: left == 0 ? .exhausted : nil,
                rule: left == 0 ? .onExhausted : .retryOn, automaticLeft: left)
        }
        #expect(lefts == [3, 2, 1])
        #expect(ids.map { bench.entry($0)?.why } == ids.map { _ in .exhausted })
        #expect(incident?.waiting == 5)
        #expect(incident?.manualOnly == true)
        #expect(incident?.automaticLeft == 0)
        #expect(incident?.nextAttemptAt == nil)
        #expect(nextAttempt()?.id == nil)
        // Reachability included.
        #expect(bench.reachable() == [])
        let open = try #require(incident)
        #expect(bench.command(.retry, incident: open.id).1 == [.start(ids[0], .admin)])
        #expect(incident?.manualOnly == false)
    }

    private mutating func exhaust(policy: Policy = .ask) -> EntryID {
        bench.parked(policy: policy, asks: .exhausted)
    }

    @Test mutating func laterEntryOfAnExhaustedIncidentIsUndecidedToo() {
        _ = exhaust()
        let later = bench.parked(policy: .ask)
        #expect(bench.entry(later)?.why == .exhausted)
        #expect(bench.reports == [.parked, .changed])
    }

    @Test mutating func requestsWithOtherPoliciesOrFailuresKeepWaiting() {
        let forStatus = bench.parked(.answered(503), delay: .seconds(20), policy: .ask)
        let byOtherRule = bench.parked(delay: .seconds(20))
        let forTime = bench.parked(.reset, delay: .seconds(20), policy: .ask)
        let elsewhere = bench.parked(origin: Origin(scheme: .http, host: "b"), policy: .ask)
        let held = bench.parked(policy: .ask)
        _ = bench.command(.hold, held)
        _ = exhaust()
        for id in [byOtherRule, forTime, forStatus, elsewhere] { #expect(bench.state(id) == .waiting) }
        #expect(bench.state(held) == .held)
        #expect(incident?.manualOnly == false)
    }

    @Test mutating func requestedAttemptIsMadeInAnExhaustedIncident() {
        let retried = bench.parked(delay: .seconds(20), policy: .ask)
        let (canary, _) = bench.park(nil, policy: .ask)
        _ = bench.command(.retry, retried)
        _ = bench.fail(canary, asks: .exhausted, rule: .onExhausted)
        #expect(bench.state(retried) == .waiting)
        let delay = bench.set.nextWakeAt.map { $0 - bench.now } ?? .zero
        #expect(bench.wait(delay).first ?? bench.wait(.seconds(4)).first == .start(retried, .admin))
    }

    @Test mutating func responseOfTheOriginEndsSharedExhaustion() {
        let first = exhaust()
        _ = bench.originAnswered()
        // The question stays, and who comes now has its own attempts.
        #expect(bench.state(first) == .undecided)
        let later = bench.parked(policy: .ask)
        #expect(bench.state(later) == .waiting)
        #expect(bench.entry(later)?.incident == bench.entry(first)?.incident)
        #expect(incident?.manualOnly == false)
        #expect(incident?.automaticLeft == 4)
    }

    @Test mutating func responseOfAnyOriginEndsSharedExhaustionOfTheNetwork() {
        bench.set.networkNoted(isAway: true)
        _ = exhaust()
        let elsewhere = Origin(scheme: .http, host: "b")
        let before = bench.parked(origin: elsewhere, policy: .ask)
        #expect(bench.state(before) == .undecided)
        _ = bench.originAnswered(elsewhere)
        let after = bench.parked(origin: elsewhere, policy: .ask)
        #expect(bench.state(after) == .waiting)
    }

    @Test mutating func exhaustionByStatusesIsNotShared() {
        let waiting = bench.parked(delay: .seconds(20), policy: .ask)
        _ = bench.originAnswered()
        _ = bench.fail(waiting, .answered(503), asks: .exhausted, rule: .onExhausted)
        #expect(bench.entry(waiting)?.why == .exhausted)
        let later = bench.parked(policy: .ask)
        #expect(bench.state(later) == .waiting)
    }
}
