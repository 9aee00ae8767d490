import LayoverCore
import LayoverEngine
import LayoverTestSupport
import Testing

struct EngineReachabilityTests {
    @Test func aHintDropsConnectionsAndSendsACanary() async {
        let bench = await EngineBench()
        let exchange = bench.exchange()
        await bench.park(exchange)
        _ = bench.loop.next()
        _ = await bench.engine.hintChanged()
        #expect(bench.loop.next().contains(.networkChanged))
        #expect(exchange.next() == [.start(.reachability)])
    }

    /// A table of sockets that a test fills.
    private struct Listeners: ListenerTable {
        let sockets = Watched<Set<UInt64>?>([])
        func listeners(on port: Int) -> Set<UInt64>? { port == 9000 ? sockets.value : [1] }
    }

    private static let local = Origin(scheme: .http, host: "localhost", port: 9000)

    @Test func aServerOnThisMachineIsTriedAsSoonAsItListens() async {
        let (bench, listeners) = (await EngineBench(), Listeners())
        await bench.engine.setListenerTable(listeners)
        let exchange = bench.exchange()
        await bench.park(exchange, to: Self.local)
        await bench.advance(by: .zero)
        await bench.advance(by: .milliseconds(50))
        #expect(exchange.next() == [])
        listeners.sockets.update { $0 = [7] }
        await bench.advance(by: .milliseconds(50))
        #expect(exchange.next() == [.start(.reachability)])
    }

    @Test func onlyOriginsOnThisMachineAreLookedFor() async {
        let (bench, listeners) = (await EngineBench(), Listeners())
        await bench.engine.setListenerTable(listeners)
        let exchange = bench.exchange()
        await bench.park(exchange, to: Origin(scheme: .http, host: "far.example", port: 9000))
        await bench.advance(by: .milliseconds(50))
        listeners.sockets.update { $0 = [7] }
        await bench.advance(by: .milliseconds(50))
        #expect(exchange.next() == [])
    }

    @Test func whereTheSystemDoesNotTellTheDelayIsTheWait() async {
        let (bench, listeners) = (await EngineBench(), Listeners())
        listeners.sockets.update { $0 = nil }
        await bench.engine.setListenerTable(listeners)
        let exchange = bench.exchange()
        await bench.park(exchange, to: Self.local)
        for _ in 0..<10 { await bench.advance(by: .milliseconds(50)) }
        listeners.sockets.update { $0 = [7] }
        await bench.advance(by: .milliseconds(400))
        #expect(exchange.next() == [])
        await bench.advance(by: .milliseconds(100))
        #expect(exchange.next() == [.start(.canary)])
    }

    @Test func inModeOfflineNothingIsTried() async {
        let (bench, listeners) = (await EngineBench(), Listeners())
        await bench.engine.setListenerTable(listeners)
        let exchange = bench.exchange()
        await bench.park(exchange, to: Self.local)
        _ = await bench.engine.setMode(.offline, reason: nil)
        await bench.advance(by: .milliseconds(50))
        listeners.sockets.update { $0 = [7] }
        await bench.advance(by: .milliseconds(50))
        #expect(exchange.next() == [])
    }

    @Test func connectingReplayIsRestartedAfterAResume() async {
        let bench = await EngineBench()
        let exchange = bench.exchange()
        await bench.park(exchange)
        _ = await bench.engine.command(.retry, exchange.id)
        _ = exchange.next()
        bench.engine.post(.resumed)
        await bench.settle()
        #expect(exchange.next() == [.abandonConnecting])
        await bench.fail(exchange)
        #expect(exchange.next().count == 1, "it goes again at once")
    }

    @Test func offlineParksEverythingAndOnlineWakesIt() async {
        let bench = await EngineBench()
        _ = bench.loop.next()
        let view = await bench.engine.setMode(.offline, reason: "train")
        #expect(view.mode == .offline)
        #expect(bench.loop.next() == [.offline(.freeze)])
        let exchange = bench.exchange()
        await bench.park(exchange, failure: nil)
        await bench.advance(by: .seconds(300))
        #expect(exchange.next() == [])
        #expect(await bench.engine.entry(exchange.id)?.waitingFor == .network)
        _ = await bench.engine.setMode(.auto, reason: nil)
        #expect(bench.loop.next().contains(.offline(nil)))
        #expect(exchange.next().count == 1)
    }

    @Test func offlineInTheConfigurationHoldsTheFirstRequest() async {
        let bench = await EngineBench(mode: .offline)
        #expect(bench.loop.next() == [.offline(.freeze)])
        let exchange = bench.exchange()
        await bench.park(exchange, failure: nil)
        #expect(exchange.next() == [])
    }

    @Test func probeDueBeforeTheProberIsSetIsMadeThen() async throws {
        let bench = await EngineBench(hasProbe: true)
        await bench.engine.timerFired()
        let prober = RecordingProber()
        await bench.engine.setProber(prober)
        try await prober.started.wait("a probe") { $0.count == 1 }
        prober.answer(0, with: .expected)
        try await bench.waitForState(.online)
    }

    @Test func resultOfACancelledProbeIsDropped() async throws {
        let bench = await EngineBench(hasProbe: true)
        let prober = RecordingProber()
        await bench.engine.setProber(prober)
        await bench.engine.timerFired()
        try await prober.started.wait("a probe") { $0.count == 1 }
        _ = await bench.engine.hintChanged()
        try await prober.started.wait("another probe") { $0.count == 2 }
        prober.answer(1, with: .expected)
        try await bench.waitForState(.online)
        prober.answer(0, with: .portal(status: 200))
        await bench.settle()
        await bench.settle()
        #expect(await bench.engine.reachabilityView().state == .online)
    }
}

extension EngineBench {
    func waitForState(_ state: ReachabilityState) async throws {
        let (id, stream) = await engine.watchEvents()
        let now = await engine.reachabilityView().state
        if now != state {
            for await event in stream {
                if case .reachability(let view) = event.content, view.state == state { break }
            }
        }
        await engine.unwatch(id)
    }
}

/// Probes whose results a test gives.
final class RecordingProber: Prober {
    let started = Watched<[CheckedContinuation<ProbeResult, Never>]>([])

    func probe() async -> ProbeResult {
        await withCheckedContinuation { continuation in started.update { $0.append(continuation) } }
    }

    func answer(_ index: Int, with result: ProbeResult) { started.value[index].resume(returning: result) }
}
