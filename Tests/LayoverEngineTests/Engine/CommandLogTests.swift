import LayoverCore
import LayoverEngine
import LayoverTestSupport
import Testing

/// Lines of the log: one for a command, however many requests it is for, and few for what happens often.
struct CommandLogTests {
    private let log = RecordedLog()
    private let author = CommandAuthor(who: "admin", from: "127.0.0.1:5")

    private func commands() -> [String] { log.lines.value.filter { $0.hasPrefix("info command:") } }

    @Test func commandIsLoggedWithItsReason() async throws {
        let bench = await EngineBench(logger: log.logger)
        let exchange = bench.exchange()
        await bench.park(exchange)
        _ = await bench.engine.command(.hold, exchange.id, by: author, reason: "lunch")
        _ = await bench.engine.command(.hold, exchange.id, by: author, reason: "again")
        #expect(commands() == ["info command: command=hold exchange=\(exchange.id) from=127.0.0.1:5 reason=lunch who=admin"])
    }

    @Test func commandForManyIsOneLine() async throws {
        let bench = await EngineBench(logger: log.logger)
        let exchanges = (0..<3).map { _ in bench.exchange() }
        for exchange in exchanges { await bench.park(exchange) }
        let incident = try #require(await bench.engine.incidents().first)
        _ = await bench.engine.command(.hold, each: exchanges.map(\.id), by: .loopback, reason: nil)
        _ = await bench.engine.command(.cancel, incident: incident.id, by: author, reason: "enough")
        #expect(
            commands() == [
                "info command: command=hold requests=3 who=loopback",
                "info command: command=cancel from=127.0.0.1:5 incident=\(incident.id) reason=enough who=admin",
            ])
    }

    @Test func limitsAndLostRequestsAreToldOnceAMinuteForEach() async throws {
        let bench = await EngineBench(logger: log.logger)
        let failure = Failure(phase: .awaitingResponse, kind: .connectionTerminated, evidence: .maybeApplied, message: "It broke off.")
        let others = (1...2).map { Origin(scheme: .http, host: "o\($0).test") }
        for origin in [others[0], others[0], others[1]] { bench.engine.post(.mayHaveBeenApplied(origin, failure)) }
        _ = await bench.engine.status()
        await bench.advance(by: .seconds(60))
        bench.engine.post(.mayHaveBeenApplied(others[0], failure))
        _ = await bench.engine.status()
        let line = "warning a request may have been applied; its client was told and nothing is sent again: "
        #expect(
            log.lines.value.filter { $0.hasPrefix(line) }.map { String($0.dropFirst(line.count)) } == [
                "cause=connection_terminated while awaitingResponse origin=http://o1.test",
                "cause=connection_terminated while awaitingResponse origin=http://o2.test",
                "cause=connection_terminated while awaitingResponse origin=http://o1.test",
            ])
    }
}
