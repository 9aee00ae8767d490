import Foundation
import GRDB
import LayoverCore
import LayoverEngine
import LayoverTestSupport
import Testing

@testable import LayoverStore

/// More than one store in reach of the same folders.
@Suite struct SpoolOwnerTests {
    private let folder: TemporaryFolder
    private static let body = "\(EntryID.fixture(7)).request"

    init() throws { folder = try TemporaryFolder() }

    private func options(_ name: String, spool: String? = nil) -> StoreOptions {
        var options = StoreOptions.quiet(folder.url.path)
        options.path = folder.file(name).path
        if let spool { options.spoolFolder = folder.file(spool).path }
        return options
    }

    private func open(_ name: String, spool: String? = nil) throws -> SQLiteStore {
        try SQLiteStore.open(options: options(name, spool: spool))
    }

    private func isThere(_ body: String = Self.body) -> Bool {
        FileManager.default.fileExists(atPath: folder.file("spool/" + body).path)
    }

    /// A store with one ticket that has its body in a file.
    private func store(_ name: String) async throws -> SQLiteStore {
        let store = try open(name)
        try folder.write("body", to: "spool/" + Self.body)
        var request = StoredRequest.fixture()
        request.body = .file(name: Self.body, byteCount: 4)
        try await store.insert(7...7, request)
        return store
    }

    /// A kill amid the write would leave the file empty, and the bodies without a ticket with it.
    @Test func fileOfTheOwnerIsWrittenOnlyIfItChanges() async throws {
        let path = folder.file("spool/owner").path
        func writtenAt() throws -> Date? {
            try FileManager.default.attributesOfItem(atPath: path)[.modificationDate] as? Date
        }
        try await open("store").close()
        let before = Date(timeIntervalSince1970: 1_000_000_000)
        try FileManager.default.setAttributes([.modificationDate: before], ofItemAtPath: path)
        try await open("store").close()
        #expect(try writtenAt() == before)
        try folder.write("body", to: "spool/" + Self.body)
        try folder.write("", to: "spool/owner")
        try await open("store").close()
        #expect(try writtenAt() != before)
        #expect(isThere(), "the folder may be that of another store")
    }

    @Test func aSecondStoreDoesNotGetTheSpoolOfOneThatIsOpen() async throws {
        let first = try await store("a.sqlite")
        let failure = await failure { try open("b.sqlite") }
        #expect(failure?.message.contains("The spool folder \(folder.file("spool").path) is in use by another store") == true)
        #expect(failure?.message.contains("store.spool") == true)
        #expect(isThere())
        await first.close()
    }

    @Test func spoolOfAClosedStoreIsNotTaken() async throws {
        await (try await store("a.sqlite")).close()
        let failure = await failure { try open("b.sqlite") }
        #expect(failure?.message.contains("belongs to the store") == true)
        #expect(failure?.message.contains("a.sqlite") == true)
        #expect(isThere())
        // With a spool of its own it does no harm.
        await (try open("b.sqlite", spool: "other")).close()
        let first = try open("a.sqlite")
        #expect(isThere())
        #expect(first.bodyByteCountAtStart == 4)
        await first.close()
    }

    /// The database was moved away, perhaps for a repair: its bodies stay, also after repeated starts of another store.
    @Test func bodiesOfARemovedStoreAreKept() async throws {
        await (try await store("a.sqlite")).close()
        try FileManager.default.moveItem(at: folder.file("a.sqlite"), to: folder.file("damaged"))
        for _ in 0..<3 {
            await (try open("a.sqlite")).close()
            #expect(isThere())
        }
        // Bodies that the new store leaves behind are removed.
        let own = "\(EntryID.fixture(8)).answer"
        try folder.write("own", to: "spool/" + own)
        await (try open("a.sqlite")).close()
        #expect(!isThere(own))
        #expect(isThere())
        try FileManager.default.removeItem(at: folder.file("a.sqlite"))
        try FileManager.default.moveItem(at: folder.file("damaged"), to: folder.file("a.sqlite"))
        let first = try open("a.sqlite")
        #expect(try first.live().count == 1)
        #expect(isThere())
        await first.close()
    }

    @Test(arguments: ["", "nonsense", "one\ntwo", "\n\n\n"])
    func unreadableOwnerFileKeepsAllBodies(text: String) async throws {
        await (try open("a.sqlite")).close()
        try folder.write("body", to: "spool/" + Self.body)
        try folder.write(text, to: "spool/owner")
        await (try open("a.sqlite")).close()
        #expect(isThere())
    }

    // MARK: The key

    @Test func storesOfOneFolderShareAKeyThatIsNotRotated() async throws {
        let (first, second) = (try open("a.sqlite", spool: "one"), try open("b.sqlite", spool: "two"))
        try await first.insert(1...1)
        try await second.insert(1...1)
        await first.close()
        await second.close()
        let failure = await failure { try SQLiteStore.rotateKey(options: options("a.sqlite", spool: "one")) }
        #expect(failure?.message.contains("b.sqlite may be encrypted with the same key") == true)
        try FileManager.default.removeItem(at: folder.file("b.sqlite"))
        try SQLiteStore.rotateKey(options: options("a.sqlite", spool: "one"))
    }
}
