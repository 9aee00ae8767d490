import Retry
import Testing

@testable import LayoverCore

/// What the requests behind a canary have of it.
struct CanaryTests {
    private var bench = PendingBench()

    /// The canary of a shut origin, and others that wait for the same.
    private mutating func canary(_ others: Int) -> (EntryID, [EntryID]) {
        let ids = (0...others).map { _ in bench.parked() }
        let started = bench.wait(.seconds(1)).started
        #expect(started.count == 1)
        return (started.first ?? ids[0], ids.filter { $0 != started.first })
    }

    @Test mutating func requestGoesAsSoonAsTheCanaryIsConnected() {
        let (slow, others) = canary(2)
        let next = bench.handle(AttemptConnected(slow)).started
        #expect(next.count == 1 && others.contains(next[0]), "the window is two")
        #expect(bench.answer(next[0]).started.count == 1, "a response opens the gate")
    }

    @Test mutating func freshRequestDoesNotWaitForASlowCanary() {
        let (slow, _) = canary(0)
        _ = bench.handle(AttemptConnected(slow))
        #expect(bench.shutOrigins.isEmpty)
    }

    @Test mutating func incidentGoesOnUntilAResponseComes() {
        let (slow, _) = canary(0)
        _ = bench.handle(AttemptConnected(slow))
        #expect(bench.set.incidentCount == 1)
        _ = bench.answer(slow)
        #expect(bench.set.incidentCount == 0)
    }

    /// By priority, not by due time: what people wait for tests the way.
    @Test mutating func canaryOfAnOriginThatMayBeBackIsTheFirstInOrder() {
        let photo = bench.parked(policy: .fixture { $0.priority = 7 })
        let order = bench.parked(policy: .fixture { $0.priority = 1 })
        let kept = bench.handle(OriginMayBeReachable(PendingBench.origin))
        #expect(kept.started == [order])
        #expect(bench.deliver(order).started == [photo])
    }

    // MARK: How often it goes

    /// The delays between ten canaries that all fail.
    private mutating func canaryDelays(_ origin: Origin, holdMax: Duration) -> [Duration] {
        let id = bench.parked(origin: origin, policy: .fixture { $0.holdMax = holdMax })
        return (0..<8).compactMap { _ in
            guard let canaryAt = bench.set.origins.canaryAt(origin) else { return nil }
            let wait = canaryAt - bench.now
            _ = bench.wait(wait)
            _ = bench.fail(id, delay: .seconds(1000))
            return wait
        }
    }

    @Test(arguments: [
        ("service.example", Duration.seconds(60), Duration.seconds(1)), ("service.example", .seconds(61), .seconds(30)),
        ("127.0.0.1", .seconds(600), .seconds(1)), ("10.1.2.3", .seconds(600), .seconds(1)), ("db", .seconds(600), .seconds(1)),
    ])
    mutating func canaryGoesEverySecondWhereItMatters(host: String, holdMax: Duration, longest: Duration) {
        let delays = canaryDelays(Origin(scheme: .http, host: host, port: 8080), holdMax: holdMax)
        #expect(delays.count == 8 && delays.max() == longest)
    }

    @Test mutating func requestWithAShortHoldHastensTheCanaryOfOthers() {
        let origin = PendingBench.origin
        let patient = bench.parked()
        for _ in 0..<6 {
            guard let canaryAt = bench.set.origins.canaryAt(origin) else { return }
            _ = bench.wait(canaryAt - bench.now)
            _ = bench.fail(patient, delay: .seconds(1000))
        }
        #expect((bench.set.origins.canaryAt(origin) ?? bench.now) - bench.now == .seconds(30))
        _ = bench.parked(policy: .fixture { $0.holdMax = .seconds(20) })
        #expect((bench.set.origins.canaryAt(origin) ?? bench.now) - bench.now <= .seconds(1))
    }
}
