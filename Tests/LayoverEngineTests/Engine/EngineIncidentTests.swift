import LayoverCore
import LayoverEngine
import LayoverTestSupport
import Testing

struct EngineIncidentTests {
    private let bench: EngineBench

    init() async { bench = await EngineBench() }

    @Test func anOutageOpensIsJoinedAndCloses() async throws {
        let stream = await bench.engine.watchEvents().events
        let (first, second) = (bench.exchange(), bench.exchange())
        await bench.park(first)
        await bench.park(second)
        let incident = try #require(await bench.engine.incidents().first)
        #expect(await bench.engine.incidents().count == 1)
        #expect(incident.scope == .origin(EngineBench.origin))
        #expect(incident.waiting == 2)
        #expect(incident.cause?.kind == .connectionRefused)
        #expect(incident.cause?.phase == .connecting)
        #expect(await bench.engine.entry(first.id)?.incident == incident.id)
        #expect(await bench.engine.status().incidentCount == 1)
        await bench.advance(by: .milliseconds(250))

        for exchange in [first, second] { _ = await bench.engine.command(.cancel, exchange.id) }
        #expect(await bench.engine.incidents().isEmpty)
        #expect(await bench.engine.status().incidentCount == 0)
        #expect(await bench.engine.status().totals.incidentCount == 1)
        await bench.engine.finishWatching()
        var told: [String] = []
        for await event in stream {
            guard case .incident(let kind, let seen) = event.content else { continue }
            #expect(event.name == kind.rawValue)
            #expect(seen.id == incident.id)
            told.append("\(event.name) \(seen.waiting)")
        }
        #expect(told == ["incident.opened 1", "incident.updated 2", "incident.closed 0"])
    }

    @Test func cancelOfAnIncidentEndsOnlyItsEntries() async throws {
        let (first, second, other) = (bench.exchange(), bench.exchange(), bench.exchange())
        await bench.park(first)
        await bench.park(second)
        await bench.park(other, to: Origin(scheme: .http, host: "other.test"))
        let incident = try #require(await bench.engine.entry(first.id)?.incident)
        let (result, after) = await bench.engine.command(.cancel, incident: incident, reason: "enough")
        #expect(result == .done)
        #expect(after == nil)
        for exchange in [first, second] {
            let told = exchange.next()
            #expect(told.count == 1)
            guard case .end(.cancelled(reason: "enough"), _)? = told.first else {
                Issue.record("told \(told)")
                continue
            }
        }
        #expect(other.next() == [])
        #expect(await bench.engine.command(.cancel, incident: incident).0 == .unknown)
        #expect(await bench.engine.incidents().count == 1)
    }

    // MARK: Statuses

    @Test func responseBeyondTheRetryBudgetIsDelivered() async {
        let policy = EngineBench.policy { $0.budget = .init(ratio: 0, minimum: 1, whenSpent: .deliver) }
        let (first, second) = (bench.exchange(), bench.exchange())
        await bench.parkStatus(first, policy: policy)
        #expect(first.next() == [.dropResponse])
        await bench.parkStatus(second, policy: policy)
        #expect(second.next() == [.refuse("budget", 0)], "it never joined, so its answer goes out")
        #expect(await bench.state(second) == nil)
    }

    // MARK: The network as a whole

    @Test func threeFailedOriginsPutTheNetworkInDoubtUntilAResponse() async {
        for number in 1...3 {
            await bench.park(bench.exchange(), to: Origin(scheme: .http, host: "origin\(number).test"))
            #expect(bench.loop.network.value.last?.isDoubted == (number == 3), "after \(number)")
        }
        bench.engine.post(.networkAnswered)
        await bench.settle()
        #expect(bench.loop.network.value.last == .init())
    }

    // MARK: Configuration

    @Test func lastReloadIsReportedAndShown() async {
        #expect(await bench.engine.status().lastReload == nil)
        let stream = await bench.engine.watchEvents().events
        let reports = [
            ReloadReport(at: bench.clock.now(), appliedKeys: ["log.level"]),
            ReloadReport(at: bench.clock.now(), errors: ["routes.x: unknown key"]),
        ]
        for report in reports { await bench.engine.reloaded(report) }
        #expect(await bench.engine.status().lastReload == reports[1])
        await bench.engine.finishWatching()
        var told: [ReloadReport] = []
        for await event in stream {
            guard case .reloaded(let report) = event.content else { continue }
            #expect(event.name == "config.reloaded")
            told.append(report)
        }
        #expect(told == reports)
    }

    // MARK: The timeline

    @Test func recordsOfAttemptsAreKeptInOrderAndSoIsTheLastOne() async {
        let exchange = bench.exchange()
        await bench.park(exchange)
        for number in 2...3 {
            _ = await bench.engine.command(.retry, exchange.id)
            bench.engine.post(
                .attemptFailed(
                    AttemptFailed(exchange.id, EngineBench.refused, .init(delay: .seconds(5), shutsGate: true), bench.tally(number))))
            await bench.settle()
        }
        _ = await bench.engine.command(.retry, exchange.id)
        bench.engine.post(.ended(ExchangeEnded(exchange.id, as: .delivered, bench.tally(4))))
        await bench.settle()
        #expect(await bench.engine.entry(exchange.id)?.attempts.records.map(\.number) == [2, 3, 4])
    }
}

extension EngineBench {
    /// One record and its count.
    fileprivate func tally(_ number: Int) -> AttemptTally {
        AttemptTally(
            AttemptCounts(all: number), automaticLeft: nil, isBodyReplayable: true,
            records: [AttemptRecord(number: number, trigger: .admin, startedAt: clock.now())])
    }

    /// Parks a request whose response has a status that its policy retries.
    fileprivate func parkStatus(_ exchange: RecordingExchange, policy: Policy) async {
        await park(
            exchange, .answered(503), .init(delay: .seconds(5), shutsGate: false, rule: .status), policy)
    }

    private func park(
        _ exchange: RecordingExchange, _ failure: Failure, _ parking: Verdict.Parking, _ policy: Policy
    ) async {
        engine.post(
            ParkRequested(
                NewEntry(
                    id: exchange.id, method: "POST", url: "\(Self.origin)/x", origin: Self.origin, policy: policy,
                    client: .init(address: "127.0.0.1"), createdAt: clock.now(), attemptCount: 1, failure: failure, parking: parking)),
            from: exchange)
        await settle()
    }
}
