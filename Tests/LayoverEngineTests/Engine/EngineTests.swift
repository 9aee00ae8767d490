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

    @Test func afterAResponseReplaysFollowInAGrowingWindow() async {
        let bench = await EngineBench()
        let exchanges = (0..<8).map { _ in bench.exchange() }
        for exchange in exchanges { await bench.park(exchange) }
        await bench.advance(by: .seconds(5))
        func started() -> [RecordingExchange] {
            exchanges.filter { $0.told.value.contains { if case .start = $0 { true } else { false } } }
        }
        #expect(started().count == 1, "while the gate is shut there is one canary")
        let canary = started()[0]
        await bench.answer(canary)
        await bench.end(canary)
        #expect(bench.loop.next().contains(.announce(EngineBench.origin, .watched)))
        let second = started()
        #expect(second.count > 1 && second.count <= 3)
        for exchange in second where exchange.id != canary.id {
            await bench.answer(exchange)
            await bench.end(exchange)
        }
        #expect(started().count > second.count)
        for _ in 0..<4 {
            for exchange in started() where await bench.state(exchange) == .attempting {
                await bench.answer(exchange)
                await bench.end(exchange)
            }
        }
        #expect(started().count == 8)
        #expect(bench.loop.next().last == .announce(EngineBench.origin, .forgotten))
        #expect(exchanges.allSatisfy { $0.told.value.count == 1 }, "each was started exactly once")
    }

    // MARK: Commands

    /// Facts that were under way when the cancellation was decided.
    @Test(arguments: ["failed", "answered", "ended", "cut off"])
    func cutOffAttemptIsCountedOnce(fact: String) async {
        let bench = await EngineBench()
        let exchange = bench.exchange()
        await bench.park(exchange)
        _ = await bench.engine.command(.retry, exchange.id)
        #expect(await bench.engine.command(.cancel, exchange.id).1?.attemptCount == 1)
        switch fact {
        case "failed": await bench.fail(exchange)
        case "answered": await bench.answer(exchange)
        case "ended": await bench.end(exchange)
        default: await bench.cutOff(exchange)
        }
        let entry = await bench.engine.entry(exchange.id)
        #expect(entry?.state == .cancelled)
        #expect(entry?.attemptCount == 2)
    }

    @Test(arguments: [false, true])
    func cancelEndsTheExchangeOnceAndIsFinal(whileAttempting: Bool) async {
        let bench = await EngineBench()
        let exchange = bench.exchange()
        await bench.park(exchange)
        if whileAttempting {
            _ = await bench.engine.command(.retry, exchange.id)
            _ = exchange.next()
        }
        let (result, entry) = await bench.engine.command(.cancel, exchange.id, reason: "enough")
        #expect(result == .done)
        #expect(entry?.state == .cancelled)
        let told = exchange.next()
        #expect(told.count == 1)
        guard case .end(.cancelled(reason: "enough"), _)? = told.first else {
            Issue.record("told \(told)")
            return
        }
        #expect(await bench.engine.command(.cancel, exchange.id).0 == .conflict)
        #expect(await bench.engine.command(.retry, exchange.id).0 == .conflict)
        await bench.fail(exchange)
        await bench.end(exchange)
        await bench.advance(by: .seconds(100))
        #expect(exchange.next() == [], "a cancelled entry is never sent again")
        #expect(await bench.state(exchange) == .cancelled)
    }

    @Test func severalEntriesAreCommandedAtOnce() async {
        let bench = await EngineBench()
        let exchanges = (0..<5).map { _ in bench.exchange() }
        for exchange in exchanges { await bench.park(exchange) }
        let ids = exchanges.map(\.id) + [bench.exchange().id]
        let results = await bench.engine.command(.cancel, each: ids, reason: nil)
        #expect(results == [.done, .done, .done, .done, .done, .unknown])
        for exchange in exchanges { #expect(exchange.next().count == 1) }
        #expect(await bench.engine.rememberedEntries().count == 5)
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

    @Test func aFullSetRefusesAndNamesItsLimit() async {
        var limits = PendingLimits()
        limits.entryCountMax = 2
        let bench = await EngineBench(limits: limits)
        let exchanges = (0..<3).map { _ in bench.exchange() }
        for exchange in exchanges { await bench.park(exchange) }
        #expect(exchanges[2].next() == [.refuse("limits.entries", 2)])
        #expect(await bench.engine.entry(exchanges[2].id) == nil)
        #expect(await bench.engine.status().totals.refusedCount == 1)
        _ = await bench.engine.command(.cancel, exchanges[0].id)
        let again = bench.exchange()
        await bench.park(again)
        #expect(await bench.state(again) != nil, "room was made")
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
