import LayoverCore
import LayoverEngine
import LayoverTestSupport
import Testing

@testable import LayoverProxy

/// Attempts that go on although their clients are gone: each has an entry, and ends with the head of the response or with its time.
struct UnattendedAttemptTests {
    private static let put = "PUT http://o.test/ HTTP/1.1\r\nHost: o\r\nContent-Length: 3\r\n\r\nabc"

    /// The attempt of a request whose client is gone after all of it was sent.
    private func withAbandoned(
        _ request: String = .post("/", length: 3, body: "abc"), _ test: (TestProxy, ScriptedAttempt) async throws -> Void
    ) async throws {
        try await withAttempt(of: request) { proxy, client, attempt in
            #expect(try await attempt.wholeBody() == "abc")
            try await client.reset()
            try await ConnectionTests.waitForNoConnection(proxy)
            try await test(proxy, attempt)
        }
    }

    @Test func attemptThatMayHaveBeenAppliedGoesOnAsAnEntry() async throws {
        try await withAbandoned { proxy, attempt in
            let entry = try await proxy.entry(.attempting)
            #expect(!entry.client.isConnected && entry.isUnattended && entry.attemptCount == 1)
            #expect(entry.client.address == "127.0.0.1")
            #expect(entry.actions == [.cancel, .abort])
            #expect(await proxy.engine.status().unattendedCount == 1)
            #expect(!attempt.seen.value.isCancelled)
        }
    }

    @Test func headOfTheResponseEndsItAndItsStatusIsRecorded() async throws {
        try await withAbandoned { proxy, attempt in
            attempt.sendHead(201, ["Content-Length: 1000000"])
            try await attempt.seen.wait("the end of the attempt") { $0.isCancelled }
            let ended = try await proxy.entry(.cancelled)
            #expect(ended.attempts.records.map(\.status) == [201])
            #expect(ended.attempts.records.map(\.evidence) == [.answered])
            #expect(!ended.mayHaveBeenApplied)
            #expect(proxy.upstream.startedCount == 1)
        }
    }

    @Test func failureEndsItAndNothingIsSentAgain() async throws {
        try await withAbandoned(Self.put) { proxy, attempt in
            attempt.fail(.connectionTerminated, phase: .awaitingResponse, evidence: .maybeApplied)
            let ended = try await proxy.entry(.cancelled)
            #expect(ended.lastFailure?.evidence == .maybeApplied && ended.mayHaveBeenApplied)
            try await proxy.advance(by: .seconds(100))
            #expect(proxy.upstream.startedCount == 1, "no client waits, so it is not sent again")
        }
    }

    @Test func attemptEndsAfterUnattendedMaxWithItsEvidence() async throws {
        try await withAbandoned { proxy, attempt in
            _ = try await proxy.entry(.attempting)
            try await proxy.advance(by: .seconds(299))
            #expect(!attempt.seen.value.isCancelled)
            try await proxy.advance(by: .seconds(2))
            try await attempt.seen.wait("the end of the attempt") { $0.isCancelled }
            let ended = try await proxy.entry(.cancelled)
            #expect(ended.mayHaveBeenApplied)
            try await proxy.settle()
            #expect(await proxy.engine.entry(ended.id)?.lastFailure?.evidence == .maybeApplied)
        }
    }

    @Test(arguments: [EntryCommand.abort, .cancel])
    func commandEndsAnUnattendedAttempt(command: EntryCommand) async throws {
        try await withAbandoned { proxy, attempt in
            let entry = try await proxy.entry(.attempting)
            #expect(await proxy.engine.command(command, entry.id).0 == .done)
            try await attempt.seen.wait("the end of the attempt") { $0.isCancelled }
            _ = try await proxy.entry(.cancelled)
            try await proxy.settle()
            let ended = await proxy.engine.entry(entry.id)
            #expect(ended?.lastFailure?.evidence == .maybeApplied)
            try await proxy.advance(by: .seconds(100))
            #expect(proxy.upstream.startedCount == 1)
        }
    }

    @Test func replayGoesOnTooAndItsClientIsNoHeldClient() async throws {
        try await withParked(Self.put) { proxy, client, entry in
            let attempt = try await proxy.retry(entry.id)
            #expect(try await attempt.wholeBody() == "abc")
            try await client.closeOutput()
            #expect(try await client.ending().rest == "")
            try await proxy.settle()
            let status = await proxy.engine.status()
            #expect(status.unattendedCount == 1 && status.heldCount == 0)
            attempt.respond(200)
            let ended = try await proxy.entry(.cancelled)
            #expect(ended.id == entry.id && ended.attempts.records.last?.status == 200)
        }
    }

