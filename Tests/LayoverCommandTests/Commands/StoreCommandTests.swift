import ArgumentParser
import Foundation
import LayoverEngine
import LayoverTestSupport
import Logging
import NIOPosix
import Testing

@testable import layover

/// `layover store`, which works alone.
struct StoreCommandTests {
    @Test func keyIsRotatedWhileTheStoreIsNotInUse() async throws {
        let folder = try TemporaryFolder()
        let config = try folder.write("{\"store\":{\"path\":\"kept/layover.sqlite\"}}", to: "config.json")
        let rotate = ["store", "rotate-key", "--config", config]
        await exits(rotate, with: 1)
        #expect(!FileManager.default.fileExists(atPath: folder.file("kept/layover.sqlite").path), "it makes no store")

        let settings = try ConfigurationOptions.parse(["--config", config]).load().settings
        let threads = NIOThreadPool(numberOfThreads: 1)
        let spool = BodySpool(folder: folder.file("kept/spool").path, byteCountMax: 1 << 20, threads: threads)
        let store = try StoreOpening(settings: settings, spool: spool, logger: Logger(label: "test")).open()
        let before = folder.text(of: "kept/store.key")
        await exits(rotate, with: 3)
        #expect(folder.text(of: "kept/store.key") == before)

        await store.close()
        try await runOnceFree(rotate)
        let after = folder.text(of: "kept/store.key")
        #expect(!after.isEmpty && after != before)
        try await runOnceFree(rotate + ["--json"])
        #expect(folder.text(of: "kept/store.key") != after)
        try await threads.shutdownGracefully()
    }

    /// Runs a command once no process has the store. A program that another test is just starting has a copy of the descriptor of the lock
    /// until it runs, and so has the lock (flock(2)).
    private func runOnceFree(_ arguments: [String]) async throws {
        try await eventually("the lock of the store is free") {
            do {
                try await run(arguments)
                return true
            } catch let failure as CommandFailure where failure.code == .refused {
                return false
            }
        }
    }

    @Test func badConfigurationExitsWithOne() async throws {
        let folder = try TemporaryFolder()
        let config = try folder.write("{\"stroe\":{}}", to: "config.json")
        await exits(["store", "rotate-key", "--config", config], with: 1)
    }

    @Test func tokenFileIsNewInEachRun() throws {
        let folder = try TemporaryFolder()
        let path = folder.file(AdminTokenFile.name).path
        #expect(FileManager.default.createFile(atPath: path, contents: Data("old".utf8)))
        let first = try #require(AdminTokenFile.make(in: folder.url.path))
        let second = try #require(AdminTokenFile.make(in: folder.url.path))
        #expect(first != second)
        #expect(first.revealed.utf8.count == 64)
        #expect(folder.text(of: AdminTokenFile.name) == second.revealed + "\n")
        #expect(AdminTokenFile.make(in: folder.file("nowhere").path) == nil)
        AdminTokenFile.remove(from: folder.url.path)
        #expect(!FileManager.default.fileExists(atPath: path))
    }
}
