import LayoverCore
import LayoverEngine
import LayoverTestSupport
import Testing

@testable import LayoverProxy

/// The bodies of requests that become tickets.
struct AcceptedBodyTests {
    @Test(arguments: [0, 1, 100, 101, 50_000, 400_000])
    func ticketBodiesOfAnySizeAreSentUnchanged(count: Int) async throws {
        try await withTickets(configuration: { $0.body.inMemoryMax = 100 }) { proxy, tickets in
            let body = String((0..<count).map { Character(Unicode.Scalar(UInt8(97 + $0 % 26))) })
            let id = try await proxy.accept("/", body: body)
            #expect(tickets.files == (count > 100 ? ["\(id).request"] : []))
            let attempt = try await proxy.nextAttempt()
            #expect(attempt.request.framing == .length(count))
            #expect(await attempt.mark())
            #expect(try await attempt.wholeBody() == body)
            attempt.respond(200, ["Content-Length: 0"])
            _ = try await proxy.until(id, is: .delivered)
            try await eventually("the file to be removed once sent") { tickets.files.isEmpty }
        }
    }

    /// Longer than bodies whose tokens are replaced (`TokenLimits.bodyByteCountMax`).
    @Test(arguments: [
        ("application/json", #""~ticket.0123456789abcdef0123456789abcdef.location~""#, 413), ("application/json", #""~uuid~""#, 413),
        ("application/json", #""~/home, ~ticket and ~uuid""#, 202), ("text/plain", "~uuid~", 202),
    ])
    func longBodyIsRefusedOnlyIfItContainsAToken(type: String, text: String, status: Int) async throws {
        let tickets = TestStore()
        try await withProxy(script: { $0.respondOnceSent(200) }, tickets: tickets) { proxy in
            let body = "[" + String(repeating: " ", count: 17 << 20) + text + "]"
            let response = try await proxy.answer(
                to: .submission("/", body: body, "Content-Type: \(type)", "Prefer: respond-async, wait=0"))
            #expect(response.status == status)
            guard status == 413 else { return }
            #expect(response.member("detail")?.contains("\(16 << 20) bytes") == true)
            try await proxy.expectAttempts(0)
            #expect(tickets.files.isEmpty)
        }
    }

    @Test(arguments: [[], ["X-Sum: 1"]])
    func chunkedBodyIsSentWithALengthUnlessItHasTrailers(trailers: [String]) async throws {
        try await withProxy(tickets: TestStore()) { proxy in
            let response = try await proxy.answer(
                to: "PUT http://o.test/ HTTP/1.1\r\nHost: o.test\r\nPrefer: respond-async, wait=0\r\nTransfer-Encoding: chunked\r\n\r\n"
                    + "3\r\nabc\r\n2\r\nde\r\n0\r\n" + trailers.map { $0 + "\r\n" }.joined() + "\r\n")
            #expect(response.status == 202)
            let attempt = try await proxy.nextAttempt()
            #expect(attempt.request.framing == (trailers.isEmpty ? .length(5) : .chunked))
            #expect(try await attempt.wholeBody() == "abcde")
            #expect(attempt.seen.value.trailers == trailers)
            attempt.respond(200)
        }
    }

    @Test func ticketWithoutABodyIsSentWithoutOne() async throws {
        try await withProxy(tickets: TestStore()) { proxy in
            let client = try await proxy.client(sending: .get("/", "Prefer: respond-async, wait=0"))
            #expect(try await client.answer().status == 202)
            let attempt = try await proxy.nextAttempt()
            #expect(attempt.request.framing == .none)
            attempt.respond(200)
        }
    }

    @Test func clientThatExpects100GetsItAtOnceAndOnce() async throws {
        try await withProxy(tickets: TestStore()) { proxy in
            let client = try await proxy.client(sending: .post("/", length: 3, "Prefer: respond-async, wait=0", "Expect: 100-continue"))
            #expect(try await client.answer().status == 100)
            try await client.send("abc")
            #expect(try await client.answer().status == 202)
            let attempt = try await proxy.nextAttempt()
            #expect(attempt.values("Expect").isEmpty)
            #expect(try await attempt.wholeBody() == "abc")
            attempt.respond(200)
        }
    }

    @Test func bodyWithATooLargeLengthIsRefusedBeforeItArrives() async throws {
        try await withProxy(tickets: TestStore(), configuration: { $0.body.byteCountMax = 1000 }) { proxy in
            let client = try await proxy.client(sending: .post("/", length: 1001, "Prefer: respond-async, wait=0", "Expect: 100-continue"))
            let response = try await client.answer().expectStatus(413)
            #expect(response.body.contains("limits.bodyMax (1000 bytes)"))
            #expect(response["Connection"] == "close")
            try await proxy.expectAttempts(0)
        }
    }

    @Test func chunkedBodyThatExceedsTheLimitIsRefused() async throws {
        try await withTickets(
            configuration: {
                $0.body.byteCountMax = 1000
                $0.body.inMemoryMax = 10
            }
        ) { proxy, tickets in
            let client = try await proxy.client(
                sending: "POST http://o.test/ HTTP/1.1\r\nHost: o.test\r\nPrefer: respond-async, wait=0\r\nTransfer-Encoding: chunked\r\n\r\n")
            try await client.send("3e8\r\n\(String(repeating: "x", count: 1000))\r\n")
            try await proxy.settle()
            #expect(client.received.value.totalCount == 0)
            try await client.send("1\r\nx\r\n")
            let response = try await client.answer().expectStatus(413)
            #expect(response["Connection"] == "close")
            try await proxy.becomesEmpty(tickets)
        }
    }

    @Test func problemOfAFullSpoolNamesTheLimit() async throws {
        try await withTickets(TestStore(spoolTotal: 1000), configuration: { $0.body.inMemoryMax = 10 }) { proxy, tickets in
            let response = try await proxy.answer(
                to: .submission("/", body: String(repeating: "x", count: 2000), "Prefer: respond-async, wait=0"))
            #expect(response.status == 507)
            #expect(response.body.contains("limits.spoolTotal"))
            try await proxy.becomesEmpty(tickets)
            try await proxy.expectAttempts(0)
        }
    }

    /// Nobody knows whether there is a token in it, so it is no ticket.
    @Test func aBodyThatCannotBeSearchedIsNotAccepted() async throws {
        try await withTickets(
            configuration: {
                $0.body.inMemoryMax = 10
                // The rest is not read before the beginning is in the file alone.
                $0.body.windowMax = 1
            }
        ) { proxy, tickets in
            let client = try await proxy.client(
                sending: .post("/", length: 600, body: #"{"a":"~uuid~", "#, "Content-Type: application/json", "Prefer: respond-async, wait=0"))
            // What has come is written, so that it is not read from memory any more.
            try await tickets.makeSpoolUnreadable(holding: 1)
            try await client.send(String(repeating: " ", count: 579) + #""b":1}"#)
            let response = try await client.answer().expectProblem(507, "store")
            #expect(response.member("detail")?.contains("could not be read from the spool") == true)
            try await proxy.becomesEmpty(tickets)
            try await proxy.expectAttempts(0)
        }
    }
}
