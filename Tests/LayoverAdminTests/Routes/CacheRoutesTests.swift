import Foundation
import LayoverEngine
import LayoverTestSupport
import Testing

@testable import LayoverAdmin

struct CacheRoutesTests {
    private static let keys: Set<String> = [
        "method", "url", "host", "status", "contentType", "bytes", "storedAt", "freshUntil", "usedAt", "private",
    ]

    private static func harness(_ cache: MemoryCache) -> AdminHarness { AdminHarness(sources: { $0.cache = { cache } }) }

    // MARK: List

    @Test func listHasEveryFieldAndNoSecrets() async throws {
        let cache = MemoryCache([
            MemoryCache.facts(1, method: "HEAD", freshUntil: .max),
            MemoryCache.facts(2, target: "/cart?token=hunter2&page=3"),
        ])
        let harness = Self.harness(cache)
        let list = try await harness.send("GET", "/v1/cache").expectStatus(200)
        #expect(Set(list.json.keys) == ["data", "usage", "nextCursor"])
        #expect(list.json["nextCursor"] is NSNull)
        #expect(list.data.count == 2)
        for response in list.data { #expect(Set(response.keys) == Self.keys) }

        let newest = list.data[0]
        #expect(newest["method"] as? String == "GET")
        #expect(newest["url"] as? String == "http://shop.example/cart?token=***&page=3")
        #expect(!list.text.contains("hunter2"))
        #expect(newest["host"] as? String == "shop.example")
        #expect(newest["status"] as? Int == 200)
        #expect(newest["contentType"] as? String == "text/plain")
        #expect(newest["bytes"] as? Int == 100)
        #expect(newest["storedAt"] as? String == "2026-01-01T12:00:02.000Z")
        #expect(newest["freshUntil"] as? String == "2026-01-01T13:00:02.000Z")
        #expect(newest["usedAt"] as? String == "2026-01-01T12:01:02.000Z")
        #expect(newest["private"] as? Bool == false)

        let oldest = list.data[1]
        #expect(oldest["contentType"] is NSNull)
        #expect(oldest["private"] as? Bool == true)
        #expect((oldest["freshUntil"] as? String)?.hasPrefix("2262-") == true, "beyond what the clock reaches")
    }

    @Test func usageIsThatOfTheWholeCache() async throws {
        let cache = MemoryCache([MemoryCache.facts(1), MemoryCache.facts(2, host: "b.example")])
        let harness = Self.harness(cache)
        let list = try await harness.send("GET", "/v1/cache?host=b.example")
        let usage = try #require(list.json["usage"] as? [String: Any])
        #expect(Set(usage.keys) == ["entries", "entriesMax", "bytes", "bytesMax", "failure"])
        #expect(usage["entries"] as? Int == 2)
        #expect(usage["entriesMax"] as? Int == 1000)
        #expect(usage["bytes"] as? Int == 200)
        #expect(usage["bytesMax"] as? Int == 1 << 20)
        #expect(usage["failure"] is NSNull)
    }

    @Test func pagesFollowOneAnotherWithoutGapsOrRepeats() async throws {
        let cache = MemoryCache((1...5).map { MemoryCache.facts($0, target: "/\($0)") })
        let harness = Self.harness(cache)
        var urls: [String] = []
        var counts: [Int] = []
        var cursor: String? = ""
        while let from = cursor, counts.count < 10 {
            let page = try await harness.send("GET", "/v1/cache?limit=2&cursor=\(from)")
            urls += page.data.compactMap { $0["url"] as? String }
            counts.append(page.data.count)
            cursor = page.json["nextCursor"] as? String
        }
        #expect(urls == [5, 4, 3, 2, 1].map { "http://shop.example/\($0)" })
        #expect(counts == [2, 2, 1])
        #expect(try await harness.send("GET", "/v1/cache?limit=5").json["nextCursor"] is NSNull, "a full last page")
    }

    @Test(arguments: [
        ("host=b.example", 1), ("host=B.Example", 1), ("host=shop.example", 2), ("host=c.example", 0),
        ("host=%3A%3A1", 1), ("host=%5B%3A%3A1%5D", 1), ("url=http%3A%2F%2Fshop.example%2Fcart%3Fa%3D1", 1),
        ("url=http%3A%2F%2Fshop.example%2Fcart", 1), ("url=https%3A%2F%2Fshop.example%2Fcart", 0), ("", 4),
    ])
    func hostOrURLSelects(query: String, count: Int) async throws {
        let cache = MemoryCache([
            MemoryCache.facts(1), MemoryCache.facts(2, target: "/cart?a=1"), MemoryCache.facts(3, host: "b.example"),
            MemoryCache.facts(4, host: "::1"),
        ])
        let harness = Self.harness(cache)
        let list = try await harness.send("GET", "/v1/cache?\(query)")
        #expect(list.data.count == count)
    }

    @Test(arguments: [
        "limit=0", "limit=1001", "limit=x", "cursor=x", "cursor=1.5", "host=a&url=http%3A%2F%2Fa%2F", "host=a%3A80",
        "host=a%2Fb", "url=%2Fcart", "url=ftp%3A%2F%2Fa%2F", "q=a", "host=a&host=b",
    ])
    func badParametersAreRefused(query: String) async throws {
        let harness = Self.harness(MemoryCache([MemoryCache.facts(1)]))
        let response = try await harness.send("GET", "/v1/cache?\(query)").expectStatus(400)
        #expect(response.json["kind"] as? String == "bad_parameter")
    }

    // MARK: Purge

    @Test(
        arguments: [
            ("{\"all\":true}", 3, []), ("{\"host\":\"SHOP.example\"}", 2, ["/b"]),
            ("{\"url\":\"http://shop.example/cart\"}", 1, ["/cart?a=1", "/b"]),
            ("{\"host\":\"c.example\"}", 0, ["/cart", "/cart?a=1", "/b"]),
        ] as [(String, Int, [String])])
    func purgeDropsWhatIsNamed(body: String, count: Int, left: [String]) async throws {
        let cache = MemoryCache([
            MemoryCache.facts(1), MemoryCache.facts(2, target: "/cart?a=1"),
            MemoryCache.facts(3, host: "b.example", target: "/b"),
        ])
        let harness = Self.harness(cache)
        let response = try await harness.post("/v1/cache/purge", body).expectStatus(200)
        #expect(response.text == "{\"purged\":\(count)}")
        #expect(cache.targets == left)
    }

    @Test(arguments: [
        "{}", "{\"all\":false}", "{\"all\":true,\"host\":\"a\"}", "{\"host\":\"a\",\"url\":\"http://a/\"}",
        "{\"all\":false,\"host\":\"shop.example\"}", "{\"host\":\"\"}", "{\"host\":\"a b\"}", "{\"url\":\"/cart\"}",
        "{\"hosts\":\"a\"}", "{\"all\":1}", "[]", "{",
    ])
    func ambiguousPurgeIsRefusedAndDropsNothing(body: String) async throws {
        let cache = MemoryCache([MemoryCache.facts(1)])
        let harness = Self.harness(cache)
        let response = try await harness.post("/v1/cache/purge", body).expectStatus(400)
        #expect(response.json["kind"] as? String == "malformed_body")
        #expect(cache.targets == ["/cart"])
    }

    @Test func purgeIsGuardedLikeEveryMutation() async throws {
        let cache = MemoryCache([MemoryCache.facts(1)])
        let harness = Self.harness(cache)
        #expect(try await harness.send("POST", "/v1/cache/purge").status == 400, "no body says nothing")
        #expect(try await harness.send("POST", "/v1/cache/purge", body: "{\"all\":true}").status == 415)
        #expect(try await harness.post("/v1/cache/purge?all=true", "{\"all\":true}").status == 400)
        #expect(try await harness.send("GET", "/v1/cache/purge").status == 405)
        #expect(try await harness.post("/v1/cache").status == 405)
        let foreign = try await harness.post(
            "/v1/cache/purge", "{\"all\":true}", fields: ["Origin": "http://evil.example"])
        #expect(foreign.status == 403)
        #expect(cache.targets == ["/cart"])
    }

    // MARK: No cache

    @Test func bothRoutesAre404WithoutACache() async throws {
        let harness = AdminHarness()
        let answers = [
            try await harness.send("GET", "/v1/cache"), try await harness.post("/v1/cache/purge", "{\"all\":true}"),
        ]
        for response in answers {
            #expect(response.status == 404)
            #expect(response["Content-Type"] == "application/problem+json")
            #expect(response.json["type"] as? String == "urn:layover:problem:no_cache")
            #expect((response.json["detail"] as? String)?.contains("staleIfError") == true)
        }
    }

    @Test func brokenDiskIsAProblem() async throws {
        let harness = Self.harness(MemoryCache(isBroken: true))
        let answers = [
            try await harness.send("GET", "/v1/cache"), try await harness.post("/v1/cache/purge", "{\"all\":true}"),
        ]
        for response in answers {
            #expect(response.status == 503)
            #expect(response.json["kind"] as? String == "cache")
            #expect((response.json["detail"] as? String)?.contains("the disk is gone") == true)
        }
    }

    // MARK: Status and metrics

    @Test func statusAndMetricsShowHowMuchIsKept() async throws {
        let harness = Self.harness(MemoryCache([MemoryCache.facts(1), MemoryCache.facts(2)]))
        let status = try await harness.send("GET", "/v1/status").json["cache"] as? [String: Any] ?? [:]
        #expect(status["entries"] as? Int == 2)
        #expect(status["bytes"] as? Int == 200)
        let metrics = try await harness.send("GET", "/metrics").text
        #expect(metrics.contains("\nlayover_cache_entries 2\n"))
        #expect(metrics.contains("\nlayover_cache_bytes 200\n"))
        let other = AdminHarness()
        #expect(try await other.send("GET", "/v1/status").json["cache"] is NSNull)
        #expect(try await !other.send("GET", "/metrics").text.contains("layover_cache"))
    }
}
