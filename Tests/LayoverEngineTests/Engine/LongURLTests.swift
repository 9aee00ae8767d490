import LayoverCore
import LayoverTestSupport
import NIOCore
import Testing

@testable import LayoverEngine

/// Tickets with long URLs: memory keeps the beginning of one that has ended, and people see all of it.
struct LongURLTests {
    private let url = "\(EngineBench.origin)/" + String(repeating: "a", count: 6 << 10) + "/Tail?q=end"
    private let isBroken = Watched(false)
    private let store: MemoryStore

    init() {
        let isBroken = isBroken
        store = MemoryStore(
            on: MemoryDisk(), faults: MemoryFaults(trouble: { isBroken.value ? StoreFailure(.io, "Broken.") : nil }))
    }

    private func bench() async throws -> (EngineBench, EntryID) {
        let bench = await EngineBench(store: store)
        var acceptance = bench.acceptance()
        acceptance.new.request.url = url
        let id = try #require(try await bench.accept(acceptance).result().accepted)
        return (bench, id)
    }

    private func remembered(_ bench: EngineBench) async -> Entry? { await bench.engine.rememberedEntries().first }

    /// Finds it by the end of its path, in the order of URLs.
    private func listed(_ bench: EngineBench) async throws -> [String] {
        var query = PendingQuery()
        query.filter.states = [.delivered, .cancelled]
        query.filter.text = "tail"
        query.sort = EntrySort(by: .url)
        let listing = try await bench.engine.list(query)
        return try await bench.engine.entries(of: listing.items).map(\.url)
    }

    @Test func deliveredTicketIsShownWithItsWholeURL() async throws {
        let (bench, id) = try await bench()
        await bench.deliver(id)
        try await bench.waitUntilSaved(id)
        let entry = try #require(await remembered(bench))
        #expect(entry.request.isURLInStore)
        #expect(entry.url.utf8.count < 1100)
        #expect(try await store.record(of: id)?.url == url)
        #expect(try await bench.engine.knownEntry(id)?.url == url)
        #expect(try await bench.engine.ticket(id)?.record.url == url)
        #expect(try await listed(bench) == [url])
    }

    @Test func cancelAnswersWithTheWholeURL() async throws {
        let (bench, id) = try await bench()
        let (outcome, entry) = await bench.engine.command(.cancel, id)
        #expect(outcome == .done)
        #expect(entry?.state == .cancelled)
        #expect(entry?.url == url)
        #expect(await remembered(bench)?.request.isURLInStore == true)
    }

    @Test func lateEvidenceLeavesTheURLOnDisk() async throws {
        let (bench, id) = try await bench()
        _ = await bench.engine.command(.cancel, id)
        bench.engine.post(.evidence(id, EngineBench.refused, AttemptTally(AttemptCounts(all: 1, automatic: 1))))
        await bench.settle()
        try await bench.waitUntilSaved(id)
        let record = try #require(try await store.record(of: id))
        #expect(record.lastFailure?.kind == .connectionRefused)
        #expect(record.url == url)
        #expect(try await listed(bench) == [url])
    }

    @Test func memoryHasTheURLUntilTheStoreHasTheEnd() async throws {
        let (bench, id) = try await bench()
        let other = try await bench.ticket()
        isBroken.update { $0 = true }
        await bench.deliver(id)
        await bench.engine.waitForStore()
        #expect(await remembered(bench)?.url == url)
        #expect(await remembered(bench)?.request.isURLInStore == false)
        isBroken.update { $0 = false }
        // A change that the store takes has the refused one handed in again.
        _ = await bench.engine.command(.hold, other)
        _ = await bench.engine.command(.cancel, other)
        try await bench.waitUntilSaved(id)
        #expect(await remembered(bench)?.request.isURLInStore == true)
        #expect(try await store.record(of: id)?.url == url)
    }

    @Test func cutURLIsMarkedWhereTheStoreHasForgottenTheTicket() async throws {
        let (bench, id) = try await bench()
        await bench.deliver(id)
        try await bench.waitUntilSaved(id)
        #expect(try await store.removeEnded(before: .distantFuture, limit: 9) == 1)
        let shown = try #require(try await bench.engine.knownEntry(id)?.url)
        #expect(shown.hasSuffix("…") && url.hasPrefix(shown.dropLast()))
    }
}
