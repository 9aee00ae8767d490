import Foundation
import LayoverAdmin
import LayoverEngine
import LayoverTestSupport
import Testing

@testable import layover

/// Commands that list and drop responses of the offline cache.
struct CacheCommandTests {
    private static func with(_ cache: MemoryCache, _ test: (LiveAdmin) async throws -> Void) async throws {
        try await LiveAdmin.with(sources: { $0.cache = { cache } }, test)
    }

    @Test func listReadsEveryPage() async throws {
        let cache = MemoryCache((1...1001).map { MemoryCache.facts($0) })
        try await Self.with(cache) { admin in
            for arguments in [[], ["--json"], ["--host", "shop.example"], ["--host", "nowhere.example", "--json"]] {
                try await run(["cache", "list"] + arguments + ["--admin-url", admin.url])
            }
            let client = try admin.client()
            let (responses, usage) = try await ListCache.all(of: client, host: nil)
            #expect(responses.count == 1001)
            #expect(Set(responses.map(\.storedAt)).count == 1001)
            #expect(usage.entries == 1001)
            let none = try await ListCache.all(of: client, host: "nowhere.example").responses
            #expect(none.isEmpty)
        }
    }

    @Test func purgeDropsWhatIsNamed() async throws {
        let cache = MemoryCache([
            MemoryCache.facts(1), MemoryCache.facts(2, target: "/cart?a=1&b=2"),
            MemoryCache.facts(3, host: "b.example", target: "/b"), MemoryCache.facts(4, host: "c.example", target: "/c"),
        ])
        try await Self.with(cache) { admin in
            try await run(["cache", "purge", "--url", "http://shop.example/cart?a=1&b=2", "--admin-url", admin.url])
            #expect(cache.targets == ["/cart", "/b", "/c"])
            try await run(["cache", "purge", "--host", "b.example", "--json", "--admin-url", admin.url])
            #expect(cache.targets == ["/cart", "/c"])
            try await run(["cache", "purge", "--all", "--admin-url", admin.url])
            #expect(cache.targets.isEmpty)
        }
        #expect([0, 1, 2].map(PurgeCache.sentence) == ["0 responses deleted", "1 response deleted", "2 responses deleted"])
    }

    @Test func badHostExitsWithOneAndNoCacheWithThree() async throws {
        try await Self.with(MemoryCache([MemoryCache.facts(1)])) { admin in
            for arguments in [["list", "--host", "a:80"], ["purge", "--host", "a:80"], ["purge", "--url", "/cart"]] {
                await exits(["cache"] + arguments + ["--admin-url", admin.url], with: 1)
            }
        }
        try await LiveAdmin.with { admin in
            for arguments in [["list"], ["list", "--json"], ["purge", "--all"]] {
                await exits(["cache"] + arguments + ["--admin-url", admin.url], with: 3)
            }
        }
    }

    @Test func tableShowsFreshAndStaleResponses() async throws {
        let cache = MemoryCache([
            MemoryCache.facts(1, method: "HEAD", freshUntil: 1_767_268_801), MemoryCache.facts(2, target: "/a?key=x"),
        ])
        try await Self.with(cache) { admin in
            let (responses, usage) = try await ListCache.all(of: try admin.client(), host: nil)
            let now = Date(timeIntervalSince1970: 1_767_269_102)
            let lines = CacheTable(responses: responses, usage: usage, now: now).lines(.plain)
            #expect(
                lines == [
                    "METHOD  URL                            STATUS  BYTES  STORED  FRESH FOR  USED  FOR        TYPE",
                    "GET     http://shop.example/a?key=***     200    100      5m        55m    4m  all users  text/plain",
                    "HEAD    http://shop.example/cart          200    100      5m      stale    4m  one user   -",
                    "total: 2/1000 responses, 200/1048576 bytes",
                ])
            #expect(
                CacheTable(responses: [], usage: usage, now: now).lines(.plain) == [
                    "no cached responses", "total: 2/1000 responses, 200/1048576 bytes",
                ])
            #expect(try Terminal.json(responses[0]).hasPrefix("{\"bytes\":100,\"contentType\":\"text/plain\","))
            #expect(try Terminal.json(responses[1]).contains("\"contentType\":null"))
        }
    }

    @Test func statusShowsUsageAndTheLastCacheFailure() async throws {
        try await Self.with(MemoryCache([MemoryCache.facts(1)], isBroken: true)) { admin in
            let lines = try await admin.status()
            #expect(lines.contains("cache      1/1000 responses, 100/1048576 bytes, the disk is gone"))
        }
        try await LiveAdmin.with { admin in
            let lines = try await admin.status()
            #expect(!lines.contains { $0.hasPrefix("cache") })
        }
    }
}
