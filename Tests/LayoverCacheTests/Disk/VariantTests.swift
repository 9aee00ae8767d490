import Foundation
import LayoverEngine
import LayoverTestSupport
import Testing

@testable import LayoverCache

/// Several answers for one URL, and who gets which (decision 0016).
struct VariantTests {
    private let bench: CacheBench

    init() throws { bench = try CacheBench() }

    @Test func varyKeepsVariantsApart() async throws {
        await bench.store(.to("/a", ["Accept-Language: de"]), 200, ["Vary: Accept-Language"], body: "Hallo")
        await bench.store(.to("/a", ["Accept-Language: en"]), 200, ["Vary: Accept-Language"], body: "Hello")
        #expect(await bench.body(.to("/a", ["Accept-Language: de"])) == "Hallo")
        #expect(await bench.body(.to("/a", ["accept-language:  en "])) == "Hello")
        #expect(await bench.miss(.to("/a", ["Accept-Language: fr"])) == .absent)
        #expect(await bench.miss(.to("/a")) == .absent)
    }

    @Test func newestMatchingVariantIsUsed() async throws {
        await bench.store(.to("/a", ["X: 1"]), 200, ["Vary: X", "Date: Thu, 01 Jan 2026 00:00:09 GMT"], body: "newer")
        await bench.store(.to("/a", ["X: 1"]), 200, ["Date: Thu, 01 Jan 2026 00:00:05 GMT"], body: "older")
        #expect(await bench.body(.to("/a", ["X: 1"])) == "newer")
        #expect(await bench.body(.to("/a")) == "older")
    }

    @Test(arguments: ["Authorization", "Cookie", "X-API-Key"])
    func responseIsUsedForTheSameCredentialsOnly(name: String) async throws {
        await bench.store(.to("/a", ["\(name): alice"]), body: "for alice")
        #expect(await bench.body(.to("/a", ["\(name): alice"])) == "for alice")
        #expect(await bench.miss(.to("/a", ["\(name): bob"])) == .absent)
        #expect(await bench.miss(.to("/a")) == .absent)
        await bench.store(.to("/b"), body: "for nobody")
        #expect(await bench.miss(.to("/b", ["\(name): alice"])) == .absent)
    }

    @Test(arguments: ["public", "s-maxage=9"])
    func publicResponseIsForAllClients(value: String) async throws {
        await bench.store(.to("/a", ["Authorization: alice"]), 200, ["Cache-Control: \(value)"], body: "first")
        #expect(await bench.body(.to("/a", ["Authorization: bob"])) == "first")
        #expect(await bench.body(.to("/a")) == "first")
        await bench.store(.to("/a", ["Authorization: bob"]), 200, ["Cache-Control: \(value)"], body: "second")
        #expect(await bench.body(.to("/a", ["Authorization: alice"])) == "second")
        #expect(bench.cache.usage.entryCount == 1)
    }

    @Test func noSecretIsOnDisk() async throws {
        await bench.store(
            .to("/a", ["Authorization: Bearer hunter2", "Cookie: s=hunter2", "X-Trace: hunter2"]), 200,
            ["Set-Cookie: hunter2", "Vary: Cookie, X-Trace"], body: "fine")
        await bench.cache.close()
        for file in try FileManager.default.subpathsOfDirectory(atPath: bench.folder.url.path) {
            let bytes = (try? Data(contentsOf: bench.folder.file(file))) ?? Data()
            #expect(bytes.range(of: Data("hunter2".utf8)) == nil, "\(file)")
        }
    }

    @Test func eachCacheHasItsOwnSalt() async throws {
        let digests = try [CacheBench(), CacheBench()].map { bench in
            try bench.cache.database.withLock { try $0?.digest(Array("Bearer x".utf8)) }
        }
        #expect(digests[0]?.count == 32)
        #expect(digests[0] != digests[1])
    }

    @Test func filesAreReadableByTheirOwnerOnly() async throws {
        await bench.store()
        #expect(try modeOfFile(bench.options.folder) == 0o700)
        for suffix in ["", "-wal", "-shm"] { #expect(try modeOfFile(bench.options.path + suffix) == 0o600) }
        for file in bench.files { #expect(try modeOfFile("\(bench.options.folder)/\(file)") == 0o600) }
        #expect(bench.files.count == 1)
    }

    @Test func variantsHaveALimit() async throws {
        let bench = try CacheBench { $0.variantCountMax = 3 }
        for number in 1...5 { await bench.store(.to("/a", ["X: \(number)"]), 200, ["Vary: X"]) }
        await bench.store(.to("/b"))
        #expect(await bench.miss(.to("/a", ["X: 2"])) == .absent)
        #expect(await bench.body(.to("/a", ["X: 3"])) == "hello")
        #expect(await bench.body(.to("/b")) == "hello")
        #expect(try await bench.isConsistent())
    }
}