    /// `timeouts.drain` is its time: the stop of the proxy waits for it, and then cuts it off.
    @Test func stopOfTheProxyWaitsForAnUnattendedAttempt() async throws {
        try await withAbandoned { proxy, attempt in
            _ = try await proxy.entry(.attempting)
            await proxy.engine.drain()
            async let drained: Void = proxy.server.drain(within: .seconds(60))
            try await proxy.settle()
            #expect(!attempt.seen.value.isCancelled)
            attempt.respond(204)
            await drained
            #expect(try await proxy.entry(.cancelled).attempts.records.last?.status == 204)
        }
    }

    @Test func stopOfTheProxyCutsAnUnattendedAttemptOff() async throws {
        try await withAbandoned { proxy, attempt in
            _ = try await proxy.entry(.attempting)
            await proxy.engine.drain()
            await proxy.server.drain(within: .zero)
            #expect(attempt.seen.value.isOver)
            #expect(try await proxy.entry(.cancelled).lastFailure?.evidence == .maybeApplied)
        }
    }

    // MARK: After the final head

    /// Any method: the outcome is known, and no client reads the body.
    @Test(arguments: ["GET", "POST", "PUT", "PATCH"])
    func responseEndsWithItsClient(method: String) async throws {
        try await withAttempt(of: "\(method) http://o.test/ HTTP/1.1\r\nHost: o\r\nContent-Length: 0\r\n\r\n") { proxy, client, attempt in
            attempt.beginSending()
            attempt.sendHead(200, ["Content-Length: 10"])
            attempt.sendBody("abc")
            _ = try await client.received.wait("the first bytes") { $0.totalCount > 0 }
            try await client.reset()
            try await attempt.seen.wait("the cancel") { $0.isCancelled }
            #expect(await proxy.engine.liveEntries().isEmpty)
        }
    }

    /// The transfer was paused for a client that is gone: it must end too.
    @Test func pausedResponseEndsWithItsClient() async throws {
        try await withProxy { proxy in
            let client = try await proxy.connect(readsByItself: false, receiveBuffer: 65_536)
            try await client.send(.post("/", length: 0))
            let attempt = try await proxy.nextAttempt()
            attempt.sendHead(200, ["Content-Length: \(32 << 20)"])
            for _ in 0..<16 { attempt.sendBody(String(repeating: "x", count: 1 << 20)) }
            try await proxy.settle()
            try await client.reset()
            try await attempt.seen.wait("the cancel") { $0.isCancelled }
        }
    }
}

/// Requests that share one `Idempotency-Key`.
extension SimultaneousKeyTests {
    /// The request that is sent for all, with its response begun or not.
    private func leader(_ proxy: TestProxy, isBegun: Bool) async throws -> (client: RawClient, attempt: ScriptedAttempt) {
        let first = try await client(proxy, .submission("/", Self.waits, Self.key))
        let attempt = try await proxy.nextSentAttempt()
        if isBegun {
            attempt.sendHead(200, ["Content-Length: 4"])
            #expect(try await first.text(12) == "HTTP/1.1 200")
        }
        return (first, attempt)
    }

