import LayoverCore
import LayoverTestSupport
import Logging
import NIOCore
import NIOEmbedded
import Testing

@testable import LayoverEngine

/// A change that the store refuses, as one that meets a damaged page, is handed in again alone, with growing pauses. By a clock that
/// stands still.
struct SavingPauseTests {
    /// The calls that had a change of the damaged ticket, each with the number of its changes and of its tickets.
    private struct Try: Hashable {
        var changes: Int
        var tickets: Int
    }

    private let loop = NIOAsyncTestingEventLoop()
    private let damaged = Watched<EntryID?>(nil)
    private let tries = Watched<[Try]>([])
    /// Work of the store that is still to be done.
    private let works = Watched<[@Sendable () -> Void]>([])
    private let store: MemoryStore

    init() {
        let (damaged, tries, works) = (damaged, tries, works)
        var faults = MemoryFaults()
        faults.refusal = { changes in
            let ids = changes.compactMap { change -> EntryID? in
                switch change {
                case .insert(let record, _, _), .update(let record), .lateEvidence(let record), .delivered(let record, _): record.id
                case .started(let id, _, _), .dropResponse(let id), .forgetKey(let id): id
                case .seen: nil
                }
            }
            guard let id = damaged.value, ids.contains(id) else { return nil }
            tries.update { $0.append(Try(changes: changes.count, tickets: Set(ids).count)) }
            return StoreFailure(.corrupt, "A page is damaged.")
        }
        store = MemoryStore(on: MemoryDisk(), faults: faults, schedule: { work in works.update { $0.append(work) } })
    }

    private func bench() async -> EngineBench { await EngineBench(mode: .offline, store: store, eventLoop: loop) }

    /// The store and the engine do what they were asked for, until nothing is left.
    private func settle() async {
        repeat {
            let due = works.value
            works.update { $0.removeFirst(due.count) }
            for work in due { work() }
            await loop.run()
        } while !works.value.isEmpty
    }

    private func ticket(_ bench: EngineBench) async -> EntryID? {
        let recorder = bench.accept(bench.acceptance())
        await loop.run()
        await settle()
        return recorder.results.value.first?.accepted
    }

    private func advance(_ time: TimeAmount) async {
        await loop.advanceTime(by: time)
        await settle()
    }

    @Test func refusedChangeIsHandedInAloneWithGrowingPauses() async throws {
        let bench = await bench()
        let bad = try #require(await ticket(bench))
        let good = try #require(await ticket(bench))
        damaged.update { $0 = bad }
        #expect(await bench.engine.apply(.hold, each: [bad, good], reason: nil) == [.done, .done])
        await settle()
        tries.update { $0 = [] }
        for (index, pause) in [1, 2, 4, 8, 16, 32, 60, 60, 60].enumerated() {
            await advance(.seconds(Int64(pause)) - .milliseconds(1))
            #expect(tries.value.isEmpty, "in a pause of \(pause) s")
            // Others are saved in the meantime, and the refused change does not come along.
            #expect(await bench.engine.apply(index.isMultiple(of: 2) ? .release : .hold, good, by: .client) == .done)
            await settle()
            #expect(await bench.engine.isSaved(good))
            if pause > 1 { #expect(tries.value.isEmpty, "another change ends no pause of \(pause) s") }
            tries.update { $0 = [] }
            await advance(.milliseconds(1))
            #expect(tries.value == [Try(changes: 1, tickets: 1)], "after a pause of \(pause) s")
            tries.update { $0 = [] }
        }
        #expect(await !bench.engine.isSaved(bad))

        // The page is mended.
        damaged.update { $0 = nil }
        await advance(.seconds(60))
        #expect(await bench.engine.isSaved(bad))
        #expect(try await record(bad)?.state == .held)

        // The next trouble begins with a short pause.
        damaged.update { $0 = good }
        #expect(await bench.engine.apply(.cancel, good, by: .client) == .done)
        await settle()
        tries.update { $0 = [] }
        await advance(.milliseconds(999))
        #expect(tries.value.isEmpty)
        await advance(.milliseconds(1))
        #expect(tries.value == [Try(changes: 1, tickets: 1)])
    }

    /// A full disk is another matter: space may come at any time, so the pause stays short.
    @Test func pauseOfAFullDiskDoesNotGrow() async throws {
        let isFull = Watched(false)
        let (works, commits) = (works, Watched(0))
        let store = MemoryStore(
            on: MemoryDisk(),
            faults: MemoryFaults(trouble: {
                guard isFull.value else { return nil }
                commits.update { $0 += 1 }
                return StoreFailure(.full, "Full.")
            }), schedule: { work in works.update { $0.append(work) } })
        let bench = await EngineBench(mode: .offline, store: store, eventLoop: loop)
        let id = try #require(await ticket(bench))
        isFull.update { $0 = true }
        #expect(await bench.engine.apply(.hold, id, by: .client) == .done)
        await settle()
        for _ in 0..<5 {
            commits.update { $0 = 0 }
            await advance(.milliseconds(999))
            #expect(commits.value == 0)
            await advance(.milliseconds(1))
            #expect(commits.value == 1)
        }
        isFull.update { $0 = false }
        await advance(.seconds(1))
        #expect(await bench.engine.isSaved(id))
    }

    /// After a long pause the changes of some tickets are handed in, and those of the others after further pauses.
    @Test func refusedChangesOfManyTicketsAreHandedInByAndBy() {
        var saver = TicketSaver(Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }), naming: .plain)
        let ids = (0..<2500).map { EntryID(high: 1, low: UInt64($0)) }
        let changes = saver.handed(ids.map { ($0, .dropResponse($0)) })
        let refused = saver.finished(changes, .failure(StoreFailure(.io, "Broken.")))
        #expect(refused.pause == Duration.seconds(1))
        var left: [Int] = []
        var pauses: [Duration?] = []
        for _ in 0..<3 {
            let due = saver.pauseEnded()
            left.append(saver.unsavedCount)
            pauses.append(due.pause)
            for changes in due.again { _ = saver.finished(changes, .success(changes.map { _ in .done })) }
        }
        let growing: [Duration?] = [.seconds(2), .seconds(4), nil]
        let unsaved = ids.filter { !saver.isSaved($0) }
        #expect(left == [1500, 500, 0])
        #expect(pauses == growing)
        #expect(unsaved.isEmpty)
        #expect(saver.failure == nil)
    }

    /// As the store has it, which answers when its work is done.
    private func record(_ id: EntryID) async throws -> TicketRecord? {
        let found = Watched<[Result<[TicketRecord], StoreFailure>]>([])
        store.records(of: [id]) { result in found.update { $0.append(result) } }
        await settle()
        return try found.value.first?.get().first
    }
}
