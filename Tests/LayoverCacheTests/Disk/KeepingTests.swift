import LayoverCore
import LayoverEngine
import LayoverHTTP
import NIOCore
import Testing

@testable import LayoverCache

/// Answers go in and come out.
struct KeepingTests {
    private let bench: CacheBench

    init() throws { bench = try CacheBench() }

    @Test func keptResponseComesBackUnchanged() async throws {
        await bench.store(.to(), 200, ["X-A: 1", "Cache-Control: max-age=30", "Set-Cookie: s=1"], body: "hello")
        let response = try #require(await bench.found())
        #expect(response.head.status == 200)
        #expect(response.head.framing == .length(5))
        #expect(response.head.text("x-a") == "1")
        #expect(response.head.text("age") == "10")
        #expect(response.head.text("set-cookie") == nil)
        #expect((response.age, response.freshFor, response.isStale) == (10, 20, false))
        #expect(response.cacheStatus(identity: "layover") == "layover; hit; ttl=20")
        #expect(await response.body?.text() == "hello")
        let stale = try #require(await bench.found(at: newYear + 100))
        #expect(stale.cacheStatus(identity: "layover") == "layover; hit; ttl=-70; detail=stale-if-error")
        #expect(try await bench.isConsistent())
    }

    @Test func keptResponseSurvivesARestart() async throws {
        let first = try CacheBench()
        await first.store(.to("/a", ["Authorization: x"]), body: "secret")
        await first.cache.close()
        let second = try CacheBench(in: first.folder)
        #expect(await second.body(.to("/a", ["Authorization: x"])) == "secret")
        #expect(second.cache.usage.entryCount == 1)
        #expect(second.warnings.isEmpty)
        #expect(try await second.isConsistent())
    }

