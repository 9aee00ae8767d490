import LayoverCore
import LayoverEngine
import LayoverTestSupport
import Testing

@testable import LayoverProxy

/// `Idempotency-Key` on acceptance.
struct IdempotencyTests {
    private static let async = "Prefer: respond-async, wait=0"
    private static let key = "Idempotency-Key: k-1"

    @Test func repeatedRequestWithAKeyGetsTheSameTicket() async throws {
        try await withTickets(configuration: { $0.body.inMemoryMax = 10 }) { proxy, tickets in
            let body = String(repeating: "x", count: 1000)
            let first = try await proxy.answer(to: .submission("/a", body: body, Self.async, Self.key))
            let second = try await proxy.answer(to: .submission("/a", body: body, Self.async, Self.key))
            #expect(first.status == 202)
            #expect(second.status == 202)
            #expect(first.ticket == second.ticket)
            let id = try #require(first.ticket)
            try await eventually("the file of the request") { tickets.files == ["\(id).request"] }
            let attempt = try await proxy.nextAttempt()
            #expect(attempt.values("Idempotency-Key") == ["k-1"])
            try await attempt.answerWell()
            _ = try await proxy.until(id, is: .delivered)
            let third = try await proxy.answer(to: .submission("/a", body: body, Self.async, Self.key))
            #expect(third.ticket == id, "long after, too")
            #expect(third.member("state") == "delivered", "and it is told how it stands")
            try await proxy.expectAttempts(1)
        }
    }

    @Test(arguments: [
        [key, "Idempotency-Key: k-2"], [key, key], ["Idempotency-Key:"], ["Idempotency-Key: \"\""],
    ])
    func invalidKeyIsRefusedOnlyForTickets(lines: [String]) async throws {
        try await withProxy(tickets: TestStore()) { proxy in
            let fields = lines.joined(separator: "\r\n")
            for wanted in [Self.async, "Prefer: respond-async, wait=5", "Prefer: respond-async", "Layover-Mode: defer"] {
                try await proxy.answer(to: .submission("/", wanted, fields)).expectProblem(400, "idempotency_key")
            }
            let client = try await proxy.client(sending: .submission("/", fields))
            let attempt = try await proxy.nextAttempt()
            #expect(attempt.fields.count { $0.hasPrefix("Idempotency-Key") } == lines.count, "as it came")
            try await attempt.answerWell()
            #expect(try await client.answer().status == 200)
        }
    }

    @Test(arguments: [
        String.submission("/a", body: "other", async, key), .submission("/b", async, key),
        "PUT http://o.test/a HTTP/1.1\r\nHost: o\r\nContent-Length: 3\r\n\(async)\r\n\(key)\r\n\r\nabc",
        .submission("/a", body: "", async, key),
    ])
    func keyReusedForAnotherRequestIs422(other: String) async throws {
        try await withProxy(tickets: TestStore()) { proxy in
            let id = try #require(try await proxy.answer(to: .submission("/a", Self.async, Self.key)).ticket)
            try await proxy.answer(to: other).expectProblem(422, "idempotency_key_reused")
            try await proxy.answerNext(of: id)
            try await proxy.expectAttempts(1)
        }
    }

    @Test(arguments: [
        ("Authorization: Bearer a", "Authorization: Bearer b"), ("X: 1", "Authorization: Bearer b"), ("Authorization: Bearer a", "X: 1"),
        ("Cookie: session=a", "Cookie: session=b"), ("Cookie: a", "X: 1"), ("X: 1", "Cookie: a"), ("X-Api-Key: a", "X-Api-Key: b"),
        ("Cookie: a\r\nCookie: b", "Cookie: a"), ("Authorization: a", "Cookie: a"), ("X-Mine: a", "X-Mine: b"),
        ("Proxy-Authorization: Basic YTph", "Proxy-Authorization: Basic YjpI"),
    ])
    func keyOfAnotherClientGivesNoAccessToItsTicket(mine: String, theirs: String) async throws {
        try await withProxy(
            script: { $0.respondOnceSent(200) }, tickets: TestStore(), configuration: { $0.identityFields = ["X-Mine"] }
        ) { proxy in
            let first = try await proxy.answer(to: .submission("/a", Self.async, Self.key, mine))
            let second = try await proxy.answer(to: .submission("/a", Self.async, Self.key, theirs)).expectStatus(202)
            #expect(first.ticket != second.ticket)
        }
    }

    @Test func equalKeyForAnotherOriginGetsItsOwnTicket() async throws {
        try await withProxy(script: { $0.respondOnceSent(200) }, tickets: TestStore()) { proxy in
            let first = try await proxy.answer(to: .submission("/a", Self.async, Self.key))
            let second = try await proxy.answer(
                to: "POST http://p.test/a HTTP/1.1\r\nHost: p\r\nContent-Length: 3\r\n\(Self.async)\r\n\(Self.key)\r\n\r\nabc")
            #expect(second.status == 202)
            #expect(first.ticket != second.ticket)
        }
    }

