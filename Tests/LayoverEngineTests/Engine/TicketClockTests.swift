import LayoverCore
import LayoverTestSupport
import Testing

@testable import LayoverEngine

/// Deadlines, and dates that are wrong.
struct TicketClockTests {
    private let disk = MemoryDisk()
    private static let date = Duration.seconds(1_800_000_000)
    private static let day = Duration.seconds(86_400)

    /// One run of the proxy.
    private func run(
        boot: String, date: Duration = Self.date, at start: Duration = .seconds(60), idSeed: UInt64 = 7
    ) async throws -> (EngineBench, MemoryStore) {
        let store = MemoryStore(on: disk)
        let clock = ManualClock(at: Timestamp(nanoseconds: 0) + start, date: date)
        let bench = await EngineBench(store: store, idSeed: idSeed, clock: clock)
        try await bench.engine.restore(from: store, bootID: boot, routes: RouteTable())
        return (bench, store)
    }

    private func left(_ id: EntryID, _ bench: EngineBench) async throws -> Duration {
        let entry = try #require(await bench.engine.entry(id))
        #expect(!entry.state.isFinal)
        return entry.expiresAt - bench.clock.now()
    }

    /// Days ahead, a clock without a battery, and one that was ahead before: the date alone ends no ticket.
    @Test(arguments: [172_800, -1_800_000_000, -172_800, 3_000_000_000, 0])
    func nextBootLeavesATicketItsRemainingTime(jump: Int) async throws {
        let (first, store) = try await run(boot: "a")
        let id = try await first.ticket()
        let life = try await left(id, first)
        #expect(life == Self.day)
        store.die()
        let (second, again) = try await run(boot: "b", date: Self.date + .seconds(jump))
        #expect(try await left(id, second) == life)
        again.die()
        // And with the right date once more.
        let (third, last) = try await run(boot: "c", date: Self.date + .seconds(600))
        #expect(try await left(id, third) == life)
        last.die()
        // Time of one and the same boot was measured, whatever the date says.
        let (fourth, _) = try await run(boot: "c", date: .zero, at: .seconds(60) + Self.day)
        #expect(await fourth.engine.entry(id)?.state == .expired)
    }

    @Test func measuredTimeCounts() async throws {
        let (first, store) = try await run(boot: "a")
        let id = try await first.ticket()
        await first.engine.keepHistory(for: .seconds(3600))
        first.clock.advance(by: .seconds(3600))
        // A sign of life.
        await first.engine.keepHistory(for: .seconds(3600))
        _ = try await store.commit([])
        store.die()
        let (second, _) = try await run(boot: "b", date: Self.date + .seconds(10 * 86_400))
        #expect(try await left(id, second) == Self.day - .seconds(3600))
    }

    /// The machine was there all the time, only the proxy was not.
    @Test func timeOfTheSameBootCounts() async throws {
        let (first, store) = try await run(boot: "a")
        let id = try await first.ticket()
        store.die()
        let (second, _) = try await run(boot: "a", date: .zero, at: .seconds(60) + Self.day)
        #expect(await second.engine.entry(id)?.state == .expired)
    }

    /// People are shown the dates at which things happened.
    @Test func savedDateStays() async throws {
        let (first, store) = try await run(boot: "a")
        let id = try await first.ticket()
        let created = try #require(try await store.record(of: id)).createdAt
        store.die()
        let (second, again) = try await run(boot: "b", date: Self.date + Self.day)
        _ = await second.engine.command(.cancel, id)
        #expect(await second.engine.waitUntilSaved(id))
        let record = try #require(try await again.record(of: id))
        #expect(record.createdAt == created)
        #expect(record.endedAt == second.clock.now() + Self.date + Self.day)
        #expect(record.endedMeasured == second.clock.now() + Self.date)
    }
}