    @Test(arguments: [0, 1, 100_000])
    func bodiesOfAnySizeInPieces(count: Int) async throws {
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 131) }
        let writer = bench.begin(length: nil)
        for start in stride(from: 0, to: count, by: 777) {
            writer?.append(ByteBuffer(bytes: bytes[start..<min(start + 777, count)]))
        }
        writer?.commit()
        await bench.cache.threads.waitUntilIdle()
        let body = try #require(await bench.found()?.body)
        #expect(body.byteCount == count)
        #expect(await body.bytes(at: 0, count: count + 5).map { Array($0.readableBytesView) } == bytes)
        #expect(await body.bytes(at: count / 2, count: 3).map { Array($0.readableBytesView) } == Array(bytes[(count / 2)...].prefix(3)))
        #expect(await body.bytes(at: count + 1, count: 1) == nil)
        #expect(bench.files.count == (count > 0 ? 1 : 0))
    }

    @Test func aBodyThatBrokeOffIsForgotten() async throws {
        bench.begin()?.abandon()
        let short = bench.begin(length: 5)
        short?.append(ByteBuffer(string: "four"))
        short?.commit()
        let long = bench.begin(length: 3)
        long?.append(ByteBuffer(string: "four"))
        long?.commit()
        var forgotten = bench.begin(length: nil)
        forgotten?.append(ByteBuffer(string: "four"))
        await bench.cache.threads.waitUntilIdle()
        forgotten = nil
        let late = bench.begin(length: nil)
        late?.append(ByteBuffer(string: "four"))
        late?.abandon()
        late?.commit()
        await bench.cache.threads.waitUntilIdle()
        #expect(forgotten == nil)
        #expect(await bench.miss() == .absent)
        #expect(bench.files.isEmpty)
        #expect(try await bench.isConsistent())
    }

    @Test func brokenRefreshKeepsTheOldResponse() async throws {
        await bench.store(body: "hello")
        let writer = bench.begin(at: newYear + 5)
        writer?.append(ByteBuffer(string: "hel"))
        writer?.abandon()
        await bench.cache.threads.waitUntilIdle()
        #expect(await bench.body() == "hello")
        #expect(try await bench.isConsistent())
    }

    @Test func newerResponseReplacesTheOldOne() async throws {
        await bench.store(body: "old")
        await bench.store(body: "new", at: newYear + 5)
        #expect(await bench.body() == "new")
        #expect(bench.files.count == 1)
        #expect(try await bench.isConsistent())
    }

    // MARK: HEAD and preconditions

    @Test func headIsServedFromGet() async throws {
        await bench.store(body: "hello")
        let response = try #require(await bench.found(.to(method: "HEAD")))
        #expect(response.body == nil)
        #expect(response.head.framing == .none)
        #expect(response.head.text("content-length") == "5")
    }

    @Test func responseToHeadIsUsedForHeadOnly() async throws {
        await bench.store(.to(method: "HEAD"), body: "0123456789")
        #expect(await bench.miss() == .absent)
        #expect(await bench.found(.to(method: "HEAD"))?.head.text("content-length") == "10")
        await bench.store(body: "hello", at: newYear + 1)
        #expect(await bench.found(.to(method: "HEAD"))?.head.text("content-length") == "5")
        #expect(bench.cache.usage.entryCount == 1)
    }

    @Test func matchingPreconditionGetsA304() async throws {
        await bench.store(.to(), 200, ["ETag: \"v\""])
        let response = try #require(await bench.found(.to("/a", ["If-None-Match: \"v\""])))
        #expect(response.head.status == 304)
        #expect(response.body == nil)
        #expect(response.head.text("etag") == "\"v\"")
        #expect(await bench.body(.to("/a", ["If-None-Match: \"w\""])) == "hello")
        #expect(await bench.miss(.to("/a", ["If-Match: \"v\""])) == .notCacheable)
    }

    @Test func noContentIsKept() async throws {
        await bench.store(.to(), 204, body: "")
        let response = try #require(await bench.found())
        #expect(response.head.status == 204)
        #expect(response.body == nil)
    }

    // MARK: What is given when

    @Test func responsesForOtherRequestsAreNotUsed() async throws {
        await bench.store()
        #expect(await bench.miss(.to("/a", ["Cache-Control: no-cache"])) == .forbidden)
        #expect(await bench.miss(.to("/a", method: "POST")) == .notCacheable)
        #expect(await bench.miss(.to("/a", hasBody: true)) == .notCacheable)
        #expect(await bench.miss(.to("/b")) == .absent)
        #expect(await bench.miss(.to("/a?")) == .absent)
        #expect(await bench.miss(.to("/a", host: "example.org")) == .absent)
        #expect(await bench.miss(.to("/a", scheme: .http)) == .absent)
        #expect(await bench.miss(.to(), .onlyIfCached) == .tooStale)
        #expect(await bench.miss(at: newYear + 31 * 24 * 3600) == .tooStale)
        #expect(await bench.found(at: newYear + 30 * 24 * 3600) != nil)
    }

    @Test func tunnelsAreIgnored() async throws {
        #expect(bench.begin(.to(scheme: .tunnel)) == nil)
        #expect(await bench.miss(.to(scheme: .tunnel)) == .notCacheable)
    }

    @Test func refreshRequestsTheWholeResponseOnceAtATime() async throws {
        let bench = try CacheBench { $0.refreshCountMax = 2 }
        await bench.store(.to("/a"))
        await bench.store(.to("/b"))
        await bench.store(.to("/c"))
        let fields = ["If-None-Match: \"x\"", "Range: bytes=0-1", "Cache-Control: max-stale", "Accept: a", "X:"]
        let one = try #require(await bench.found(.to("/a", fields))).refresh
        let same = try #require(await bench.found(.to("/a"))).refresh
        let other = try #require(await bench.found(.to("/b"))).refresh
        let third = try #require(await bench.found(.to("/c"))).refresh
        #expect(one.request.fields == ["Accept": "a", "X": ""])
        #expect(bench.cache.claimRefresh(one))
        #expect(!bench.cache.claimRefresh(same))
        #expect(bench.cache.claimRefresh(other))
        #expect(!bench.cache.claimRefresh(third))
        bench.cache.refreshEnded(same)
        #expect(bench.cache.claimRefresh(one))
    }
}
