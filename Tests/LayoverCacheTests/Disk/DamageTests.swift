import Foundation
import LayoverEngine
import LayoverTestSupport
import NIOCore
import Testing

@testable import LayoverCache

struct DamageTests {
    private let bench: CacheBench

    init() throws { bench = try CacheBench() }

    /// Stores one response and closes the cache.
    private func close() async {
        await bench.store()
        await bench.cache.close()
    }

    private func reopened() async throws -> CacheBench {
        let again = try CacheBench(in: bench.folder)
        await again.cache.threads.waitUntilIdle()
        return again
    }

    @Test(arguments: [("nonsense", 1), ("SQLite format 3\0and then nonsense", 1), ("x", 10_000)])
    func invalidIndexIsReplaced(text: String, times: Int) async throws {
        await close()
        // SQLite would mend the file from its log.
        for suffix in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: bench.options.path + suffix) }
        try Data(String(repeating: text, count: times).utf8).write(to: URL(fileURLWithPath: bench.options.path))
        let again = try await reopened()
        #expect(again.warnings == ["warning The cache is damaged and is recreated."])
        #expect(again.files.isEmpty)
        #expect(again.cache.usage.entryCount == 0)
        await again.store()
        #expect(await again.body() == "hello")
    }

    @Test(arguments: ["PRAGMA user_version = 99", "DROP TABLE cache"])
    func indexOfAnotherVersionOrProgramIsReplaced(change: String) async throws {
        await close()
        let index = try CacheDatabase(path: bench.options.path)
        try await index.pool.write { try $0.execute(sql: change) }
        try index.pool.close()
        let again = try await reopened()
        #expect(again.warnings.count == 1)
        #expect(await again.miss() == .absent)
    }

    @Test func indexDamagedWhileInUseIsReplaced() async throws {
        for number in 0..<200 { await bench.store(.to("/\(number)"), 200, ["X: \(String(repeating: "y", count: 400))"]) }
        _ = try bench.cache.withDatabase { opened in
            try opened.pool.writeWithoutTransaction { try $0.checkpoint(.truncate) }
        }
        let file = try #require(FileHandle(forUpdatingAtPath: bench.options.path))
        try file.seek(toOffset: 4096)
        file.write(Data(repeating: 0xA5, count: 100_000))
        try file.close()
        // Whichever page is read first. None of them is a failure of the exchange.
        for number in 0..<200 { _ = await bench.lookup(.to("/\(number)")) }
        for number in 0..<50 { await bench.store(.to("/new\(number)")) }
        #expect(bench.warnings.contains("warning The cache is damaged and is recreated."))
        #expect(await bench.body(.to("/new49")) == "hello")
        #expect(try await bench.isConsistent())
    }

    @Test(arguments: [Data("jello".utf8), Data("hell".utf8), Data("hello!".utf8), Data(), nil])
    func changedBodyIsNeverUsed(bytes: Data?) async throws {
        await bench.store()
        let path = "\(bench.options.folder)/\(bench.files[0])"
        if let bytes { try bytes.write(to: URL(fileURLWithPath: path)) } else { try FileManager.default.removeItem(atPath: path) }
        #expect(await bench.miss() == .lost)
        #expect(await bench.miss() == .absent)
        #expect(try await bench.isConsistent())
    }

    @Test func unknownFilesAreRemoved() async throws {
        await close()
        let stray = String(repeating: "a", count: 32)
        for name in [stray, stray + ".part", "notes.txt", "README", stray + "0"] {
            try Data("x".utf8).write(to: URL(fileURLWithPath: "\(bench.options.folder)/\(name)"))
        }
        let again = try await reopened()
        #expect(again.files.count == 4)
        #expect(!again.files.contains(stray) && !again.files.contains(stray + ".part"))
        #expect(await again.body() == "hello")
    }

    @Test func aFolderHasOneOwner() async throws {
        #expect(throws: CacheError.self) { try CacheBench(in: bench.folder) }
        await bench.store()
        #expect(await bench.body() == "hello")
    }

    @Test func fullDiskFailsNoExchange() async throws {
        await bench.store(.to("/old"), body: "")
        let moved = bench.options.folder + ".away"
        try FileManager.default.moveItem(atPath: bench.options.folder, toPath: moved)
        await bench.store(.to("/lost"))
        await bench.store(.to("/lost"))
        #expect(bench.cache.usage.failure?.contains("No such file") == true)
        #expect(bench.warnings == ["warning The cache cannot store responses."])
        #expect(await bench.found(.to("/old")) != nil)
        try FileManager.default.moveItem(atPath: moved, toPath: bench.options.folder)
        await bench.store(.to("/new"))
        #expect(bench.cache.usage.failure == nil)
        #expect(await bench.body(.to("/new")) == "hello")
        #expect(try await bench.isConsistent())
    }

    @Test func aClosedCacheHasNothing() async throws {
        await bench.store()
        let writer = bench.begin()
        await bench.cache.close()
        writer?.append(ByteBuffer(string: "hello"))
        writer?.commit()
        #expect(await bench.miss() == .lost)
        #expect(bench.begin() == nil)
        await #expect(throws: CacheError.self) { try await bench.cache.list(.all, before: nil, limit: 1) }
    }
}
