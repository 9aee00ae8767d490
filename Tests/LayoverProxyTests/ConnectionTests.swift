import LayoverEngine
import LayoverTestSupport
import NIOCore
import Synchronization
import Testing

@testable import LayoverProxy

/// One client's connection: order, keep-alive, half-close, time.
struct ConnectionTests {
    @Test func pipelinedRequestsAreAnsweredInOrderOneAtATime() async throws {
        let request: String = .get("/1") + .post("/2", length: 3, body: "abc") + "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n" + .get("/4")
        try await withAttempt(of: request) { proxy, client, first in
            #expect(first.request.target == "/1")
            try await proxy.settle()
            #expect(proxy.upstream.startedCount == 1, "the second waits for the answer to the first")
            first.respond(200, ["Content-Length: 1"], body: "1")
            let second = try await proxy.nextAttempt()
            #expect(try await second.wholeBody() == "abc")
            second.respond(200, [], body: "2")
            try await proxy.nextAttempt().respond(200, ["Content-Length: 1"], body: "4")
            #expect(try await client.answer().body == "1")
            #expect(try await client.answer().body == "2")
            #expect(try await client.answer().body.contains("Layover"))
            #expect(try await client.answer().body == "4")
        }
    }

    @Test func manyPipelinedRequestsInOneWriteAreAllAnswered() async throws {
        try await withProxy(script: { $0.respond(200, ["Content-Length: 2"], body: "ok") }) { proxy in
            let client = try await proxy.client(sending: String(repeating: .get("/"), count: 1500))
            for _ in 0..<1500 { #expect(try await client.answer().body == "ok") }
        }
    }

    /// Responses that are made at once must not pile up on the stack.
    @Test func thousandsOfPipelinedRequestsThatFailAtOnceAreAllAnswered() async throws {
        try await withProxy { proxy in
            _ = await proxy.engine.setMode(.offline, reason: nil)
            try await proxy.settle()
            let request = "GET http://o.test/ HTTP/1.1\r\nHost: o\r\nLayover-Mode: pass\r\n\r\n"
            let client = try await proxy.connect()
            client.sendWithoutWaiting(Array(String(repeating: request, count: 5000).utf8))
            for _ in 0..<5000 { #expect(try await client.answer().status == 503) }
        }
    }

    @Test(arguments: ["Connection: close", "Connection: Keep-Alive, CLOSE", "Proxy-Connection: close"])
    func requestsAfterConnectionCloseAreNotRead(field: String) async throws {
        try await withProxy(script: { $0.respond(200, ["Content-Length: 2"], body: "ok") }) { proxy in
            let client = try await proxy.client(sending: .get("/1", field) + .get("/2"))
            #expect(try await client.answer()["Connection"] == "close")
            #expect(try await client.ending().rest == "")
            #expect(proxy.upstream.startedCount == 1)
        }
    }

    // MARK: Half-close

    @Test func pipelinedRequestsBeforeAHalfCloseAreAllAnswered() async throws {
        try await withProxy(script: { $0.respond(200, ["Content-Length: 2"], body: "ok") }) { proxy in
            let client = try await proxy.client(sending: .get("/1") + .get("/2") + .get("/3"))
            try await client.closeOutput()
            for _ in 0..<3 { #expect(try await client.answer().body == "ok") }
            #expect(try await client.ending().0 == .closed)
        }
    }

    enum HalfClose: Sendable { case never, first, afterTheResponse }

    /// The kernel takes only a part of a large response at once; closing must wait for the rest.
    @Test(arguments: [
        ("HTTP/1.1", "close", HalfClose.never), ("HTTP/1.0", "close", .never), ("HTTP/1.1", "close", .first), ("HTTP/1.0", "close", .first),
        ("HTTP/1.1", "keep-alive", .afterTheResponse), ("HTTP/1.1", "close", .afterTheResponse),
    ])
    func largeResponseReachesASlowReaderCompletely(version: String, connection: String, halfClose: HalfClose) async throws {
        try await withProxy { proxy in
            let client = try await proxy.connect(readsByItself: false, receiveBuffer: 65_536)
            try await client.send("GET http://o.test/ \(version)\r\nHost: o.test\r\nConnection: \(connection)\r\n\r\n")
            if halfClose == .first { try await client.closeOutput() }
            let attempt = try await proxy.nextAttempt()
            try await proxy.settle()
            attempt.sendHead(200, halfClose == .afterTheResponse ? ["Content-Length: \(8 << 20)"] : ["Transfer-Encoding: chunked"])
            for _ in 0..<8 { attempt.sendBody(String(repeating: "x", count: 1 << 20)) }
            attempt.finish()
            try await proxy.settle()
            if halfClose == .afterTheResponse { try await client.closeOutput() } else { try await proxy.tick(in: .seconds(6)) }
            try await proxy.settle()
            try await client.startReading()
            #expect(try await client.answer(after: 8 << 20).body.utf8.count == 8 << 20)
            if halfClose == .afterTheResponse { #expect(try await client.ending().0 == .closed) }
        }
    }

    @Test func anIdleConnectionThatIsHalfClosedIsClosed() async throws {
        try await withProxy(script: { $0.respond(200, ["Content-Length: 0"]) }) { proxy in
            let client = try await proxy.client(sending: .get("/"))
            _ = try await client.answer()
            try await client.closeOutput()
            #expect(try await client.ending().0 == .closed)
        }
    }

    @Test func partialHeadBeforeAHalfCloseEndsTheConnectionAfterTheResponse() async throws {
        try await withProxy { proxy in
            let client = try await proxy.client(sending: .get("/1") + "GET http://o.test/2 HT")
            try await client.closeOutput()
            let attempt = try await proxy.nextAttempt()
            try await proxy.settle()
            attempt.respond(200, ["Content-Length: 2"], body: "ok")
            #expect(try await client.answer().body == "ok")
            #expect(try await client.ending().rest == "")
            #expect(proxy.upstream.startedCount == 1)
        }
    }

    @Test(arguments: ["G", "GET http://o.test/ HTTP/1.1\r\nHost:", "\r\n"])
    func aHalfCloseInTheMiddleOfAHeadEndsTheConnection(part: String) async throws {
        try await withProxy { proxy in
            let client = try await proxy.client(sending: part)
            try await client.closeOutput()
            #expect(try await client.ending().0 == .closed)
            #expect(proxy.upstream.startedCount == 0)
        }
    }

    // MARK: Back-pressure

    @Test func aSlowReaderSlowsTheUpstreamDownAndMemoryStaysBounded() async throws {
        try await withProxy { proxy in
            let client = try await proxy.connect(readsByItself: false, receiveBuffer: 65_536)
            try await client.send(.get("/"))
            let attempt = try await proxy.nextAttempt()
            attempt.sendHead(200, ["Content-Length: \(24 << 20)"])
            let part = String(repeating: "x", count: 1 << 20)
            for _ in 0..<12 { attempt.sendBody(part) }
            try await proxy.settle()
            let outstanding = attempt.attempt.bytesOutstanding.load(ordering: .relaxed)
            #expect(outstanding > 4 << 20, "what the client does not take counts as outstanding: \(outstanding)")
            attempt.attempt.isReceivingPaused.store(true, ordering: .relaxed)
            try await client.startReading()
            try await attempt.seen.wait("the transfer to be resumed") { $0.resumeCount > 0 }
            for _ in 0..<12 { attempt.sendBody(part) }
            attempt.finish()
            #expect(try await client.answer(after: 24 << 20).body.utf8.count == 24 << 20)
        }
    }

    @Test func aSlowUpstreamSlowsTheClientDown() async throws {
        try await withAttempt(of: .post("/", length: 50_000_000)) { proxy, client, attempt in
            attempt.readBody(atMost: 10)
            for _ in 0..<50 { client.sendWithoutWaiting([UInt8](repeating: 120, count: 1_000_000)) }
            try await attempt.seen.wait("a part of the body") { $0.sent.count == 10 }
            try await proxy.settle()
            let received = attempt.request.body?.receivedByteCount ?? 0
            #expect(received < 4 << 20, "the proxy stopped reading: \(received)")
            attempt.readBody()
            try await attempt.seen.wait("the body") { $0.sent.count == 50_000_000 }
            attempt.respond(200, ["Content-Length: 0"])
            #expect(try await client.answer().status == 200)
        }
    }

    // MARK: Time

    @Test func slowHeadIs408EvenIfBytesKeepArriving() async throws {
        try await withProxy { proxy in
            let client = try await proxy.client(sending: "GET http://o.test/ HTTP/1.1\r\n")
            try await client.send("Host: o.test\r\n")
            try await proxy.waitForTimedHead()
            try await proxy.tick(in: .seconds(3500))
            try await client.send("X: y\r\n")
            try await proxy.settle()
            try await proxy.tick(in: .seconds(3700))
            #expect(try await client.answer().status == 408)
            #expect(try await client.ending().0 == .closed)
        }
    }

    @Test func everyHeadOfAConnectionHasItsOwnTimeout() async throws {
        try await withProxy { proxy in
            let client = try await proxy.client(sending: "GET / HTTP/1.1\r\nHo")
            try await proxy.waitForTimedHead()
            try await client.send("st: localhost\r\n\r\n")
            #expect(try await client.answer().status == 200)
            try await client.send("GET /")
            try await proxy.waitForTimedHead()
            try await proxy.tick(in: .seconds(3700))
            #expect(try await client.answer().status == 408)
        }
    }

    @Test func anIdleConnectionIsClosedSilently() async throws {
        try await withProxy(script: { $0.respond(200, ["Content-Length: 0"]) }) { proxy in
            let fresh = try await proxy.connect()
            let used = try await proxy.client(sending: .get("/"))
            _ = try await used.answer()
            try await proxy.settle()
            try await proxy.tick(in: .seconds(7100))
            #expect(used.received.value.ending == nil)
            try await proxy.tick(in: .seconds(7300))
            #expect(try await used.ending().rest == "")
            #expect(try await fresh.ending().rest == "")
        }
    }

    @Test func longAttemptDoesNotTimeOutTheClient() async throws {
        try await withAttempt(of: .post("/", length: 3, body: "abc")) { proxy, client, attempt in
            try await proxy.tick(in: .hours(5))
            attempt.respond(200, ["Content-Length: 2"], body: "ok")
            #expect(try await client.answer().body == "ok")
        }
    }

    // MARK: The limit

    @Test func aboveTheLimitOfConnectionsThereIsA503() async throws {
        try await withProxy(script: { $0.respond(200, ["Content-Length: 2"], body: "ok") }, connectionCountMax: 2) { proxy in
            let (first, second) = (try await proxy.client(sending: .get("/")), try await proxy.client(sending: .get("/")))
            _ = (try await first.answer(), try await second.answer())
            let third = try await proxy.connect()
            let response = try await third.answer().expectStatus(503)
            #expect(response.member("detail")?.contains("limits.connections (2) is reached") == true)
            #expect(response["Retry-After"] == "1")
            #expect(try await third.ending().0 == .closed)
            third.close()
            first.close()
            second.close()
            try await Self.waitForNoConnection(proxy)
            #expect(try await proxy.answer(to: .get("/")).body == "ok")
        }
    }

    static func waitForNoConnection(_ proxy: TestProxy) async throws {
        try await eventually("the connections to close") {
            try await proxy.settle()
            return proxy.openConnectionCount() == 0
        }
    }
}

/// Objects that outlive their use.
struct LeakTests {
    /// Responses of our own are flushed outside of any batch; whatever remembers their connections must let go.
    @Test func closedConnectionIsReleased() async throws {
        try await withProxy(script: { $0.respondOnceSent(200, ["Content-Length: 2"], body: "ok") }) { proxy in
            let loop = proxy.loop
            let before = try await loop.eventLoop.submit { loop.connections.heldCount }.get()
            #expect(before == 0)
            let help = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
            for requests in [help, help + help, .get("/") + help, .post("/", length: 3, body: "abc"), "nonsense\r\n\r\n"] {
                let client = try await proxy.client(sending: requests)
                _ = try await client.answer()
                client.close()
            }
            let last = try await proxy.client(sending: help)
            _ = try await last.answer()
            last.close()
            try await ConnectionTests.waitForNoConnection(proxy)
            try await proxy.tick(in: .zero)
            #expect(try await loop.eventLoop.submit { loop.connections.heldCount }.get() == 0)
        }
    }

    @Test func finishedExchangeIsReleased() async throws {
        try await withProxy { proxy in
            let client = try await proxy.client(sending: .post("/", length: 3, body: "abc"))
            weak var receiver: (any UpstreamReceiver)?
            weak var body: CapturedBody?
            do {
                let first = try await proxy.nextAttempt()
                receiver = first.attempt.receiver
                body = first.request.body
                first.fail()
                let entry = try await proxy.entry()
                let second = try await proxy.retry(entry.id)
                #expect(try await second.wholeBody() == "abc")
                second.respond(200, ["Content-Length: 0"])
                _ = try await client.answer()
                try await second.seen.wait("its end") { $0.isOver }
            }
            // Each thread keeps the work that it has just finished for a moment.
            try await eventually("the release of the exchange and its body") {
                try await proxy.settle()
                return receiver == nil && body == nil
            }
        }
    }
}
