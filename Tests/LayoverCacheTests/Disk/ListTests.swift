import LayoverCore
import LayoverEngine
import Testing

@testable import LayoverCache

struct ListTests {
    private func filled() async throws -> CacheBench {
        let bench = try CacheBench { $0.stepCount = 2 }
        for number in 0..<5 { await bench.store(.to("/\(number)"), 200, ["Content-Type: text/plain"]) }
        await bench.store(.to("/0", host: "other.test"))
        await bench.store(.to("/0", host: "other.test", scheme: .http, ["Cookie: x"]))
        return bench
    }

    @Test func pagesComeNewestFirst() async throws {
        let bench = try await filled()
        let first = try await bench.cache.list(.all, before: nil, limit: 3)
        #expect(first.map { "\($0.origin)\($0.target)" } == ["http://other.test/0", "https://other.test/0", "https://example.com/4"])
        #expect(first.map(\.isForOneUser) == [true, false, false])
        let rest = try await bench.cache.list(.all, before: first.last?.sequence, limit: 10)
        #expect(rest.map(\.target) == ["/3", "/2", "/1", "/0"])
        #expect(try await bench.cache.list(.all, before: rest.last?.sequence, limit: 10).isEmpty)
    }

    @Test func cachedResponseIsDescribed() async throws {
        let bench = try await filled()
        let url = CacheSelection.url(Origin(scheme: .https, host: "example.com"), target: "/1")
        let facts = try #require(try await bench.cache.list(url, before: nil, limit: 10).first)
        #expect((facts.method, facts.status, facts.contentType) == ("GET", 200, "text/plain"))
        #expect((facts.storedAt, facts.usedAt, facts.freshUntil) == (newYear, newYear, newYear))
        #expect(facts.byteCount == "HTTP/1.1 200 Word\r\nContent-Type: text/plain\r\n".utf8.count + 5)
    }

    @Test(arguments: [
        (CacheSelection.all, 7), (.host("other.test"), 2), (.host("OTHER.test"), 0), (.host("%"), 0),
        (.url(Origin(scheme: .https, host: "other.test"), target: "/0"), 1),
        (.url(Origin(scheme: .https, host: "other.test"), target: "/"), 0),
    ])
    func selectedResponsesAreRemoved(selection: CacheSelection, count: Int) async throws {
        let bench = try await filled()
        #expect(try await bench.cache.purge(selection) == count)
        #expect(bench.cache.usage.entryCount == 7 - count)
        #expect(try await bench.cache.list(selection, before: nil, limit: 10).isEmpty)
        #expect(try await bench.isConsistent())
    }

    @Test(arguments: [
        ("https://Example.com/1", 1), ("https://example.com:443/1#top", 1), ("HTTPS://example.com/1", 1),
        ("https://example.com/1?", 0), ("https://example.com", 0), ("http://other.test/0", 1), ("http://other.test:81/0", 0),
    ])
    func aUrlSelectsItsVariants(url: String, count: Int) async throws {
        let bench = try await filled()
        let selection = try #require(CacheSelection(url: url))
        #expect(try await bench.cache.list(selection, before: nil, limit: 10).count == count)
    }

    @Test(arguments: ["", "/1", "example.com/1", "ftp://example.com/", "tunnel://a:1/", "https://u@a/", "https://a b/", "https:/a"])
    func invalidURLSelectsNothing(url: String) {
        #expect(CacheSelection(url: url) == nil)
    }
}
