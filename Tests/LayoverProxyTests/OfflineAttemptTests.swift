import LayoverCore
import LayoverEngine
import LayoverTestSupport
import Logging
import Testing

@testable import LayoverCache
@testable import LayoverProxy

/// Attempts that are under way when a person sets the mode `offline`.
struct OfflineAttemptTests {
    @Test func attemptThatHasSentNothingWaitsAndOthersFinish() async throws {
        try await withAttempt(of: .get("/fresh")) { proxy, fresh, connecting in
            let sent = try await proxy.client(sending: .get("/sent"))
            let sending = try await proxy.nextAttempt()
            sending.beginSending()
            await proxy.setMode(.offline)
            try await connecting.seen.wait("the cancel") { $0.isCancelled }
            let entry = try await proxy.entry()
            #expect(entry.waitingFor == .network && entry.attempts.records.count == 1)
            sending.respond(200, ["Content-Length: 2"], body: "ok")
            #expect(try await sent.answer().body == "ok")
            await proxy.setMode(.auto)
            try await proxy.nextAttempt().respond(200, ["Content-Length: 2"], body: "ok")
            #expect(try await fresh.answer().body == "ok")
        }
    }

    /// A request that cannot wait gets the answer of one that comes later.
    @Test func passedAttemptThatHasSentNothingGetsTheAnswerOfTheMode() async throws {
        try await withProxy { proxy in
            let client = try await proxy.client(sending: .get("/", "Layover-Mode: pass"))
            _ = try await proxy.nextAttempt()
            await proxy.setMode(.offline)
            try await client.answer().expectProblem(503, "offline")
        }
    }

    /// A request that comes under the mode gets it too.
    @Test(arguments: [OfflineTunnels.freeze, .cut])
    func attemptThatHasSentNothingIsAnsweredFromTheCache(tunnels: OfflineTunnels) async throws {
        let folder = try TemporaryFolder()
        let cache = try DiskResponseCache(
            options: CacheOptions(path: folder.file("cache.sqlite").path, folder: folder.file("cache").path),
            logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }), now: 0)
        let routes = RouteTable.standard { $0.cache = .staleIfError }
        try await withProxy(configuration: { $0.routes = routes }) { proxy in
            try await proxy.loop.use(cache).get()
            let first = try await proxy.client(sending: .get("/"))
            try await proxy.nextAttempt().respond(200, ["Cache-Control: max-age=0", "Content-Length: 3"], body: "one")
            #expect(try await first.answer().body == "one")
            await cache.threads.waitUntilIdle()
            let second = try await proxy.client(sending: .get("/"))
            _ = try await proxy.nextAttempt()
            await proxy.setMode(.offline, tunnels)
            let stale = try await second.answer()
            #expect(stale.body == "one" && stale["Cache-Status"]?.contains("; hit") == true)
        }
        await cache.close()
    }

    @Test func connectingReplayWaitsForTheEndOfTheModeAndDoesNotCount() async throws {
        try await withParked { proxy, client, parked in
            let connecting = try await proxy.retry(parked.id)
            await proxy.setMode(.offline)
            try await connecting.seen.wait("the cancel") { $0.isCancelled }
            let entry = try await proxy.entry()
            #expect(entry.waitingFor == .network)
            #expect(entry.attempts.records.last?.verdict == .park(.init(delay: .zero, shutsGate: false, rule: .offline)))
            await proxy.setMode(.auto)
            try await proxy.nextAttempt().respond(200, ["Content-Length: 2"], body: "ok")
            #expect(try await client.answer().body == "ok")
        }
    }

    /// A GET waits with the evidence that it had; a POST that may have been applied is not sent again.
    @Test func cutAbortsAttemptsThatHaveSent() async throws {
        try await withAttempt { proxy, get, attempt in
            attempt.beginSending()
            let post = try await proxy.client(sending: "POST http://o.test/ HTTP/1.1\r\nHost: o.test\r\nContent-Length: 1\r\n\r\nx")
            _ = try await proxy.nextAttempt().wholeBody()
            await proxy.setMode(.offline, .cut)
            try await post.answer().expectProblem(502, evidence: .maybeApplied)
            let entry = try await proxy.entry()
            #expect(entry.method == "GET" && entry.waitingFor == .network)
            await proxy.setMode(.auto)
            try await proxy.nextAttempt().respond(200, ["Content-Length: 2"], body: "ok")
            #expect(try await get.answer().body == "ok")
        }
    }

    /// A response that has begun and cannot go on is cut off at its client too.
    @Test func cutBreaksResponsesThatAreOnTheirWay() async throws {
        try await withAttempt { proxy, client, attempt in
            attempt.respond(200, ["Content-Length: 10"], body: nil)
            attempt.sendBody("part")
            try await client.received.wait("the part") { Answer.text($0.bytes[...]).hasSuffix("part") }
            await proxy.setMode(.offline)
            #expect(client.received.value.ending == nil, "the attempt has sent its request, so it finishes")
            await proxy.setMode(.offline, .cut)
            #expect(try await client.ending().rest.hasSuffix("\r\n\r\npart"))
        }
    }

    /// No byte of the ticket was sent while its request was read from the store. The ticket waits for the mode,
    /// without a delay.
    @Test(arguments: [OfflineTunnels.freeze, .cut])
    func offlineWhileTheRequestIsReadLetsItWaitForTheMode(tunnels: OfflineTunnels) async throws {
        let tickets = TestStore()
        try await withProxy(tickets: tickets) { proxy in
            let id = try await proxy.accept()
            let first = try await proxy.nextAttempt()
            #expect(await first.mark())
            try await proxy.haltWhileReading(id, after: first, tickets)
            await proxy.setMode(.offline, tunnels)
            tickets.goOn()
            _ = try await proxy.until(id, is: .waiting)
            #expect(await proxy.engine.entry(id)?.lastFailure?.message == "A person set the mode to offline.", "nobody aborted it")
            await proxy.setMode(.auto)
            try await proxy.nextAttempt("an attempt at once").answerWell()
            _ = try await proxy.until(id, is: .delivered)
        }
    }
}