    @Test func equalRequestsGetOneTicketWhileTheFirstIsBeingStored() async throws {
        try await withTickets { proxy, tickets in
            tickets.halt()
            let clients = [
                try await proxy.client(sending: .submission("/", Self.async, Self.key)),
                try await proxy.client(sending: .submission("/", Self.async, Self.key)),
            ]
            try await tickets.waitForWork()
            try await proxy.settle()
            tickets.goOn()
            var ids: Set<EntryID> = []
            for client in clients { ids.insert(try #require(try await client.answer().ticket)) }
            #expect(ids.count == 1)
            try await proxy.nextAttempt().answerWell()
            try await proxy.expectAttempts(1)
        }
    }

    @Test(arguments: ["abc", "other"])
    func storeIsSearchedForTheKeyBeforeTheFirstAttempt(body: String) async throws {
        try await withProxy(tickets: TestStore()) { proxy in
            let id = try #require(try await proxy.answer(to: .submission("/", Self.async, Self.key)).ticket)
            try await proxy.nextAttempt().fail()
            let client = try await proxy.client(
                sending: .submission("/", body: body, "Prefer: respond-async, wait=600", Self.key))
            let response = try await client.answer("an answer before any attempt").expectStatus(body == "abc" ? 202 : 422)
            #expect(response.ticket == (body == "abc" ? id : nil))
            if body == "other" { #expect(response.member("kind") == "idempotency_key_reused") }
            try await proxy.expectAttempts(1)
        }
    }

    @Test func bodyIsReadCompletelyIfTheKeyIsKnown() async throws {
        try await withProxy(
            tickets: TestStore(),
            configuration: {
                $0.body.inMemoryMax = 10
                $0.body.windowMax = 20
            }
        ) { proxy in
            let body = String(repeating: "x", count: 1000)
            let id = try #require(try await proxy.answer(to: .submission("/", body: body, Self.async, Self.key)).ticket)
            try await proxy.nextAttempt().fail()
            let client = try await proxy.client(
                sending: "POST http://o.test/ HTTP/1.1\r\nHost: o\r\nContent-Length: 1000\r\nExpect: 100-continue\r\n"
                    + "Prefer: respond-async, wait=600\r\n\(Self.key)\r\n\r\n")
            #expect(try await client.answer("word to go on").status == 100)
            try await client.send(body)
            let response = try await client.answer().expectStatus(202)
            #expect(response.ticket == id)
            try await proxy.expectAttempts(1)
        }
    }

    /// A ticket that was never announced must not be the response to a later request of the client.
    @Test func ticketNeverAnnouncedIsNotGivenToALaterRequest() async throws {
        try await withTickets { proxy, tickets in
            let client = try await proxy.client(sending: .submission("/", "Prefer: respond-async, wait=600", Self.key))
            let first = try await proxy.nextAttempt()
            tickets.halt()
            first.fail()
            let entry = try await proxy.entry()
            try await proxy.endWait()
            try await tickets.waitForWork()
            client.close()
            _ = try await proxy.entry(.cancelled)
            tickets.goOn()
            let id = try await proxy.answer(to: .submission("/", Self.async, Self.key)).expectTicket()
            #expect(id != entry.id)
            _ = await proxy.engine.command(.retry, id)
            try await proxy.answerNext("the attempt of the new ticket", of: id)
        }
    }

    @Test func responseBeforeTheTicketIsStoredLeavesTheKeyFree() async throws {
        try await withTickets { proxy, tickets in
            let client = try await proxy.client(sending: .submission("/", "Prefer: respond-async, wait=600", Self.key))
            let attempt = try await proxy.nextAttempt()
            tickets.halt()
            _ = try await attempt.wholeBody()
            try await proxy.endWait()
            try await tickets.waitForWork()
            attempt.respond(500, ["Content-Length: 0"])
            #expect(try await client.answer().status == 500)
            tickets.goOn()
            let id = try #require(try await proxy.answer(to: .submission("/", Self.async, Self.key)).ticket)
            try await proxy.answerNext("the attempt of a ticket of its own", of: id)
        }
    }

    @Test func keyAddedByARouteIsTheSameForAllAttemptsOfOneRequest() async throws {
        try await withProxy(
            tickets: TestStore(),
            configuration: { configuration in
                var route = Route(name: "r", policy: .standard)
                route.addFields = [.init(name: "Idempotency-Key", value: "~uuid~")]
                configuration.routes = RouteTable(routes: [route])
            }
        ) { proxy in
            let first = try #require(try await proxy.answer(to: .submission("/", Self.async)).ticket)
            let attempt = try await proxy.nextAttempt()
            let key = attempt.values("Idempotency-Key")
            #expect(key.first?.count == 36)
            _ = await attempt.mark()
            _ = try await attempt.wholeBody()
            attempt.fail(.connectionTerminated, phase: .awaitingResponse, evidence: .maybeApplied)
            _ = try await proxy.until(first, is: .waiting)
            let second = try await proxy.retry(first)
            #expect(second.values("Idempotency-Key") == key)
            try await second.answerWell()
            let other = try await proxy.answer(to: .submission("/", Self.async))
            #expect(other.ticket != first)
            let third = try await proxy.nextAttempt()
            #expect(third.values("Idempotency-Key") != key)
            try await third.answerWell()
        }
    }
}
