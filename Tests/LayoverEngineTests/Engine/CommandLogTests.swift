import LayoverCore
import LayoverEngine
import LayoverTestSupport
import Testing

/// Lines of the log: one for a command, however many requests it is for, and few for what happens often.
struct CommandLogTests {
    private let log = RecordedLog()
    private func commands() -> [String] { log.lines.value.filter { $0.contains(" command: ") } }

    /// The lines of the admin API are its own (`AuditTests`).
    @Test func cancellationByAClientIsLogged() async throws {
        let bench = await EngineBench(logger: log.logger)
        let exchanges = (0..<2).map { _ in bench.exchange() }
        for exchange in exchanges { await bench.park(exchange) }
        _ = await bench.engine.command(.cancel, exchanges[0].id, by: .client)
        _ = await bench.engine.command(.cancel, exchanges[0].id, by: .client)
        _ = await bench.engine.command(.cancel, exchanges[1].id, by: CommandAuthor(who: "admin"))
        #expect(commands() == ["notice command: command=cancel exchange=\(exchanges[0].id) who=client"])
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
