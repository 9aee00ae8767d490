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

    @Test func firstFreshRequestAtAShutGateIsTheCanary() async {
        let bench = await EngineBench()
        let (waiting, canary, other) = (bench.exchange(), bench.exchange(), bench.exchange())
        await bench.park(waiting)
        await bench.park(canary, failure: nil)
        #expect(canary.next() == [.start(.canary)])
        await bench.park(other, failure: nil)
        #expect(other.next() == [])
        let entry = await bench.engine.entry(other.id)
        #expect(entry?.attemptCount == 0)
        #expect(entry?.lastFailure == nil)
        #expect(entry?.waitingFor == .origin)
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

    @Test func responseToAFreshRequestOpensTheGate() async {
        let bench = await EngineBench()
        let exchange = bench.exchange()
        await bench.park(exchange)
        bench.engine.post(OriginAnswered(EngineBench.origin))
        await bench.settle()
        #expect(exchange.next() == [.start(.reachability)])
    }

    @Test func besideFreshAttemptsOnlyOneReplayIsUnderWay() async {
        var limits = PendingLimits()
        limits.perOriginAttemptCountMax = 8
        let bench = await EngineBench(limits: limits)
        let (first, second) = (bench.exchange(), bench.exchange())
        let broken = Failure(
            phase: .awaitingResponse, kind: .connectionTerminated, evidence: .maybeApplied, message: "Gone.")
        // Two failures leave a window of two.
        for exchange in [first, second] { await bench.park(exchange, failure: broken) }
        bench.engine.post(FreshAttemptCountChanged(EngineBench.origin, by: 7))
        await bench.settle()
        await bench.advance(by: .seconds(5))
        #expect(first.next() == [.start(.dueTime)], "the backlog makes progress however many fresh ones there are")
        #expect(second.next() == [], "eight are under way")
        #expect(await bench.engine.entry(second.id)?.waitingFor == .turn)
        bench.engine.post(FreshAttemptCountChanged(EngineBench.origin, by: -1))
        await bench.settle()
        #expect(second.next() == [.start(.dueTime)])
    }

    // MARK: Commands

    @Test func retryStartsAtOnceAndIsAConflictWhileAttempting() async {
        let bench = await EngineBench()
        let exchange = bench.exchange()
        await bench.park(exchange)
        #expect(await bench.engine.command(.retry, exchange.id).0 == .done)
        #expect(exchange.next() == [.start(.admin)])
        #expect(await bench.engine.command(.retry, exchange.id).0 == .conflict)
        await bench.fail(exchange)
        #expect(await bench.state(exchange) == .waiting)
    }

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

    @Test func aCommandOnAnUnknownEntryIsUnknown() async {
        let bench = await EngineBench()
        #expect(await bench.engine.command(.retry, bench.exchange().id).0 == .unknown)
    }

    @Test func theRevisionGuardsAgainstRaces() async {
        let bench = await EngineBench()
        let exchange = bench.exchange()
        await bench.park(exchange)
        let revision = await bench.engine.entry(exchange.id)?.revision ?? 0
        #expect(await bench.engine.command(.retry, exchange.id, revision: revision + 1).0 == .stale)
        #expect(await bench.engine.command(.retry, exchange.id, revision: revision).0 == .done)
        #expect(await bench.engine.command(.cancel, exchange.id, revision: revision).0 == .stale)
        #expect(await bench.state(exchange) == .attempting)
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

    @Test func attemptUnderWayAtItsExpiryMayFinish() async {
        let bench = await EngineBench()
        let exchange = bench.exchange()
        await bench.park(exchange, policy: EngineBench.policy { $0.holdMax = .seconds(60) })
        _ = await bench.engine.command(.retry, exchange.id)
        _ = exchange.next()
        await bench.advance(by: .seconds(61))
        #expect(exchange.next() == [])
        await bench.fail(exchange)
        #expect(exchange.next().count == 1)
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

    @Test func tooManyHeldClientsAreRefused() async {
        var limits = PendingLimits()
        limits.heldClientCountMax = 1
        let bench = await EngineBench(limits: limits)
        let (first, second) = (bench.exchange(), bench.exchange())
        await bench.park(first)
        await bench.park(second)
        #expect(second.next() == [.refuse("limits.heldClients", 1)])
    }

    @Test func drainEndsWaitingEntriesAndRefusesNewOnes() async {
        let bench = await EngineBench()
        let (waiting, attempting, late) = (bench.exchange(), bench.exchange(), bench.exchange())
        await bench.park(attempting)
        _ = await bench.engine.command(.retry, attempting.id)
        await bench.park(waiting)
        _ = attempting.next()
        await bench.engine.drain()
        #expect(waiting.next().map(Self.isDraining) == [true])
        #expect(attempting.next() == [], "what is under way goes on")
        await bench.park(late)
        #expect(late.next().map(Self.isDraining) == [true])
        await bench.fail(attempting)
        #expect(attempting.next().map(Self.isDraining) == [true])
        #expect(await bench.engine.liveEntries().isEmpty)
    }

    private static func isDraining(_ told: RecordingExchange.Told) -> Bool {
        if case .end(.draining, _) = told { true } else { false }
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
