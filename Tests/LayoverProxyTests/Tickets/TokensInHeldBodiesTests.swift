import LayoverCore
import LayoverEngine
import LayoverTestSupport
import Testing

@testable import LayoverProxy

/// `respond-async, wait=N` with a body in which tokens may stand: an origin must never get the tokens themselves.
struct TokensInHeldBodiesTests {
    private static let wait = "Prefer: respond-async, wait=60"

    private static func request(_ type: String, chunks: [String], _ fields: String...) -> String {
        "POST http://o.test/ HTTP/1.1\r\nHost: o.test\r\nContent-Type: \(type)\r\n\(wait)\r\nTransfer-Encoding: chunked\r\n"
            + fields.map { $0 + "\r\n" }.joined() + "\r\n"
            + chunks.map { String($0.utf8.count, radix: 16) + "\r\n" + $0 + "\r\n" }.joined() + "0\r\n\r\n"
    }

    @Test(arguments: [
        ("application/json", #"{"order":"~ticket.ID.json.id~"}"#, #"{"order":"a b"}"#),
        ("application/x-www-form-urlencoded", "order=%7Eticket.ID.json.id%7E", "order=a+b"),
    ])
    func tokenInTheBodyMakesTheRequestATicketBeforeAnyAttempt(type: String, body: String, sent: String) async throws {
        try await withProxy(tickets: TestStore()) { proxy in
            let parent = try await proxy.accept("/parent")
            let attempt = try await proxy.nextAttempt("the attempt of the parent")
            let text = body.replacing("ID", with: "\(parent)")
            let response = try await proxy.answer(
                to: .submission("/", body: text, "Content-Type: \(type)", Self.wait, "Idempotency-Key: 1"))
            #expect(response.status == 202)
            #expect(response["Preference-Applied"] == "respond-async")
            #expect(response.member("waitingFor") == "parent")
            let child = try #require(response.ticket)
            try await proxy.expectAttempts(1)
            try await attempt.answerWell(200, ["Content-Type: application/json"], body: #"{"id":"a b"}"#)
            let next = try await proxy.nextAttempt("the attempt of the child")
            #expect(await next.mark())
            #expect(try await next.wholeBody() == sent)
            next.respond(200, ["Content-Length: 0"])
            _ = try await proxy.until(child, is: .delivered)
            // The same once more is the same ticket.
            let again = try await proxy.answer(
                to: .submission("/", body: text, "Content-Type: \(type)", Self.wait, "Idempotency-Key: 1"))
            #expect(again.ticket == child)
        }
    }

    @Test func invalidTokenIsRefusedBeforeAnyAttempt() async throws {
        try await withProxy(tickets: TestStore()) { proxy in
            let response = try await proxy.answer(
                to: .submission("/", body: #"["~ticket.no~"]"#, "Content-Type: application/json", Self.wait))
            response.expectProblem(400, "token")
            try await proxy.expectAttempts(0)
        }
    }

    /// In the target and in fields it is seen before the body comes, in any spelling.
    @Test(arguments: [("/%7Euuid~", "X: 1"), ("/", "X-Id: ~uuid~")])
    func tokenInTheHeadMakesTheRequestATicket(target: String, field: String) async throws {
        try await withProxy(tickets: TestStore()) { proxy in
            #expect(try await proxy.answer(to: .submission(target, Self.wait, field)).status == 202)
            let attempt = try await proxy.nextAttempt()
            #expect(!attempt.request.target.contains("uuid"))
            #expect(attempt.values("X-Id").first?.contains("uuid") != true)
            try await attempt.answerWell()
        }
    }

    /// The client may wait for a 100 before it sends the body; it gets the 100 at once.
    @Test func bodyWithoutTokensIsSentOnceItIsComplete() async throws {
        try await withProxy(tickets: TestStore()) { proxy in
            let body = #"{"path":"~/ticket"}"#
            let client = try await proxy.client(
                sending: .submission(
                    "/", body: body, "Content-Type: application/json", Self.wait, "Expect: 100-continue"
                ).replacing(body, with: ""))
            #expect(try await client.text(25) == "HTTP/1.1 100 Continue\r\n\r\n")
            try await client.send(String(body.prefix(5)))
            try await proxy.expectAttempts(0)
            try await client.send(String(body.dropFirst(5)))
            let attempt = try await proxy.nextAttempt()
            #expect(attempt.request.body?.summary == .captured)
            #expect(try await attempt.wholeBody() == body)
            attempt.respond(201, ["Content-Length: 2"], body: "ok")
            #expect(try await client.answer("the answer", after: 25).status == 201)
            #expect(await proxy.engine.liveEntries().isEmpty)
        }
    }

    /// A request that cannot become a ticket, or cannot have tokens, is sent while its body arrives.
    @Test(arguments: [("application/json", 2000), ("text/plain", 10)])
    func bodyThatCanHaveNoTokensIsSentAtOnce(type: String, count: Int) async throws {
        try await withProxy(tickets: TestStore(), configuration: { $0.body.byteCountMax = 1000 }) { proxy in
            let body = "[" + String(repeating: " ", count: count) + "]"
            let client = try await proxy.client(
                sending: .submission("/", body: body, "Content-Type: \(type)", Self.wait).replacing(body, with: "["))
            let attempt = try await proxy.nextAttempt()
            #expect(attempt.request.body?.summary == .arriving)
            try await client.send(String(body.dropFirst()))
            #expect(try await attempt.wholeBody() == body)
            attempt.respond(200, ["Content-Length: 0"])
            #expect(try await client.answer().status == 200)
        }
    }

    /// Nobody knows how long it is, and it is longer than what is kept.
    @Test(arguments: [("[", 200), ("[\"~uuid~\"", 413)])
    func bodyThatIsTooLongForATicketIsSentAsItIsUnlessItHasATokenAlready(start: String, status: Int) async throws {
        try await withProxy(tickets: TestStore(), configuration: { $0.body.byteCountMax = 1000 }) { proxy in
            let chunks = [start] + [String](repeating: String(repeating: " ", count: 300), count: 9)
            let client = try await proxy.client(sending: Self.request("application/json", chunks: chunks))
            if status == 200 {
                let attempt = try await proxy.nextAttempt()
                #expect(try await attempt.wholeBody() == chunks.joined())
                attempt.respond(200, ["Content-Length: 0"])
            }
            let response = try await client.answer().expectStatus(status)
            if status == 413 { #expect(response.member("detail")?.contains("limits.bodyMax (1000 bytes)") == true) }
            try await proxy.expectAttempts(status == 200 ? 1 : 0)
        }
    }

    /// The disk has no room for the body, so it can be no ticket: it is a request like any other, unless it has tokens.
    @Test(arguments: [("[", 200), ("[\"~uuid~\"", 507)])
    func requestWithoutTokensIsSentUnchangedIfTheSpoolIsFull(start: String, status: Int) async throws {
        let tickets = TestStore(spoolTotal: 1000)
        try await withProxy(
            script: { $0.respondOnceSent(200, ["Content-Length: 0"]) }, tickets: tickets, configuration: { $0.body.inMemoryMax = 100 }
        ) { proxy in
            let body = start + String(repeating: " ", count: 600_000) + "]"
            let response = try await proxy.answer(
                to: .submission("/", body: body, "Content-Type: application/json", Self.wait))
            #expect(response.status == status)
            try await proxy.expectAttempts(status == 200 ? 1 : 0)
            #expect(tickets.files.isEmpty)
        }
    }

    /// The tokens have been replaced, in a new body, when the store reports that there is no such ticket.
    @Test func bodyOfARefusedRequestIsRemoved() async throws {
        try await withTickets { proxy, tickets in
            let response = try await proxy.answer(
                to: .submission(
                    "/", body: "[\"~uuid~\"]", "Content-Type: application/json", "Prefer: respond-async, wait=0",
                    "Layover-After: 0123456789abcdef0123456789abcdef"))
            response.expectProblem(400, "unknown_ticket")
            try await proxy.becomesEmpty(tickets)
        }
    }
}
