import LayoverCore
import LayoverEngine
import LayoverTestSupport
import Testing

/// The engine begins, stops and ends rehearsals, and tells of it.
struct EngineRehearsalTests {
    private static func order(for length: Duration = .seconds(60)) throws -> RehearsalOrder {
        try RehearsalOrder(host: #require(RehearsedHost("shop.example")), fault: .refuse, length: length)
    }

    @Test func beginAndEndAreInTheLogAndAreEvents() async throws {
        let log = RecordedLog()
        let bench = await EngineBench(logger: log.logger)
        let before = await bench.engine.lastEventNumber
        let author = CommandAuthor(who: "admin", from: "127.0.0.1:5")
        _ = try await bench.engine.rehearse(Self.order(for: .seconds(5)), by: author)
        let second = try await bench.engine.rehearse(Self.order(), by: author)
        #expect(await bench.engine.currentRehearsals().map(\.number) == [1, 2])
        #expect(await bench.engine.status().rehearsalCount == 2)
        await bench.advance(by: .seconds(5))
        #expect(await bench.engine.currentRehearsals() == [second])
        #expect(await bench.engine.stopRehearsal(1, by: author) == nil)
        #expect(await bench.engine.stopRehearsal(2, by: author) == second)
        #expect(await bench.engine.stopRehearsal(2, by: author) == nil)
        #expect(
            log.lines.value == [
                "warning a rehearsal began: an outage is played: fault=refuse from=127.0.0.1:5 host=shop.example rehearsal=1 who=admin",
                "warning a rehearsal began: an outage is played: fault=refuse from=127.0.0.1:5 host=shop.example rehearsal=2 who=admin",
                "warning a rehearsal is over: fault=refuse host=shop.example rehearsal=1",
                "warning a rehearsal was stopped: fault=refuse from=127.0.0.1:5 host=shop.example rehearsal=2 who=admin",
            ])
        let watcher = await bench.engine.watch()
        guard case .events(let events) = await bench.engine.nextEvents(of: watcher, after: before) else {
            Issue.record("no events")
            return
        }
        await bench.engine.unwatch(watcher)
        let counts = events.compactMap { event -> Int? in
            guard case .rehearsals(let rehearsals) = event.content else { return nil }
            #expect(event.name == "rehearsal.changed")
            return rehearsals.count
        }
        #expect(counts == [1, 2, 1, 0])
    }
}
