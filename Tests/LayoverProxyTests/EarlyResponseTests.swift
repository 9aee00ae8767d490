import LayoverCore
import LayoverEngine
import LayoverTestSupport
import NIOCore
import Testing

@testable import LayoverProxy

/// Clients that get their response before they have sent their request, or before the origin has it.
struct EarlyResponseTests {
    /// A response that is complete while its request is still on its way.
    private static func respondEarly(_ attempt: ScriptedAttempt, _ fields: [String] = ["Content-Length: 2"]) {
        attempt.readBody()
        attempt.deliver([attempt.head(200, fields), .body(ByteBuffer(string: "ok")), .complete(trailers: nil)])
    }

    /// A client that has the response and has sent half of its request.
    private static func withResponse(
        _ field: String, _ test: (TestProxy, RawClient, ScriptedAttempt, Answer) async throws -> Void
    ) async throws {
        try await withAttempt(of: .post("/", length: 6, body: "abc")) { proxy, client, attempt in
            respondEarly(attempt, [field])
            let response = try await client.answer()
            #expect(response.body == "ok")
            try await test(proxy, client, attempt, response)
        }
    }

    /// A client that has its response and has sent all of its request, of which the attempt has taken two bytes.
    private static func withAnswered(status: Int = 200, _ test: (TestProxy, RawClient, ScriptedAttempt) async throws -> Void) async throws {
        try await withAttempt(of: .post("/", length: 6, body: "abcdef")) { proxy, client, attempt in
            attempt.readBody(atMost: 2)
            attempt.deliver([attempt.head(status, ["Content-Length: 2"]), .body(ByteBuffer(string: "ok")), .complete(trailers: nil)])
            #expect(try await client.answer().body == "ok")
            try await test(proxy, client, attempt)
        }
    }

    /// The client leaves, and the proxy notices it.
    private static func leave(_ client: RawClient, byReset: Bool, _ proxy: TestProxy) async throws {
        if byReset {
            try await client.reset()
            try await ConnectionTests.waitForNoConnection(proxy)
        } else {
            client.close()
            let loop = proxy.loop
            // The next tick closes the connection, so it may never be seen with its input closed.
            try await eventually("the end of the client's input") {
                try await loop.eventLoop.submit({ loop.connections.halfClosedCount > 0 || loop.connections.count == 0 }).get()
            }
        }
    }

    /// The attempt takes the rest of the request.
    private static func takeRest(_ attempt: ScriptedAttempt) async throws {
        attempt.readBody()
        try await attempt.seen.wait("the whole body") { $0.sendingEnd == .end }
        #expect(attempt.seen.value.sent == Array("abcdef".utf8))
    }

    /// Before, the response said `Connection: close`, and the rest of the request was thrown away.
    @Test(arguments: ["Content-Length: 2", "Transfer-Encoding: chunked"])
    func requestGoesToItsEndAndTheConnectionIsKept(field: String) async throws {
        try await Self.withResponse(field) { proxy, client, attempt, response in
            #expect(response["Connection"] == nil)
            try await client.send("def" + String.get("/2"))
            try await attempt.seen.wait("the whole body") { $0.sendingEnd == .end }
            #expect(attempt.seen.value.sent == Array("abcdef".utf8))
            try await proxy.settle()
            #expect(proxy.upstream.startedCount == 1, "the next request waits for its turn")
            attempt.finish()
            try await proxy.nextAttempt().respond(200, ["Content-Length: 1"], body: "2")
            #expect(try await client.answer().body == "2")
        }
    }

    /// Where the close is the end of the response, it is not told before the request was sent.
    @Test func clientOfHTTP10GetsTheEndOnceItsRequestIsSent() async throws {
        try await withAttempt(of: "POST http://o.test/ HTTP/1.0\r\nContent-Length: 6\r\n\r\nabc") { _, client, attempt in
            Self.respondEarly(attempt, ["Transfer-Encoding: chunked"])
            try await client.received.wait("the response") { $0.bytes.suffix(2).elementsEqual("ok".utf8) }
            try await client.send("def")
            try await attempt.seen.wait("the whole body") { $0.sendingEnd == .end }
            #expect(client.received.value.ending == nil)
            attempt.finish()
            #expect(try await client.answer().body == "ok")
            #expect(try await client.ending().0 == .closed)
        }
    }

