import Foundation
import GRDB
import LayoverCore
import LayoverEngine
@testable import LayoverStore
import LayoverTestSupport
import NIOCore
import Synchronization
import Testing

@Suite struct DurabilityTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// GRDB's pool sets NORMAL, which loses acknowledged rows at a power cut.
    @Test func everyConnectionSyncsAtEachCommit() async throws {
        let store = try SQLiteStore.open(options: .quiet(folder.url.path))
        let modes = try await store.pool.writeWithoutTransaction { db in
            (try Int.fetchOne(db, sql: "PRAGMA synchronous"), try String.fetchOne(db, sql: "PRAGMA journal_mode"))
        }
        #expect(modes.0 == 2)
        #expect(modes.1 == "wal")
        // Both at once, so that they are two readers.
        try await onOwnThread {
            try store.pool.read { first in
                #expect(Self.synchronousOfAnotherReader(store) == 2)
                let mode = try Int.fetchOne(first, sql: "PRAGMA synchronous")
                #expect(mode == 2)
            }
        }
        await store.close()
    }

    private static func synchronousOfAnotherReader(_ store: SQLiteStore) -> Int? {
        let found = DispatchSemaphore(value: 0)
        let mode = Mutex<Int?>(nil)
        store.pool.asyncRead { db in
            mode.withLock { $0 = try? Int.fetchOne(db.get(), sql: "PRAGMA synchronous") }
            found.signal()
        }
        found.wait()
        return mode.withLock { $0 }
    }

    @Test func acknowledgedChangeIsInTheFilesAtOnce() async throws {
        let copy = try TemporaryFolder()
        let store = try SQLiteStore.open(options: .quiet(folder.url.path))
        try await store.insert(1...100, .fixture(.inline(ByteBuffer(string: "body"))))
        // As after SIGKILL: nothing was closed.
        for name in ["layover.sqlite", "layover.sqlite-wal", "store.key"] {
            try FileManager.default.copyItem(at: folder.file(name), to: copy.file(name))
        }
        let other = try SQLiteStore.open(options: .quiet(copy.url.path))
        #expect(try other.live() == (1...100).map { .fixture($0) })
        #expect(try await other.request(of: .fixture(7)) == .fixture(.inline(ByteBuffer(string: "body"))))
        await other.close()
        await store.close()
    }

    @Test func closedStoreLeavesNoLog() async throws {
        let store = try SQLiteStore.open(options: .quiet(folder.url.path))
        try await store.insert(1...10)
        await store.close()
        let log = FileManager.default.contents(atPath: folder.file("layover.sqlite-wal").path) ?? Data()
        #expect(log.isEmpty)
    }

    @Test func manyCallsShareCommits() async throws {
        let store = try SQLiteStore.open(options: .quiet(folder.url.path))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 1...500 {
                group.addTask { try await store.insert(number...number) }
            }
            try await group.waitForAll()
        }
        #expect(try store.live().count == 500)
        await store.close()
    }

    /// A body in a row takes room as one in a file does.
    @Test func bodiesInRowsAreCounted() async throws {
        let removed = Watched(0)
        var options = StoreOptions.quiet(folder.url.path)
        options.bodyRemoved = { count in removed.update { $0 += count } }
        var store = try SQLiteStore.open(options: options)
        let mark = IdempotencyMark(key: Array(repeating: 1, count: 32), payload: Array(repeating: 2, count: 32))
        let body = StoredBody.inline(ByteBuffer(repeating: 120, count: 1000))
        let response = StoredResponse(status: 200, fields: ByteBuffer(), body: .inline(ByteBuffer(repeating: 120, count: 10)))
        for number in 1...3 { _ = try await store.commit([.insert(.fixture(number), .fixture(body), number == 1 ? mark : nil)]) }
        _ = try await store.commit([.insert(.fixture(4), .fixture(body), mark)])
        await store.close()
        #expect(removed.value == 1000, "the duplicate was not kept")
        store = try SQLiteStore.open(options: options)
        #expect(store.bodyByteCountAtStart == 3000)
        _ = try await store.commit([.insert(.fixture(1), .fixture(body), mark)])
        _ = try await store.commit([.update(.fixture(1, revision: 2, state: .expired))])
        for _ in 1...2 { _ = try await store.commit([.delivered(.fixture(2, revision: 2, state: .delivered), response)]) }
        await store.close()
        #expect(removed.value == 3000, "what is said twice is kept once")
        store = try SQLiteStore.open(options: options)
        #expect(store.bodyByteCountAtStart == 1010)
        _ = try await store.commit([.dropResponse(.fixture(2))])
        await store.close()
        #expect(removed.value == 3010)
    }

    @Test func bodiesArePrivateAndCounted() async throws {
        let name = "\(EntryID.fixture(1)).request"
        let path = folder.url.path + "/new/deeper"
        var store = try SQLiteStore.open(options: .quiet(path))
        try Data([1, 2, 3]).write(to: URL(fileURLWithPath: "\(path)/spool/\(name)"))
        try await store.insert(1...1, .fixture(.file(name: name, byteCount: 3)))
        await store.close()
        let removed = Watched(0)
        var options = StoreOptions.quiet(path)
        options.bodyRemoved = { count in removed.update { $0 += count } }
        store = try SQLiteStore.open(options: options)
        #expect(store.bodyByteCountAtStart == 3)
        _ = try await store.commit([.update(.fixture(1, revision: 2, state: .expired))])
        await store.close()
        #expect(removed.value == 3)
        #expect(!FileManager.default.fileExists(atPath: "\(path)/spool/\(name)"))
    }

    @Test func filesAndFoldersAreReadableByTheirOwnerOnly() async throws {
        let before = try modeOfFile(folder.url.path)
        let path = folder.url.path + "/new/deeper"
        let store = try SQLiteStore.open(options: .quiet(path))
        try await store.insert(1...3)
        for name in ["layover.sqlite", "layover.sqlite-wal", "layover.sqlite-shm", "layover.sqlite.lock", "store.key"] {
            #expect(try modeOfFile("\(path)/\(name)") == 0o600, "\(name)")
        }
        for name in ["", "/spool", "/.."] { #expect(try modeOfFile(path + name) == 0o700, "\(name)") }
        #expect(try modeOfFile(folder.url.path) == before)
        await store.close()
        // A file that others could read becomes private again.
        for name in ["layover.sqlite", "store.key"] { #expect(chmod("\(path)/\(name)", 0o644) == 0) }
        let again = try SQLiteStore.open(options: .quiet(path))
        for name in ["layover.sqlite", "store.key"] { #expect(try modeOfFile("\(path)/\(name)") == 0o600) }
        await again.close()
    }
}
