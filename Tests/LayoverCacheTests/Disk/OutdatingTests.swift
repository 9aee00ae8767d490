import LayoverEngine
import LayoverHTTP
import NIOCore
import Testing

@testable import LayoverCache

/// Effects of later responses of the origin on kept ones.
struct OutdatingTests {
    private let bench: CacheBench

    init() throws { bench = try CacheBench() }

    private func unsafe(
        _ bench: CacheBench, _ status: Int = 204, _ fields: [String] = [], target: String = "/a", at seconds: Int = newYear + 5
    ) {
        let writer = bench.cache.answered(.made(status, fields, length: 0), to: .to(target, method: "PUT"), at: .at(seconds))
        #expect(writer == nil)
    }

    @Test func successfulChangeRemovesAllVariants() async throws {
        await bench.store(.to("/a", ["Authorization: x"]))
        await bench.store(.to("/a"))
        await bench.store(.to("/b"))
        unsafe(bench)
        // At once, although the rows may still be there.
        #expect(await bench.miss(.to("/a")) == .absent)
        await bench.cache.threads.waitUntilIdle()
        #expect(bench.cache.usage.entryCount == 1)
        #expect(bench.files.count == 1)
        #expect(await bench.body(.to("/b")) == "hello")
    }

    @Test func oldResponseIsNotUsedBetweenChangeAndRemoval() async throws {
        await bench.store()
        let url = CacheURL(origin: CacheRequest.to().origin, target: "/a")
        bench.cache.state.withLock { $0.invalidations.changed(url, now: newYear + 5) }
        #expect(await bench.miss() == .absent)
        #expect(bench.cache.usage.entryCount == 1)
    }

    @Test func urlsNamedByTheResponseAreRemovedToo() async throws {
        await bench.store(.to("/list"))
        await bench.store(.to("/list", host: "other.test"))
        unsafe(bench, 201, ["Location: /list", "Content-Location: https://other.test/list"])
        #expect(await bench.miss(.to("/list")) == .absent)
        #expect(await bench.body(.to("/list", host: "other.test")) == "hello")
    }

    @Test func responseUnderWayDuringAChangeIsNotKept() async throws {
        let writer = bench.begin(at: newYear + 5)
        writer?.append(ByteBuffer(string: "hello"))
        unsafe(bench, at: newYear + 5)
        writer?.commit()
        await bench.cache.threads.waitUntilIdle()
        #expect(await bench.miss() == .absent)
        #expect(bench.files.isEmpty)
        await bench.store(at: newYear + 6)
        #expect(await bench.body() == "hello")
        #expect(try await bench.isConsistent())
    }

    @Test(arguments: [(404, []), (410, []), (200, ["Cache-Control: no-store"]), (200, ["Vary: *"]), (302, [])])
    func responseThatMustNotBeKeptRemovesTheOldOne(status: Int, fields: [String]) async throws {
        await bench.store(.to("/a", ["Authorization: x"]))
        await bench.store()
        #expect(bench.begin(.to(), status, fields, at: newYear + 5) == nil)
        await bench.cache.threads.waitUntilIdle()
        #expect(await bench.miss() == .absent)
        // The confirmation does not concern the other variant.
        #expect(await bench.body(.to("/a", ["Authorization: x"])) == "hello")
        #expect(try await bench.isConsistent())
    }

    @Test(arguments: [(401, 5), (403, 5), (429, 5), (500, 5), (502, 5), (503, 5), (504, 5), (404, -1)])
    func errorOrResponseToAnOlderRequestKeepsTheOldResponse(status: Int, seconds: Int) async throws {
        await bench.store()
        #expect(bench.begin(.to(), status, at: newYear + seconds) == nil)
        await bench.cache.threads.waitUntilIdle()
        #expect(await bench.body() == "hello")
    }

    @Test func confirmationRenewsTheAge() async throws {
        await bench.store(.to(), 200, ["ETag: \"v\"", "Cache-Control: max-age=60", "X-A: 1"])
        let head = ResponseHead.made(304, ["ETag: \"v\"", "Cache-Control: max-age=90", "X-B: 2"])
        #expect(bench.cache.answered(head, to: .to("/a", ["If-None-Match: \"v\""]), at: .at(newYear + 1000)) == nil)
        await bench.cache.threads.waitUntilIdle()
        let response = try #require(await bench.found(at: newYear + 1010))
        #expect((response.age, response.freshFor) == (10, 80))
        #expect(response.head.text("x-a") == "1")
        #expect(response.head.text("x-b") == "2")
        #expect(await response.body?.text() == "hello")
        #expect(try await bench.isConsistent())
    }

    @Test func aConfirmationOfAnotherVersionChangesNothing() async throws {
        await bench.store(.to(), 200, ["ETag: \"v\""])
        _ = bench.cache.answered(.made(304, ["ETag: \"w\""]), to: .to(), at: .at(newYear + 1000))
        await bench.cache.threads.waitUntilIdle()
        #expect(await bench.found(at: newYear + 1010)?.age == 1010)
    }

    @Test func aConfirmationMayForbidKeeping() async throws {
        await bench.store(.to(), 200, ["ETag: \"v\""])
        _ = bench.cache.answered(
            .made(304, ["ETag: \"v\"", "Cache-Control: no-store"]), to: .to(), at: .at(newYear + 5))
        await bench.cache.threads.waitUntilIdle()
        #expect(await bench.miss() == .absent)
        #expect(try await bench.isConsistent())
    }

    @Test func manyChangesAreRememberedInLittleSpace() {
        var changes = RecentInvalidations(countMax: 10)
        let urls = (0..<11).map { CacheURL(origin: CacheRequest.to().origin, target: "/\($0)") }
        for (index, url) in urls.enumerated() { changes.changed(url, now: newYear + index) }
        // The first ten were summed up: whatever was asked for until the last of them counts as changed.
        #expect(changes.isOutdated(urls[0], requestedAt: newYear + 9))
        #expect(!changes.isOutdated(urls[0], requestedAt: newYear + 10))
        #expect(changes.isOutdated(urls[10], requestedAt: newYear + 10))
        #expect(!changes.isOutdated(urls[10], requestedAt: newYear + 11))
    }
}
