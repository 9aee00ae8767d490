import LayoverCore
import LayoverEngine
import LayoverTestSupport
import Testing

struct EngineTests {
    // MARK: Parking and replay

    @Test func failedAttemptShutsTheGateAndTheCanaryIsSentWhenDue() async {
        let bench = await EngineBench()
        let exchange = bench.exchange()
        _ = bench.loop.next()
        await bench.park(exchange)
        #expect(bench.loop.next() == [.announce(EngineBench.origin, .shut)])
        #expect(exchange.next() == [])
        await bench.advance(by: .seconds(4))
        #expect(exchange.next() == [])
        await bench.advance(by: .seconds(1))
        #expect(exchange.next().count == 1)
        #expect(await bench.state(exchange) == .attempting)
    }

    // MARK: Commands

    /// Facts that were under way when the cancellation was decided.
    @Test(arguments: ["failed", "answered", "ended", "cut off"])
    func cutOffAttemptIsCountedOnce(fact: String) async {
        let bench = await EngineBench()
        let exchange = bench.exchange()
        await bench.park(exchange)
        _ = await bench.engine.command(.retry, exchange.id)
        #expect(await bench.engine.command(.cancel, exchange.id, reason: "enough").1?.attemptCount == 1)
        switch fact {
        case "failed": await bench.fail(exchange)
        case "answered": await bench.answer(exchange)
        case "ended": await bench.end(exchange)
        default: await bench.cutOff(exchange)
        }
        let entry = await bench.engine.entry(exchange.id)
        #expect(entry?.state == .cancelled)
        #expect(entry?.attemptCount == 2)
        await bench.advance(by: .seconds(100))
        let told = exchange.next()
        #expect(told.count == 2 && told.first == .start(.admin), "a cancelled entry is never sent again")
        guard case .end(.cancelled(reason: "enough"), _)? = told.last else {
            Issue.record("told \(told)")
            return
        }
    }

    // MARK: Time and limits

    @Test func entryExpiresAfterHoldMax() async {
        let bench = await EngineBench()
        let exchange = bench.exchange()
        await bench.park(exchange, policy: EngineBench.policy(every: .seconds(3600)) { $0.holdMax = .seconds(61) }, delay: .seconds(3600))
        await bench.advance(by: .seconds(60))
        #expect(exchange.next() == [])
        await bench.advance(by: .seconds(1))
        let told = exchange.next()
        #expect(told.count == 1)
        guard case .end(.expired, let retryAfter)? = told.first else {
            Issue.record("told \(told)")
            return
        }
        #expect(retryAfter == .seconds(3539), "an honest guess of when the way may be open")
        #expect(await bench.state(exchange) == .expired)
    }

    @Test func requestOverALimitIsRefusedAndCounted() async {
        var limits = PendingLimits()
        limits.entryCountMax = 1
        let bench = await EngineBench(limits: limits)
        let (first, second) = (bench.exchange(), bench.exchange())
        await bench.park(first)
        await bench.park(second)
        #expect(second.next() == [.refuse("limits.entries", 1)])
        #expect(await bench.engine.status().totals.refusedCount == 1)
    }

    @Test func engineReleasesAnEndedExchange() async {
        let bench = await EngineBench()
        weak var gone: RecordingExchange?
        do {
            let exchange = bench.exchange()
            gone = exchange
            await bench.park(exchange)
            await bench.end(exchange, as: .cancelled)
        }
        do {
            let exchange = bench.exchange()
            await bench.park(exchange)
            _ = await bench.engine.command(.cancel, exchange.id)
        }
        await bench.settle()
        #expect(gone == nil)
    }
}
