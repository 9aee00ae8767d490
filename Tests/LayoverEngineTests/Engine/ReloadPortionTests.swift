import LayoverCore
import LayoverTestSupport
import NIOCore
import Testing

@testable import LayoverEngine

/// A reload has tickets find their routes in portions. What happens between two portions.
struct ReloadPortionTests {
    private static let portion = 2
    private static let count = 9

    /// Work of the store that has not been done yet, while `isShut`.
    private let gate = Watched<[@Sendable () -> Void]>([])
    private let isShut = Watched(false)
    private let store: MemoryStore
    private let log = RecordedLog()

    /// Tickets that wait, because no attempt starts in mode `offline`.
    private let ids: [EntryID]
    private let bench: EngineBench

    init() async throws {
        let (gate, isShut) = (gate, isShut)
        store = MemoryStore(
            on: MemoryDisk(),
            schedule: { work in
                if isShut.value { gate.update { $0.append(work) } } else { Task.detached { work() } }
            })
        bench = await EngineBench(mode: .offline, store: store, reroutePortion: Self.portion, logger: log.logger)
        var ids: [EntryID] = []
        for _ in 0..<Self.count { ids.append(try await bench.ticket()) }
        self.ids = ids
        isShut.update { $0 = true }
    }

    private static func routes(priority: Int) -> RouteTable {
        var policy = Policy.standard
        policy.priority = priority
        return RouteTable(policies: [policy.name: policy])
    }

    /// The engine works on all that it can without the store.
    private func settle(_ bench: EngineBench) async { for _ in 0..<20 { await bench.settle() } }

    /// The store does what it was asked for so far, and the engine what follows from that.
    private func storeCommits(_ bench: EngineBench) async {
        let works = gate.value
        gate.update { $0.removeFirst(works.count) }
        for work in works { work() }
        await settle(bench)
    }

    private func priorities(_ bench: EngineBench, _ ids: [EntryID]) async -> [Int] {
        var found: [Int] = []
        for id in ids { found.append(await bench.engine.entry(id)?.priority ?? -1) }
        return found
    }

    /// Until the reload has reached every ticket. Each round is one commit of the store and one portion.
    private func finish(_ bench: EngineBench, _ ids: [EntryID], priority: Int) async throws {
        var before = await priorities(bench, ids).count { $0 == priority }
        for _ in 0...Self.count {
            await storeCommits(bench)
            let now = await priorities(bench, ids).count { $0 == priority }
            #expect(now - before <= Self.portion, "one portion between two commits")
            before = now
        }
        isShut.update { $0 = false }
        for work in gate.value { work() }
        for id in ids { try await bench.waitUntilSaved(id) }
    }

