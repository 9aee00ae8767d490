import LayoverCore
import LayoverEngine
import LayoverTestSupport
import Synchronization
import Testing

/// A client that goes away, in every phase. Attempts that go on without one are those of `UnattendedAttemptTests`; a FIN during a first
/// attempt is looked at in `HalfClosedClientTests`.
struct ClientLeavingTests {
    enum Way: Sendable, CaseIterable { case close, reset, halfClose }

    private static func leave(_ client: RawClient, _ way: Way) async throws {
        switch way {
        case .close: client.close()
        case .reset: try await client.reset()
        case .halfClose: try await client.closeOutput()
        }
    }

    private static let connect = "CONNECT o.test:443 HTTP/1.1\r\nHost: o.test:443\r\n\r\n"

    @Test(arguments: Way.allCases, [String.get("/"), connect])
    func clientThatLeavesWhileParkedCancelsItsEntry(way: Way, request: String) async throws {
        try await withParked(request) { proxy, client, entry in
            try await Self.leave(client, way)
            _ = try await proxy.entry(.cancelled)
            #expect(await proxy.engine.entry(entry.id)?.state == .cancelled)
            if way == .halfClose { #expect(try await client.ending().rest == "") }
            try await proxy.advance(by: .seconds(100))
            #expect(proxy.upstream.startedCount == 1, "it is never sent again")
        }
    }

    /// The worker closes idle connections to servers of this machine that no client needs any more.
    @Test(arguments: [Way.close, .reset])
    func workerIsNotifiedOnceOfALeavingClient(way: Way) async throws {
        try await withProxy(script: { $0.respond(200, ["Content-Length: 2"], body: "ok") }) { proxy in
            let client = try await proxy.client(sending: .get("/1") + .get("/2"))
            for _ in 0..<2 { #expect(try await client.answer().body == "ok") }
            let number = try #require(try await proxy.nextAttempt().attempt.client)
            try await proxy.settle()
            #expect(proxy.upstream.record.value.clientsThatLeft.isEmpty)
            try await Self.leave(client, way)
            try await proxy.upstream.record.wait("the end of the client") { !$0.clientsThatLeft.isEmpty }
            try await proxy.settle()
            #expect(proxy.upstream.record.value.clientsThatLeft == [number])
        }
    }

    @Test func halfClosedClientGetsTheFailureOfTheFirstAttempt() async throws {
        try await withProxy { proxy in
            let client = try await proxy.client(sending: .get("/"))
            try await client.closeOutput()
            let attempt = try await proxy.nextAttempt()
            try await proxy.waitForClosedInput()
            attempt.fail()
            let response = try await client.answer().expectStatus(502)
            #expect(response["Connection"] == "close")
            #expect(await proxy.engine.liveEntries().isEmpty)
        }
    }

    @Test(arguments: ["GET", "POST"])
    func connectingAttemptIsCancelledWhenItsClientLeaves(method: String) async throws {
        try await withAttempt(of: "\(method) http://o.test/ HTTP/1.1\r\nHost: o\r\nContent-Length: 0\r\n\r\n") { _, client, attempt in
            try await client.reset()
            try await attempt.seen.wait("the cancel") { $0.isCancelled }
        }
    }

    private static let chunked = "POST http://o.test/ HTTP/1.1\r\nHost: o\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n"

    @Test(arguments: Way.allCases, [String.post("/", length: 10, body: "abc"), chunked])
    func bodyOfAClientThatLeavesIsNotCompletedUpstream(way: Way, request: String) async throws {
        try await withHalfSent(request) { proxy, client, attempt in
            try await Self.leave(client, way)
            try await attempt.seen.wait("its end") { $0.isOver }
            #expect(attempt.seen.value.sendingEnd != .end)
            if way == .halfClose { #expect(try await client.ending().rest == "") }
            #expect(await proxy.engine.liveEntries().isEmpty)
        }
    }

    /// The entry is final, but the evidence of its attempt is recorded.
    @Test func attemptCutOffByALeavingClientIsRecorded() async throws {
        try await withParked { proxy, client, entry in
            let attempt = try await proxy.retry(entry.id, "the second attempt")
            try await attempt.outliveCancel()
            try await client.reset()
            try await attempt.seen.wait("the cancel") { $0.isCancelled }
            attempt.fail(.connectionTimeout, phase: .connecting)
            try await proxy.settle()
            let ended = try await proxy.entry(.cancelled)
            #expect(ended.attemptCount == 2)
            #expect(ended.attempts.records.map(\.failure?.kind) == [.connectionRefused, .connectionTimeout])
        }
    }

    @Test func tunnelSocketIsClosedIfItsClientHasLeft() async throws {
        try await withAttempt(of: Self.connect) { _, client, attempt in
            try await attempt.outliveCancel()
            try await client.reset()
            try await attempt.seen.wait("the cancel") { $0.isCancelled }
            #expect(try await attempt.dial().ending().0 == .closed)
        }
    }
}