    @Test(arguments: ["Content-Length: 2", "Transfer-Encoding: chunked"])
    func successIsBrokenOffIfTheRequestIsCut(field: String) async throws {
        try await Self.withResponse(field) { _, client, attempt, _ async throws in
            attempt.fail(.connectionTerminated, phase: .sending, evidence: .answered)
            #expect(try await client.ending().0 == .reset)
        }
    }

    /// The client has its response and Layover has its request, which has still a part of its way to go.
    @Test(arguments: [false, true]) func clientThatLeavesWithItsResponseDoesNotCutItsRequest(byReset: Bool) async throws {
        try await Self.withAnswered { proxy, client, attempt in
            try await Self.leave(client, byReset: byReset, proxy)
            #expect(!attempt.seen.value.isCancelled)
            try await Self.takeRest(attempt)
            attempt.finish()
            try await ConnectionTests.waitForNoConnection(proxy)
        }
    }

    /// An attempt without its client is in the list of entries, and a person or its time can end it.
    @Test func restOfARequestWithoutAClientIsAnEntry() async throws {
        try await Self.withAnswered(status: 201) { proxy, client, attempt in
            try await client.reset()
            let entry = try await proxy.entry(.attempting)
            #expect(entry.isUnattended && entry.actions == [.cancel, .abort] && !entry.client.isConnected)
            #expect(entry.expiresAt - entry.parkedAt == .seconds(300))
            #expect(await proxy.engine.status().unattendedCount == 1)
            try await Self.takeRest(attempt)
            attempt.finish()
            #expect(try await proxy.entry(.delivered).attempts.records.map(\.status) == [201])
        }
    }

    /// The last piece of the response waits for the request. A client that has read enough of it does not cut its request either.
    @Test(arguments: [false, true]) func clientThatLeavesBeforeTheWithheldEndDoesNotCutItsRequest(byReset: Bool) async throws {
        try await withAttempt(of: .post("/", length: 6, body: "abcdef")) { proxy, client, attempt in
            attempt.readBody(atMost: 2)
            attempt.deliver([attempt.head(200, ["Content-Length: 2"]), .endWithheld])
            try await client.received.wait("the head") { $0.totalCount > 0 }
            try await Self.leave(client, byReset: byReset, proxy)
            #expect(!attempt.seen.value.isCancelled)
            try await Self.takeRest(attempt)
            attempt.deliver([.body(ByteBuffer(string: "ok")), .end(trailers: nil)])
            try await ConnectionTests.waitForNoConnection(proxy)
        }
    }

    /// The client has got the success, and only the proxy has the rest of the request.
    @Test(arguments: [false, true])
    func stopOfTheProxyWaitsForTheRequestOfAClientThatLeftWithItsResponse(leavesDuringTheStop: Bool) async throws {
        try await Self.withAnswered { proxy, client, attempt in
            if !leavesDuringTheStop {
                try await client.reset()
                try await ConnectionTests.waitForNoConnection(proxy)
            }
            await proxy.engine.drain()
            async let drained: Void = proxy.server.drain(within: .seconds(60))
            try await proxy.waitUntilDraining()
            if leavesDuringTheStop {
                try await client.reset()
                try await ConnectionTests.waitForNoConnection(proxy)
                try await proxy.settle()
            }
            #expect(!attempt.seen.value.isCancelled && !attempt.seen.value.isOver)
            try await Self.takeRest(attempt)
            attempt.finish()
            await drained
        }
    }

    /// A client that sends all of its request before it reads must get to its response, however large that is.
    @Test func restOfARefusedRequestIsThrownAway() async throws {
        try await withAttempt(of: .post("/", length: 50_000_000)) { _, client, attempt in
            attempt.readBody(atMost: 1000)
            client.sendWithoutWaiting([UInt8](repeating: 120, count: 1000))
            try await attempt.seen.wait("a part of the body") { $0.sent.count == 1000 }
            attempt.deliver([.bodyUnwanted])
            attempt.sendHead(403, ["Content-Length: 2"])
            // All of it is taken although the attempt reads no more, and the response is not complete.
            try await client.send([UInt8](repeating: 120, count: 50_000_000 - 1000))
            attempt.sendBody("no")
            attempt.finish()
            let response = try await client.answer()
            #expect(response.status == 403 && response.body == "no" && response["Connection"] == "close")
        }
    }
}
