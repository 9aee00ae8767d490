import LayoverCore
import LayoverTestSupport
import Synchronization
import Testing

@testable import LayoverEngine

/// What somebody is told of a command while the disk takes nothing.
struct CommandOutcomeTests {
    private static let full = StoreFailure(.full, "The disk is full.")

    /// A disk that takes nothing once it is full. Commits are counted, so it is full for so many that nobody outlives it.
    private func benchOnAFullDisk(_ disk: MemoryDisk = MemoryDisk()) async throws -> (EngineBench, MemoryStore, EntryID) {
        var faults = MemoryFaults()
        for number in 2...2_000 { faults.failures[number] = Self.full }
        let store = MemoryStore(on: disk, faults: faults)
        let bench = await EngineBench(store: store)
        try await bench.engine.restore(from: store, bootID: "boot", routes: RouteTable())
        return (bench, store, try await bench.ticket())
    }

    @Test func commandThatACrashWouldUndoIsNotReportedAsDone() async throws {
        let disk = MemoryDisk()
        let (bench, store, id) = try await benchOnAFullDisk(disk)
        let (outcome, entry) = await bench.engine.command(.cancel, id)
        #expect(outcome == .unsaved(Self.full))
        #expect(entry?.state == .cancelled, "it is done all the same")
        store.die()
        let next = MemoryStore(on: disk)
        #expect(try await next.record(of: id)?.state == .waiting, "and a crash undoes it")
    }

    @Test func repeatedCancelIsUnsavedUntilItIsOnDisk() async throws {
        let (bench, _, id) = try await benchOnAFullDisk()
        for _ in 0..<3 { #expect(await bench.engine.command(.cancel, id).0 == .unsaved(Self.full)) }
        #expect(await bench.engine.command(.hold, id).0 == .conflict)
    }

    @Test func repeatedCancelIsAConflictOnceTheFirstIsSaved() async throws {
        let isFull = Watched(false)
        let store = MemoryStore(on: MemoryDisk(), faults: MemoryFaults(trouble: { isFull.value ? Self.full : nil }))
        let bench = await EngineBench(store: store)
        let id = try await bench.ticket()
        isFull.update { $0 = true }
        #expect(await bench.engine.command(.cancel, id).0 == .unsaved(Self.full))
        isFull.update { $0 = false }
        try await bench.waitUntilSaved(id)
        #expect(await bench.engine.command(.cancel, id).0 == .conflict)
        #expect(try await store.record(of: id)?.state == .cancelled)
    }

    @Test func unsavedChangeIsNotReportedAsDone() async throws {
        let (bench, _, id) = try await benchOnAFullDisk()
        #expect(await bench.engine.patch(id, EntryPatch(expiresAt: bench.clock.now() + .seconds(7))).0 == .unsaved(Self.full))
    }

    @Test func eachOfSeveralCommandsHasItsOwnOutcome() async throws {
        let (bench, _, id) = try await benchOnAFullDisk()
        let held = bench.exchange()
        await bench.park(held)
        let unknown = bench.exchange().id
        let outcomes = await bench.engine.command(.cancel, each: [id, held.id, unknown], reason: nil)
        #expect(outcomes == [.unsaved(Self.full), .done, .unknown], "what its client holds is not stored")
        #expect(held.next().count == 1)
    }

    @Test func unsavedIncidentCommandIsNotReportedAsDone() async throws {
        let (bench, _, id) = try await benchOnAFullDisk()
        bench.engine.post(
            .attemptFailed(
                AttemptFailed(
                    id, EngineBench.refused, .init(delay: .seconds(5), shutsGate: true),
                    AttemptTally(AttemptCounts(all: 1), automaticLeft: nil, isBodyReplayable: true))))
        await bench.settle()
        let incident = try #require(await bench.engine.incidents().first)
        #expect(await bench.engine.command(.cancel, incident: incident.id).0 == .unsaved(Self.full))
    }
}
