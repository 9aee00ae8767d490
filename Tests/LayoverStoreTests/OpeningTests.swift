import Foundation
import GRDB
import LayoverEngine
@testable import LayoverStore
import LayoverTestSupport
import Testing

@Suite struct OpeningTests {
    @Test func oneProcessHasTheStore() async throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteStore.open(options: .quiet(folder.url.path))
        let failure = await failure { try SQLiteStore.open(options: .quiet(folder.url.path)) }
        #expect(failure?.kind == .locked)
        #expect(failure?.message.contains("\(folder.url.path)/layover.sqlite is in use by process \(getpid())") == true)
        await store.close()
        await (try SQLiteStore.open(options: .quiet(folder.url.path))).close()
    }

    /// flock(1) is another process.
    @Test func anotherProcessIsNoticed() async throws {
        let folder = try TemporaryFolder()
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
    func whatIsNoDatabaseIsRefusedAndLeftAlone(text: String) async throws {
        let folder = try TemporaryFolder()
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
        let folder = try TemporaryFolder()
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

    @Test func aDatabaseOfSomebodyElseIsRefused() async throws {
        let folder = try TemporaryFolder()
        let database = try DatabaseQueue(path: folder.file("layover.sqlite").path)
        try await database.write { try $0.execute(sql: "CREATE TABLE theirs (a)") }
        try database.close()
        let before = FileManager.default.contents(atPath: folder.file("layover.sqlite").path)
        let failure = await failure { try SQLiteStore.open(options: .quiet(folder.url.path)) }
        #expect(failure?.kind == .corrupt)
        #expect(failure?.message.contains("not one of Layover") == true)
        #expect(FileManager.default.contents(atPath: folder.file("layover.sqlite").path) == before)
    }

    @Test func aNewerStoreIsRefused() async throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteStore.open(options: .quiet(folder.url.path))
        try await store.pool.write { try $0.execute(sql: "INSERT INTO grdb_migrations VALUES ('99')") }
        await store.close()
        let failure = await failure { try SQLiteStore.open(options: .quiet(folder.url.path)) }
        #expect(failure?.message.contains("newer version") == true)
    }

    @Test func aRowThatWasNeverWrittenIsNotReadAsSomethingElse() async throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteStore.open(options: .quiet(folder.url.path))
        try await store.insert(1...1)
        try await store.pool.write { try $0.execute(sql: "UPDATE ticket SET attempts = X'0102030405'") }
        let failure = await failure { try store.live() }
        #expect(failure?.kind == .corrupt)
        await store.close()
    }
}
