import Foundation
import GRDB
import LayoverEngine
import LayoverTestSupport
import NIOCore
import Testing

@testable import LayoverStore

@Suite struct SecretsTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private static let secrets = ["Bearer hunter2-token", "session=open-sesame", "k-e-y-47", "id=of-the-answer", "tr4iler"]

    private static var request: StoredRequest {
        var request = StoredRequest.fixture()
        request.fields = [
            "Accept": "*/*", "authorization": "Bearer hunter2-token", "X-Api-Key": "", "COOKIE": " session=open-sesame",
            "X-Api-Key": "k-e-y-47", "Last": "one",
        ]
        request.trailers = ["X-Sum": "1", "X-Api-Key": "tr4iler"]
        return request
    }

    private static let answer = StoredResponse(
        status: 200, fields: ByteBuffer(string: "Set-Cookie: id=of-the-answer; Path=/\r\nServer: x\r\n"), body: .none)

    private var options: StoreOptions {
        var options = StoreOptions.quiet(folder.url.path)
        options.encryptFields = ["Authorization", "cookie", "X-API-Key"]
        return options
    }

    private func fill() async throws -> SQLiteStore {
        let store = try SQLiteStore.open(options: options)
        _ = try await store.commit([.insert(.fixture(1), Self.request, nil), .insert(.fixture(2), Self.request, nil)])
        _ = try await store.commit([.delivered(.fixture(1, revision: 2, state: .delivered), Self.answer)])
        return store
    }

    @Test func secretsAreInNoFileAndAreReadBack() async throws {
        let store = try await fill()
        #expect(try await store.request(of: .fixture(2)) == Self.request)
        #expect(try await store.response(of: .fixture(1)) == Self.answer)
        func expectNoSecret() throws {
            let files = try bytes(under: folder.url.path)
            #expect(files["layover.sqlite"] != nil)
            // The search would find them: what is not secret is there.
            #expect(files.values.contains { $0.range(of: Data("Server: x".utf8)) != nil })
            for (name, content) in files {
                for secret in Self.secrets {
                    #expect(content.range(of: Data(secret.utf8)) == nil, "\(secret) in \(name)")
                }
            }
        }
        #expect(store.condition.byteCount > 4096)
        try expectNoSecret()
        await store.close()
        try expectNoSecret()
        let again = try SQLiteStore.open(options: options)
        #expect(try await again.request(of: .fixture(2)) == Self.request)
        #expect(try await again.response(of: .fixture(1)) == Self.answer)
        await again.close()
    }

    /// Also those of a route that a reload brings while the store is open.
    @Test func fieldsThatRoutesWriteAreInNoFile() async throws {
        var options = StoreOptions.quiet(folder.url.path)
        options.routeFields = SealedFields(["X-Tenant"])
        let store = try SQLiteStore.open(options: options)
        var request = StoredRequest.fixture()
        request.fields = ["X-Plain": "seen", "x-tenant": "hush-1", "X-Api-Key": "hush-2", "X-Later": "hush-3", "api-key": "hush-4"]
        options.routeFields.add(["x-LATER"])
        _ = try await store.commit([.insert(.fixture(1), request, nil)])
        #expect(try await store.request(of: .fixture(1)) == request)
        let files = try bytes(under: folder.url.path)
        #expect(files.values.contains { $0.range(of: Data("seen".utf8)) != nil }, "the search finds what is not sealed")
        for (name, content) in files { #expect(content.range(of: Data("hush".utf8)) == nil, "\(name)") }
        await store.close()
        // A value opens whatever is sealed by then.
        let again = try SQLiteStore.open(options: StoreOptions.quiet(folder.url.path))
        #expect(try await again.request(of: .fixture(1)) == request)
        await again.close()
    }

    @Test func proxyAuthorizationIsNeverKept() async throws {
        let store = try SQLiteStore.open(options: options)
        var request = StoredRequest.fixture()
        request.fields = ["A": "1", "Proxy-authorization": "Basic cHJveHk=", "Cookie": "c", "B": "2"]
        _ = try await store.commit([.insert(.fixture(1), request, nil)])
        let kept = try await store.request(of: .fixture(1))
        #expect(kept?.fields == ["A": "1", "Cookie": "c", "B": "2"])
        for (name, content) in try bytes(under: folder.url.path) {
            #expect(content.range(of: Data("cHJveHk".utf8)) == nil, "\(name)")
        }
        await store.close()
    }

    @Test func bodiesOfRemovedTicketsAreInNoFile() async throws {
        let store = try SQLiteStore.open(options: options)
        let needle = Data("a-body-that-nobody-may-see".utf8)
        let body = ByteBuffer(string: String(repeating: "a-body-that-nobody-may-see", count: 900))
        _ = try await store.commit([.insert(.fixture(1), .fixture(.inline(body)), nil)])
        #expect(try bytes(under: folder.url.path).values.contains { $0.range(of: needle) != nil })
        let response = StoredResponse(status: 200, fields: ByteBuffer(), body: .inline(body))
        _ = try await store.commit([.delivered(.fixture(1, revision: 2, state: .delivered), response)])
        #expect(try await store.removeEnded(before: .distantFuture, limit: 10) == 1)
        for (name, content) in try bytes(under: folder.url.path) { #expect(content.range(of: needle) == nil, "\(name)") }
        await store.close()
    }

    @Test func aSealedValueOpensInItsOwnRowOnly() async throws {
        let store = try await fill()
        _ = try await store.commit([.insert(.fixture(3), Self.request, nil)])
        try await store.pool.write { db in
            try db.execute(
                sql: "UPDATE request SET sealed = (SELECT sealed FROM request WHERE sequence = 3) WHERE sequence = 2")
        }
        #expect(await failure { try await store.request(of: .fixture(2)) }?.kind == .corrupt)
        #expect(try await store.request(of: .fixture(3)) == Self.request)
        await store.close()
    }

    @Test(arguments: ["missing", "another", "nonsense"])
    func withoutItsKeyAStoreWithSecretsIsRefused(kind: String) async throws {
        await (try await fill()).close()
        let key = folder.text(of: "store.key")
        switch kind {
        case "missing": try FileManager.default.removeItem(at: folder.file("store.key"))
        case "another": try folder.write("1 " + String(repeating: "ab", count: 32) + "\n", to: "store.key")
        default: try folder.write("nonsense\n", to: "store.key")
        }
        let found = folder.text(of: "store.key")
        let failure = await failure { try SQLiteStore.open(options: options) }
        #expect(failure?.message.contains("store.key") == true)
        #expect(folder.text(of: "store.key") == found)
        try folder.write(key, to: "store.key")
        let store = try SQLiteStore.open(options: options)
        #expect(try await store.request(of: .fixture(2)) == Self.request)
        await store.close()
    }

    @Test func missingKeyIsCreatedIfThereAreNoSecrets() async throws {
        var store = try SQLiteStore.open(options: options)
        try await store.insert(1...1)
        await store.close()
        try FileManager.default.removeItem(at: folder.file("store.key"))
        for _ in 1...2 {
            store = try SQLiteStore.open(options: options)
            #expect(try store.live().count == 1)
            await store.close()
        }
        #expect(folder.text(of: "store.key").hasPrefix("2 "))
    }

    @Test func rotationLeavesOnlyTheNewKey() async throws {
        await (try await fill()).close()
        let old = folder.text(of: "store.key")
        #expect(try SQLiteStore.rotateKey(options: options) == 2)
        let new = folder.text(of: "store.key")
        #expect(new.hasPrefix("2 ") && new.split(separator: "\n").count == 1)
        #expect(!new.contains(old.dropFirst(2).trimmingCharacters(in: .newlines)))
        #expect(try modeOfFile(folder.file("store.key").path) == 0o600)
        let store = try SQLiteStore.open(options: options)
        #expect(try await store.request(of: .fixture(2)) == Self.request)
        #expect(try await store.response(of: .fixture(1)) == Self.answer)
        await store.close()
    }

    @Test func printingTheKeysShowsNothingOfThem() throws {
        let keys = try StoreKeys.adding(to: nil)
        let bytes = try #require(keys.keys[1]).withUnsafeBytes { Array($0) }
        var dumped = ""
        dump(keys, to: &dumped)
        for text in ["\(keys)", String(reflecting: keys), dumped] {
            #expect(!text.contains(bytes.prefix(3).map { String($0) }.joined(separator: ", ")))
            #expect(!text.lowercased().contains(bytes.prefix(3).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()))
            #expect(bytes.prefix(3).contains { !text.contains("- \($0)\n") })
        }
    }

    /// The folder of a store is often that of the configuration too, and a rotation looks at every file beside it.
    @Test func aRotationChangesThePermissionsOfNoFileButTheKey() async throws {
        await (try await fill()).close()
        let modes = ["config.json": 0o644, "start.sh": 0o755, "notes.sqlite": 0o664, "old.key": 0o644]
        for (name, wanted) in modes {
            try folder.write(name == "notes.sqlite" ? "SQLite format 3\0" : "{}", to: name)
            #expect(chmod(folder.file(name).path, mode_t(wanted)) == 0)
        }
        #expect(chmod(folder.file("store.key").path, 0o644) == 0)
        try SQLiteStore.rotateKey(options: options)
        for (name, wanted) in modes { #expect(try modeOfFile(folder.file(name).path) == wanted, "\(name)") }
        #expect(try modeOfFile(folder.file("store.key").path) == 0o600)
    }

    @Test func invalidKeyFileKeepsItsPermissions() async throws {
        await (try await fill()).close()
        try folder.write("nonsense\n", to: "store.key")
        #expect(chmod(folder.file("store.key").path, 0o644) == 0)
        #expect(throws: (any Error).self) { try SQLiteStore.rotateKey(options: options) }
        #expect(try modeOfFile(folder.file("store.key").path) == 0o644)
    }

    private struct BrokenOff: Error {}

    @Test(arguments: KeyRotation.Point.allCases)
    func interruptedRotationCanBeRepeated(point: KeyRotation.Point) async throws {
        var store = try await fill()
        // More than one portion, so that some rows have the old key and some the new one.
        let numbers = 10...1100
        _ = try await store.commit(numbers.map { .insert(.fixture($0), Self.request, nil) })
        await store.close()
        _ = try? SQLiteStore.rotateKey(options: options) { if $0 == point { throw BrokenOff() } }
        for round in 1...2 {
            store = try SQLiteStore.open(options: options)
            for number in [2, 10, 600, 1100] {
                #expect(try await store.request(of: .fixture(number)) == Self.request, "\(number) in round \(round)")
            }
            #expect(try await store.response(of: .fixture(1)) == Self.answer)
            await store.close()
            try SQLiteStore.rotateKey(options: options)
            #expect(folder.text(of: "store.key").split(separator: "\n").count == 1)
        }
    }

    /// The caller must not repeat the read for ever.
    @Test func valueThatDoesNotOpenCountsAsDamaged() async throws {
        let store = try await fill()
        try await store.pool.write { try $0.execute(sql: "UPDATE request SET sealed = zeroblob(length(sealed))") }
        let failure = await LayoverStoreTests.failure { try await store.request(of: .fixture(2)) }
        #expect(failure?.kind == .corrupt)
        #expect(failure?.message.contains("cannot be decrypted") == true)
        try await store.pool.write { try $0.execute(sql: "UPDATE answer SET keyNumber = 77") }
        let other = await LayoverStoreTests.failure { try await store.response(of: .fixture(1)) }
        #expect(other?.kind == .corrupt)
        #expect(other?.message.contains("key 77") == true)
        await store.close()
    }
}