    @Test(arguments: [true, false])
    func responseIsReadOnForThoseThatJoined(isBegun: Bool) async throws {
        try await withProxy(tickets: TestStore()) { proxy in
            let (attempt, second) = try await leftToAnother(proxy, isBegun: isBegun)
            if !isBegun { attempt.sendHead(200, ["Content-Length: 4"]) }
            try await proxy.settle()
            attempt.sendBody("made")
            attempt.finish()
            let response = try await second.answer()
            #expect(response.body == "made")
            if !isBegun { #expect(response.values("Date").count == 1, "RFC 9110 section 6.6.1") }
            try await proxy.expectAttempts(1)
            try await proxy.settle()
            #expect(await proxy.engine.liveEntries().isEmpty)
        }
    }

    private func withLimit(_ limit: Duration, _ body: (TestProxy) async throws -> Void) async throws {
        let table = RouteTable.standard { $0.unattendedMax = limit }
        try await withProxy(tickets: TestStore(), configuration: { $0.routes = table }, body)
    }

    /// Clients wait here. The time limit is for attempts without waiting clients.
    @Test(arguments: [Duration.zero, .seconds(5)])
    func attemptThatOthersWaitForGoesOnPastItsTime(limit: Duration) async throws {
        try await withLimit(limit) { proxy in
            let (attempt, second) = try await leftToAnother(proxy)
            try await proxy.settle()
            try await proxy.advance(by: .seconds(6))
            let entry = try await awaited(proxy)
            #expect(!entry.client.isConnected && entry.actions == [.cancel, .abort])
            #expect(await proxy.engine.status().unattendedCount == 0)
            #expect(!attempt.seen.value.isCancelled)
            attempt.sendHead(200, ["Content-Length: 4"])
            try await proxy.settle()
            try await proxy.advance(by: .seconds(6))
            attempt.sendBody("made")
            attempt.finish()
            #expect(try await second.answer().body == "made")
            try await proxy.expectAttempts(1)
            try await proxy.settle()
            #expect(await proxy.engine.liveEntries().isEmpty)
        }
    }

    @Test(arguments: [Duration.zero, .seconds(5)])
    func attemptEndsInItsTimeOnceTheLastOfTheOthersHasLeft(limit: Duration) async throws {
        try await withLimit(limit) { proxy in
            let (attempt, second) = try await leftToAnother(proxy)
            try await proxy.settle()
            try await proxy.advance(by: .seconds(6))
            _ = try await awaited(proxy)
            try await second.reset()
            try await waitForConnections(0, proxy)
            for _ in 0..<3 { try await proxy.settle() }
            try await proxy.advance(by: .seconds(6))
            try await attempt.seen.wait("the end of the attempt") { $0.isCancelled }
            #expect(try await proxy.entry(.cancelled).mayHaveBeenApplied)
            try await proxy.expectAttempts(1)
        }
    }

    @Test func personCanEndAResponseThatIsReadForOthers() async throws {
        try await withProxy(tickets: TestStore()) { proxy in
            let (attempt, second) = try await leftToAnother(proxy, isBegun: true)
            let entry = try await proxy.entry(.attempting)
            #expect(entry.isUnattended && !entry.client.isConnected)
            #expect(await proxy.engine.command(.cancel, entry.id).0 == .done)
            try await attempt.seen.wait("the end of the attempt") { $0.isCancelled }
            #expect(try await second.answer().status == 502)
            try await proxy.expectAttempts(1)
        }
    }

    private func awaited(_ proxy: TestProxy) async throws -> Entry {
        try await firstValue("an entry that others wait for") {
            await proxy.engine.liveEntries().first.flatMap { $0.isAwaitedByOthers ? $0 : nil }
        }
    }

    /// The attempt of a request whose client is gone, before the response or in its middle, and a client that waits for the same.
    private func leftToAnother(_ proxy: TestProxy, isBegun: Bool = false) async throws -> (ScriptedAttempt, RawClient) {
        let (first, attempt) = try await leader(proxy, isBegun: isBegun)
        let second = try await client(proxy, .submission("/", Self.waits, Self.key))
        try await proxy.settle()
        try await first.reset()
        try await waitForConnections(1, proxy)
        return (attempt, second)
    }

    @Test func responseEndsWhenTheLastOneThatJoinedLeaves() async throws {
        try await withProxy(tickets: TestStore()) { proxy in
            let (attempt, second) = try await leftToAnother(proxy, isBegun: true)
            try await proxy.settle()
            #expect(!attempt.seen.value.isCancelled)
            try await second.reset()
            try await attempt.seen.wait("the cancel") { $0.isCancelled }
        }
    }

    @Test(arguments: [true, false])
    func responseThatNoOtherSharesEndsWithItsClient(isBegun: Bool) async throws {
        try await withProxy(tickets: TestStore()) { proxy in
            let (first, attempt) = try await leader(proxy, isBegun: isBegun)
            try await first.reset()
            try await waitForConnections(0, proxy)
            if !isBegun { attempt.sendHead(200, ["Content-Length: 4"]) }
            try await attempt.seen.wait("the cancel") { $0.isCancelled }
            let third = try await client(proxy, .submission("/", Self.waits, Self.key))
            try await proxy.nextAttempt().answerWell(201)
            #expect(try await third.answer().status == 201, "the key is free")
        }
    }

    private func waitForConnections(_ count: Int, _ proxy: TestProxy) async throws {
        try await eventually("\(count) connections") { proxy.openConnectionCount() == count }
    }
}
