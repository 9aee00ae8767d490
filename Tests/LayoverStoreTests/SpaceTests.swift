import Foundation
import GRDB
import LayoverCore
import LayoverEngine
import LayoverTestSupport
import NIOCore
import Testing

@testable import LayoverStore

/// Space of removed tickets, other users of the file, and a call that cannot be committed.
struct SpaceTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func ended(_ numbers: ClosedRange<Int>, bytes count: Int, in store: SQLiteStore) async throws {
        for number in numbers {
            try await store.insert(number...number)
            let record = TicketRecord.fixture(number, revision: 2, state: .delivered)
            let response = StoredResponse(
                status: 200, fields: ByteBuffer(), body: .inline(ByteBuffer(repeating: 7, count: count)))
            #expect(try await store.commit([.delivered(record, response)]) == [.done])
        }
    }

    @Test func oneStepRemovesLimitedBytes() async throws {
        let store = try SQLiteStore.open(options: .quiet(folder.url.path))
        try await ended(1...5, bytes: 600 << 10, in: store)
        var counts: [Int] = []
        repeat { counts.append(try await store.removeEnded(before: .distantFuture, limit: 500)) } while counts.last != 0
        #expect(counts == [2, 2, 1, 0])
        await store.close()
    }

    @Test func spaceOfRemovedTicketsIsGivenBack() async throws {
        let store = try SQLiteStore.open(options: .quiet(folder.url.path))
        try await ended(1...60, bytes: 600 << 10, in: store)
        _ = try await store.pool.writeWithoutTransaction { try $0.checkpoint(.truncate) }
        let before = store.condition.byteCount
        while try await store.removeEnded(before: .distantFuture, limit: 500) > 0 {}
        // 16 MiB of free pages stay.
        #expect(before > 34 << 20 && store.condition.byteCount < before - (10 << 20), "\(before), then \(store.condition.byteCount)")
        await store.close()
    }

    /// A person's VACUUM or backup, for a moment.
    @Test func changeWaitsForAnotherUserOfTheFile() async throws {
        let store = try SQLiteStore.open(options: .quiet(folder.url.path))
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        let other = try DatabaseQueue(path: folder.file("layover.sqlite").path, configuration: configuration)
        var results: [StoreResult]?
        var time = Duration.seconds(2)
        // A change waits for two seconds. A busy machine may end the use later than that, and then the change may fail.
        for _ in 1...20 where results == nil && time > .seconds(1) {
            try await other.writeWithoutTransaction { try $0.execute(sql: "BEGIN IMMEDIATE") }
            let (begun, taken) = (ContinuousClock.now, Watched<Duration?>(nil))
            DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(300)) {
                try? other.writeWithoutTransaction { try $0.execute(sql: "COMMIT") }
                taken.update { $0 = ContinuousClock.now - begun }
            }
            results = try? await store.commit([.insert(.fixture(1), .fixture(), nil)])
            time = try await taken.take("the end of the use") { $0 }
        }
        #expect(results == [.done], "the file was in use for \(time)")
        try other.close()
        await store.close()
    }

    /// A row that cannot be read plays the damaged page. Only the call that meets it fails.
    @Test func damageConcernsOnlyTheCallThatMeetsIt() async throws {
        let store = try SQLiteStore.open(options: .quiet(folder.url.path))
        let mark = IdempotencyMark(key: Array(repeating: 1, count: 32), payload: Array(repeating: 2, count: 32))
        #expect(try await store.commit([.insert(.fixture(1), .fixture(), mark)]) == [.done])
        let calls = (2...6).map { number in
            ChangesCall(changes: [.insert(.fixture(number), .fixture(), number == 4 ? mark : nil)]) { _ in }
        }
        let results = try await store.pool.writeWithoutTransaction { [sealing = store.sealing, folder = store.folder] db in
            try db.execute(sql: "PRAGMA ignore_check_constraints = ON")
            try db.execute(sql: "UPDATE ticket SET id = x'00' WHERE sequence = 1")
            return try GroupWriter(db, sealing: sealing, folder: folder).commit(calls[...], db).results
        }
        #expect(results.map { (try? $0.get()) == [.done] } == [true, true, false, true, true])
        #expect(throws: StoreFailure.self) { try results[2].get() }
        await store.close()
    }
}
