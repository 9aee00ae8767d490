import LayoverCore
import LayoverEngine
import LayoverTestSupport
import Logging
import Retry
import Testing

@testable import LayoverCache
@testable import LayoverProxy

/// Attempts that bring the cache up to date follow the rules of all attempts.
@Suite struct CacheRefreshTests {
    private static func routes(_ token: String, delay: Duration = .seconds(1)) -> RouteTable {
        var policy = Policy(name: "reading")
        policy.cache = .staleIfError
        policy.delay = DelaySchedule(.constant(delay))
        var route = Route(name: "r", policy: policy)
        route.host = .exact("o.test")
        route.setFields = [.init(name: "X-Token", value: token)]
        return RouteTable(policies: ["reading": policy], routes: [route])
    }

    /// A proxy whose cache has given a stale response, so that a refresh waits: `work` gets its entry.
    private func withRefresh(
        delay: Duration = .seconds(1), _ work: @Sendable @escaping (TestProxy, DiskResponseCache, Entry) async throws -> Void
    ) async throws {
        let folder = try TemporaryFolder()
        let cache = try DiskResponseCache(
            options: CacheOptions(path: folder.file("cache.sqlite").path, folder: folder.file("cache").path),
            logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }), now: 0)
        try await withProxy(configuration: { $0.routes = Self.routes("old", delay: delay) }) { proxy in
            try await proxy.loop.use(cache).get()
            let first = try await proxy.client(sending: .get("/"))
            try await proxy.nextAttempt().respond(200, ["Cache-Control: max-age=0", "ETag: \"a\"", "Content-Length: 3"], body: "one")
            #expect(try await first.answer().body == "one")
            await cache.threads.waitUntilIdle()
            let second = try await proxy.client(sending: .get("/"))
            try await proxy.nextAttempt().fail()
            let stale = try await second.answer()
            #expect(stale.body == "one" && stale["Cache-Status"]?.contains("; hit") == true)
            let entry = try await proxy.entry()
            #expect(entry.client.address == "cache")
            // Regression: a refresh counted as a held client for 24 hours, so five URLs read offline used up `limits.heldClients`.
            #expect(await proxy.engine.status().heldCount == 0)
            try await work(proxy, cache, entry)
        }
        await cache.close()
    }

    @Test func waitingRefreshTakesTheReloadedPolicy() async throws {
        try await withRefresh { proxy, _, entry in
            try await proxy.adopt(Self.routes("new", delay: .seconds(7)))
            let rerouted = try #require(await proxy.engine.entry(entry.id))
            #expect(rerouted.policy.delay == DelaySchedule(.constant(.seconds(7))))
            let attempt = try await proxy.nextAttempt(after: .seconds(60), "the refresh")
            #expect(attempt.values("X-Token") == ["new"])
            attempt.respond(200, ["Cache-Control: max-age=60", "Content-Length: 3"], body: "two")
            _ = try await proxy.entry(.delivered)
        }
    }

    @Test func refreshEndsWhenAClientWouldAndTheNextReaderStartsAnother() async throws {
        try await withRefresh(delay: .seconds(7200)) { proxy, _, entry in
            #expect(entry.expiresAt - entry.parkedAt == .seconds(600))
            try await proxy.advance(by: .seconds(601))
            #expect(try #require(await proxy.engine.entry(entry.id)).state == .expired)
            let reader = try await proxy.client(sending: .get("/"))
            try await proxy.nextAttempt().fail()
            #expect(try await reader.answer().body == "one")
            #expect(try await proxy.entry(.waiting).id != entry.id)
        }
    }

    /// A resend of libcurl's own is an attempt, and one that fails is counted as failed.
    @Test func attemptsOfARefreshAreCounted() async throws {
        try await withRefresh { proxy, _, entry in
            let failedBefore = proxy.loop.metrics.failedAttemptCount.load(ordering: .relaxed)
            try await proxy.nextAttempt(after: .seconds(60), "the refresh").fail()
            try await proxy.settle()
            #expect(proxy.loop.metrics.failedAttemptCount.load(ordering: .relaxed) == failedBefore + 1)
            let attempt = try await proxy.nextAttempt(after: .seconds(60), "the refresh once more")
            guard case .head(let head, _) = attempt.beginSending().head(200, ["Content-Length: 0"]) else {
                throw WaitedTooLong(what: "a head")
            }
            attempt.deliver([.head(head, sendings: 3), .end(trailers: nil)])
            let ended = try await proxy.entry(.delivered)
            #expect(ended.id == entry.id && ended.attemptCount == 4)
        }
    }

    /// The part that came goes into the cache, and so does the rest. Without a tag all of it is asked for again: no client has read it.
    @Test(arguments: [[], ["ETag: \"b\""]]) func brokenRefreshFillsTheCachedResponse(tag: [String]) async throws {
        try await withRefresh { proxy, cache, entry in
            let attempt = try await proxy.nextAttempt(after: .seconds(60), "the refresh")
            attempt.sendHead(200, ["Cache-Control: max-age=60", "Content-Length: 3"] + tag)
            attempt.sendBody("t")
            attempt.fail(.connectionTerminated, phase: .receiving, evidence: .answered)
            try await proxy.settle()
            #expect(try #require(await proxy.engine.entry(entry.id)).state == .waiting)
            let second = try await proxy.nextAttempt(after: .seconds(60), "the refresh once more")
            #expect(second.values("Range") == (tag.isEmpty ? [] : ["bytes=1-"]))
            if tag.isEmpty {
                second.respond(200, ["Cache-Control: max-age=60", "Content-Length: 3"], body: "two")
            } else {
                second.respond(206, ["Content-Range: bytes 1-2/3", "Content-Length: 2"] + tag, body: "wo")
            }
            _ = try await proxy.entry(.delivered)
            await cache.threads.waitUntilIdle()
            let reader = try await proxy.client(sending: .get("/"))
            try await proxy.nextAttempt().fail()
            #expect(try await reader.answer().body == "two")
        }
    }
}