    @Test func nextPortionWaitsForTheStore() async throws {
        await bench.engine.adopt(Self.routes(priority: 1))
        await settle(bench)
        #expect(await priorities(bench, ids) == [1, 1, 3, 3, 3, 3, 3, 3, 3])
        await storeCommits(bench)
        #expect(await priorities(bench, ids) == [1, 1, 1, 1, 3, 3, 3, 3, 3])
        try await finish(bench, ids, priority: 1)
        #expect(await priorities(bench, ids) == ids.map { _ in 1 })
        for id in ids { #expect(try await store.record(of: id)?.priority == 1) }
    }

    @Test func reportOfAReloadHasTheNumberOfTicketsLeftWhenItsTimeIsOver() async throws {
        await bench.engine.adopt(Self.routes(priority: 1))
        let left = await bench.engine.untilRerouted(within: .zero)
        #expect(left == Self.count - Self.portion)
        await bench.engine.reloaded(ReloadReport(at: bench.clock.now(), entriesLeft: left))
        #expect(await bench.engine.status().lastReload?.entriesLeft == left)
        await storeCommits(bench)
        #expect(await bench.engine.status().lastReload?.entriesLeft == left - Self.portion, "the number of now")
        #expect(linesAboutTheEnd() == 0)
        try await finish(bench, ids, priority: 1)
        #expect(await bench.engine.status().lastReload?.entriesLeft == 0)
        #expect(linesAboutTheEnd() == 1)
    }

    /// How many lines of the log report that the reload has reached every ticket.
    private func linesAboutTheEnd() -> Int {
        log.lines.value.count { $0.hasPrefix("notice all requests that wait follow the reloaded configuration") }
    }

    @Test func ticketsLeftAreShownAfterAReloadThatFailed() async throws {
        await bench.engine.adopt(Self.routes(priority: 1))
        let left = await bench.engine.untilRerouted(within: .zero)
        await bench.engine.reloaded(ReloadReport(at: bench.clock.now(), entriesLeft: left))
        let errors = ["routes.x: unknown key"]
        await bench.engine.reloaded(ReloadReport(at: bench.clock.now(), errors: errors))
        let failed = await bench.engine.status().lastReload
        #expect(failed?.errors == errors && failed?.entriesLeft == left)
        try await finish(bench, ids, priority: 1)
        let ended = await bench.engine.status().lastReload
        #expect(ended?.errors == errors && ended?.entriesLeft == 0)
    }

    @Test func reportOfAReloadWaitsForAllTickets() async throws {
        await bench.engine.adopt(Self.routes(priority: 1))
        let report = report(of: bench)
        try await eventually("a report that waits, or is there") {
            if report.value != nil { return true }
            return await bench.engine.hasReportWaiting
        }
        #expect(report.value == nil, "tickets are left")
        try await finish(bench, ids, priority: 1)
        try await report.wait("the report") { $0 == 0 }
    }

    @Test func reportOfAReloadWithoutTicketsDoesNotWait() async throws {
        let bench = await EngineBench()
        await bench.engine.adopt(Self.routes(priority: 1))
        try await report(of: bench).wait("the report") { $0 == 0 }
    }

    /// The number of tickets left in the report of a reload. Nil until the report ends. Its time is longer than the test waits for it.
    private func report(of bench: EngineBench) -> Watched<Int?> {
        let report = Watched<Int?>(nil)
        Task {
            let left = await bench.engine.untilRerouted(within: .seconds(600))
            report.update { $0 = left }
        }
        return report
    }

    /// Clients wait for most of those that have an exchange.
    @Test func entriesWithAnExchangeDoNotWaitForTheStore() async throws {
        let exchanges = (0..<5).map { _ in bench.exchange() }
        for exchange in exchanges { await bench.park(exchange) }
        await bench.engine.adopt(Self.routes(priority: 1))
        await settle(bench)
        #expect(await priorities(bench, exchanges.map(\.id)) == exchanges.map { _ in 1 })
        let ticketCount = await priorities(bench, ids).count { $0 == 1 }
        #expect(ticketCount < Self.portion, "the next portion waits for the store")
    }

    @Test func newTicketWaitsForOnePortionOnly() async throws {
        await bench.engine.adopt(Self.routes(priority: 1))
        let new = bench.acceptance()
        let recorder = bench.accept(new)
        await settle(bench)
        #expect(recorder.results.value.isEmpty)
        await storeCommits(bench)
        #expect(recorder.results.value.count == 1)
        #expect(await priorities(bench, ids).last == 3, "the reload is still under way")
        #expect(await bench.engine.entry(new.new.id)?.priority == 1)
        try await finish(bench, ids, priority: 1)
        #expect(await priorities(bench, ids + [new.new.id]) == Array(repeating: 1, count: Self.count + 1))
    }

    @Test func commandsBetweenPortionsAreObeyed() async throws {
        let (cancelled, held, patched) = (ids[8], ids[7], ids[6])
        await bench.engine.adopt(Self.routes(priority: 1))
        #expect(await bench.engine.apply(.cancel, cancelled, by: .client) == .done)
        #expect(await bench.engine.apply(.hold, held, by: .client) == .done)
        #expect(await bench.engine.apply(EntryPatch(priority: 7), to: patched) == .done)
        #expect(await bench.engine.entry(cancelled)?.state == .cancelled)
        // One that has its new route already ends too, before the portion that is behind it.
        #expect(await bench.engine.apply(.cancel, ids[0], by: .client) == .done)
        try await finish(bench, ids, priority: 1)
        #expect(await bench.engine.entry(cancelled)?.state == .cancelled)
        #expect(await bench.engine.entry(held)?.state == .held)
        #expect(await bench.engine.liveEntries().count == Self.count - 2)
        #expect(await priorities(bench, Array(ids[1...])) == [1, 1, 1, 1, 1, 7, 1, 3])
        #expect(try await store.record(of: cancelled)?.state == .cancelled)
        #expect(try await store.record(of: held)?.priority == 1)
    }

    @Test func ticketWhoseTurnComesFirstHasTheNewPolicy() async throws {
        _ = bench.loop.next()
        await bench.engine.adopt(Self.routes(priority: 1))
        #expect(await bench.engine.apply(.retry, ids[8], by: .client) == .done)
        _ = await bench.engine.setMode(.online, reason: nil)
        #expect(await bench.engine.entry(ids[8])?.state == .attempting)
        #expect(await priorities(bench, [ids[8]]) == [1])
        for _ in 0...Self.count { await storeCommits(bench) }
        #expect(await priorities(bench, ids) == ids.map { _ in 1 })
    }

    @Test func secondReloadBeginsAgainFromTheFirstTicket() async throws {
        await bench.engine.adopt(Self.routes(priority: 1))
        await storeCommits(bench)
        #expect(await priorities(bench, ids) == [1, 1, 1, 1, 3, 3, 3, 3, 3])
        await bench.engine.adopt(Self.routes(priority: 6))
        await settle(bench)
        #expect(await priorities(bench, ids) == [6, 6, 1, 1, 3, 3, 3, 3, 3])
        try await finish(bench, ids, priority: 6)
        #expect(await priorities(bench, ids) == ids.map { _ in 6 })
        for id in ids { #expect(try await store.record(of: id)?.priority == 6) }
    }
}

extension Engine {
    /// Whether the report of a reload waits until the reload has reached every ticket.
    fileprivate var hasReportWaiting: Bool { waits.keys.contains(.rerouting) }
}
