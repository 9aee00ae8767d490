import LayoverCore
import LayoverEngine
import LayoverTestSupport
import Testing

/// One line at info for a command, however many requests it is for. Issue 12, number 8.
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
}
