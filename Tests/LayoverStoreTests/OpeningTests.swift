import Foundation
import GRDB
import LayoverCore
import LayoverEngine
import LayoverTestSupport
import Testing

@testable import LayoverStore

@Suite struct OpeningTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test func onlyOneProcessHasTheStore() async throws {
        let store = try SQLiteStore.open(options: .quiet(folder.url.path))
        let failure = await failure { try SQLiteStore.open(options: .quiet(folder.url.path)) }
        #expect(failure?.kind == .locked)
        #expect(failure?.message.contains("\(folder.url.path)/layover.sqlite is in use by process \(getpid())") == true)
        await store.close()
        await (try SQLiteStore.open(options: .quiet(folder.url.path))).close()
    }

    /// flock(1) is another process.
    @Test func storeOfAnotherProcessIsLocked() async throws {
        await (try SQLiteStore.open(options: .quiet(folder.url.path))).close()
        let holder = Process()
        holder.executableURL = URL(fileURLWithPath: "/usr/bin/flock")
        holder.arguments = [folder.file("layover.sqlite.lock").path, "sh", "-c", "echo locked; exec cat"]
        let (input, output) = (Pipe(), Pipe())
        holder.standardInput = input
        holder.standardOutput = output
        try holder.run()
        let word = try await onOwnThread { output.fileHandleForReading.availableData }
        #expect(String(decoding: word, as: UTF8.self) == "locked\n")
        let failure = await failure { try SQLiteStore.open(options: .quiet(folder.url.path)) }
        #expect(failure?.kind == .locked)
        try input.fileHandleForWriting.close()
        try await onOwnThread { holder.waitUntilExit() }
        await (try SQLiteStore.open(options: .quiet(folder.url.path))).close()
    }

    @Test(arguments: ["", "S", "not a database at all, but long enough to be one", "SQLite format 3\0 and then nonsense"])
    func otherFileIsRefusedAndUnchanged(text: String) async throws {
        try folder.write(text, to: "layover.sqlite")
        if text.isEmpty {
            // An empty file is a new store: SQLite makes it one.
            await (try SQLiteStore.open(options: .quiet(folder.url.path))).close()
            return
        }
        let failure = await failure { try SQLiteStore.open(options: .quiet(folder.url.path)) }
        #expect(failure?.kind == .corrupt)
        #expect(failure?.message.contains("move it away") == true)
        #expect(folder.text(of: "layover.sqlite") == text)
    }

    /// Nonsense over one page after another, and a file that was cut off.
    @Test func aDamagedStoreIsRefusedAndLeftAlone() async throws {
        let store = try SQLiteStore.open(options: .quiet(folder.url.path))
        try await store.insert(1...200)
        await store.close()
        let sound = try #require(FileManager.default.contents(atPath: folder.file("layover.sqlite").path))
        let pageCount = sound.count / 4096
        #expect(pageCount > 10)
        var damages = (0..<pageCount).map { page in
            var damaged = sound
            for offset in 0..<64 { damaged[page * 4096 + (page == 0 ? 100 : 0) + offset] = 0xA5 }
            return damaged
        }
        damages.append(sound.prefix(sound.count / 2))
        for (index, damaged) in damages.enumerated() {
            try damaged.write(to: folder.file("layover.sqlite"))
            let failure = await failure { try SQLiteStore.open(options: .quiet(folder.url.path)) }
            #expect(failure?.kind == .corrupt, "damage \(index)")
            #expect(FileManager.default.contents(atPath: folder.file("layover.sqlite").path) == damaged)
        }
    }

    @Test func databaseOfAnotherProgramIsRefused() async throws {
        let database = try DatabaseQueue(path: folder.file("layover.sqlite").path)
        try await database.write { try $0.execute(sql: "CREATE TABLE theirs (a)") }
        try database.close()
        let before = FileManager.default.contents(atPath: folder.file("layover.sqlite").path)
        let failure = await failure { try SQLiteStore.open(options: .quiet(folder.url.path)) }
        #expect(failure?.kind == .corrupt)
        #expect(failure?.message.contains("is not a Layover database") == true)
        #expect(FileManager.default.contents(atPath: folder.file("layover.sqlite").path) == before)
    }

    /// A store of an earlier version with a row that has these ids.
    private func makeStore(of version: String, _ row: String, _ ids: [EntryID]) async throws {
        let pool = try StoreConnections.open(folder.file("layover.sqlite").path)
        try StoreSchema.migrator().migrate(pool, upTo: version)
        let values = ids.map { Data($0.bytes) }
        try await pool.write { try $0.execute(sql: row, arguments: StatementArguments(values)) }
        try pool.close()
    }

    /// Rows of version 1 are kept, with the columns that version 2 adds.
    @Test func aStoreOfTheFirstVersionIsMigrated() async throws {
        try await makeStore(
            of: "1",
            """
            INSERT INTO ticket (sequence, id, revision, state, method, url, scheme, host, port, policy, priority,
                clientAddress, clientConnected, attemptCount, automaticCount, mayHaveBeenApplied, isRepeatable,
                hasIdempotencyKey, isExposed, isHeldBack, requestByteCount, createdAt, parkedAt, dueAt, expiresAt)
            VALUES (7, ?, 3, 'waiting', 'PUT', 'http://a.test/x', 'http', 'a.test', 80, 'default', 3,
                '127.0.0.1:1', 0, 1, 1, 0, 1, 0, 0, 0, 0, 5, 5, 5, 9)
            """, [.fixture(7)])
        let store = try SQLiteStore.open(options: .quiet(folder.url.path))
        var record = try #require(try store.live().first)
        #expect(record.id == .fixture(7) && record.sequence == 7 && record.revision == 3)
        #expect(record.supersededBy == nil)
        record.revision = 4
        record.state = .cancelled
        record.endedAt = record.createdAt
        record.supersededBy = .fixture(8)
        #expect(try await store.commit([.update(record)]) == [.done])
        await store.close()
        let again = try SQLiteStore.open(options: .quiet(folder.url.path))
        #expect(try await again.record(of: .fixture(7)) == record)
        await again.close()
    }

    /// What version 5 wrote does not say what people decided: nothing counts as forced, so what may have been
    /// applied asks again, and a deadline that a person may have set is not moved.
    @Test func storeWithoutDecisionsIsMigrated() async throws {
        try await makeStore(
            of: "5",
            """
            INSERT INTO ticket (sequence, id, revision, state, method, url, scheme, host, port, policy, priority,
                parents, clientAddress, clientConnected, attemptCount, automaticCount, mayHaveBeenApplied,
                isRepeatable, hasIdempotencyKey, isExposed, isHeldBack, requestByteCount, createdAt, parkedAt, dueAt,
                expiresAt)
            VALUES (7, ?, 3, 'waiting', 'POST', 'http://a.test/x', 'http', 'a.test', 80, 'default', 3,
                ?, '127.0.0.1:1', 0, 1, 1, 1, 0, 0, 0, 0, 0, 5, 5, 5, 1000000000000)
            """, [.fixture(7), .fixture(6)])
        let store = try SQLiteStore.open(options: .quiet(folder.url.path))
        var record = try #require(try store.live().first)
        #expect(!record.isForced && !record.isAskedFor && record.excusedParents.isEmpty)
        #expect(record.hasOwnDeadline && record.hasOwnPriority)
        var (set, generator) = (PendingSet(), SeededGenerator(seed: 1))
        let restored = TicketsRestored([(record, .standard)], ended: [.fixture(6): .delivered])
        _ = set.handle(restored, now: Timestamp(nanoseconds: 9), using: &generator)
        #expect(set.entry(.fixture(7), now: Timestamp(nanoseconds: 9))?.why == .maybeApplied)

        record.revision = 4
        record.isForced = true
        record.excusedParents = [.fixture(6)]
        #expect(try await store.commit([.update(record)]) == [.done])
        await store.close()
        let again = try SQLiteStore.open(options: .quiet(folder.url.path))
        #expect(try again.live() == [record])
        await again.close()
    }

    @Test func aNewerStoreIsRefused() async throws {
        let store = try SQLiteStore.open(options: .quiet(folder.url.path))
        try await store.pool.write { try $0.execute(sql: "INSERT INTO grdb_migrations VALUES ('99')") }
        await store.close()
        let failure = await failure { try SQLiteStore.open(options: .quiet(folder.url.path)) }
        #expect(failure?.message.contains("newer version") == true)
    }

    @Test func invalidRowIsAnError() async throws {
        let store = try SQLiteStore.open(options: .quiet(folder.url.path))
        try await store.insert(1...1)
        try await store.pool.write { try $0.execute(sql: "UPDATE ticket SET lastFailure = X'0102030405'") }
        let failure = await failure { try store.live() }
        #expect(failure?.kind == .corrupt)
        let path = folder.file("layover.sqlite").path
        #expect(failure?.message.contains("\(path) is damaged: row 1 of the table ticket cannot be read") == true)
        #expect(failure?.message.contains("move it away") == true)
        await store.close()
    }

    /// The timeline is only for people.
    @Test func aTimelineThatCannotBeReadIsAnEmptyOne() async throws {
        let store = try SQLiteStore.open(options: .quiet(folder.url.path))
        try await store.insert(1...1)
        for bytes in ["0102030405", "00", "0100FEFFFFFFFFFFFFFFFF01", "01FEFFFFFFFFFFFFFFFF0100"] {
            try await store.pool.write { try $0.execute(sql: "UPDATE ticket SET attempts = X'\(bytes)'") }
            #expect(try store.live().map(\.attempts) == [AttemptLog()])
        }
        await store.close()
    }

    /// As somebody may write them by hand: an addition to them must not end the process.
    @Test(arguments: ["revision", "attemptCount", "automaticCount", "requestByteCount", "sequence"])
    func impossibleCountsAreDamage(column: String) async throws {
        let store = try SQLiteStore.open(options: .quiet(folder.url.path))
        try await store.insert(1...1)
        try await store.pool.writeWithoutTransaction { db in
            try db.execute(
                sql: """
                    PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON;
                    UPDATE ticket SET \(column) = 9223372036854775807;
                    PRAGMA ignore_check_constraints = OFF;
                    """)
        }
        let failure = await failure { try store.live() }
        #expect(failure?.kind == .corrupt)
        let row = column == "sequence" ? Int.max : 1
        #expect(failure?.message.contains("row \(row) of the table ticket") == true, "\(failure?.message ?? "nothing")")
        if column == "sequence" {
            #expect(await LayoverStoreTests.failure { try store.lastSequence() }?.kind == .corrupt)
        }
        await store.close()
    }

    @Test func impossibleBodyLengthIsDamage() async throws {
        var store = try SQLiteStore.open(options: .quiet(folder.url.path))
        var request = StoredRequest.fixture()
        request.body = .file(name: "\(EntryID.fixture(1)).request", byteCount: 3)
        try await store.insert(1...1, request)
        request.body = .file(name: "\(EntryID.fixture(2)).request", byteCount: 3)
        try await store.insert(2...2, request)
        try await store.pool.write { try $0.execute(sql: "UPDATE request SET bodyByteCount = 9223372036854775807") }
        #expect(await failure { try await store.request(of: .fixture(1)) }?.kind == .corrupt)
        await store.close()
        store = try SQLiteStore.open(options: .quiet(folder.url.path))
        #expect(store.bodyByteCountAtStart == 1 << 53)
        await store.close()
    }
}
