import LayoverCore
import LayoverEngine
import LayoverTestSupport
import Testing

@testable import LayoverProxy

/// Requests with one new `Idempotency-Key` at the same time: one goes, equal ones get its outcome, others a 422.
struct SimultaneousKeyTests {
    static let async = "Prefer: respond-async, wait=0"
    static let waits = "Prefer: respond-async, wait=600"
    static let key = "Idempotency-Key: k-1"

    /// Sends it on a connection of its own, and waits until the proxy has heard of it.
    func client(_ proxy: TestProxy, _ request: String) async throws -> RawClient {
        let count = proxy.loop.metrics.requestCount.current
        let client = try await proxy.client(sending: request)
        try await eventually("the request") { proxy.loop.metrics.requestCount.current != count }
        for _ in 0..<2 {
            try await proxy.settle()
            try await proxy.tickets?.settle()
        }
        try await proxy.settle()
        return client
    }

    @Test(arguments: [nil, TestStore()])
    func equalRequestsGetTheResponseOfTheFirst(tickets: TestStore?) async throws {
        try await withProxy(tickets: tickets) { proxy in
            let first = try await client(proxy, .submission("/", Self.waits, Self.key))
            let attempt = try await proxy.nextAttempt()
            let others = [
                try await client(proxy, .submission("/", Self.waits, Self.key)),
                try await client(proxy, .submission("/", Self.waits, Self.key)),
            ]
            #expect(attempt.values("Idempotency-Key") == ["k-1"])
            try await attempt.answerWell(201, ["X-Order: 7"], body: "made")
            for client in [first] + others {
                let response = try await client.answer().expectStatus(201)
                #expect(response["X-Order"] == "7")
                #expect(response.body == "made")
                #expect(response["Via"] == "1.1 layover-0a1b2c3d")
            }
            try await proxy.expectAttempts(1)
            #expect(await proxy.engine.liveEntries().isEmpty)
            try await others[0].send(.submission("/next", Self.waits, "Idempotency-Key: k-2"))
            try await proxy.nextAttempt().answerWell(204)
            #expect(try await others[0].answer().status == 204, "the connection lives on")
        }
    }

    @Test func sharedResponseInAFileIsReadByAll() async throws {
        let body = String(repeating: "0123456789", count: 50_000)
        try await withProxy(tickets: TestStore(), configuration: { $0.body.inMemoryMax = 1000 }) { proxy in
            let first = try await client(proxy, .submission("/", Self.waits, Self.key))
            let attempt = try await proxy.nextAttempt()
            let second = try await client(proxy, .submission("/", Self.waits, Self.key))
            let third = try await client(proxy, .submission("/", Self.waits, Self.key))
            try await attempt.answerWell(200, body: body)
            for client in [first, second, third] { #expect(try await client.answer().body == body) }
            #expect(proxy.tickets?.files == [])
        }
    }

    @Test func joinedRequestGets507IfTheResponseIsTooLongToKeep() async throws {
        try await withProxy(
            tickets: TestStore(),
            configuration: {
                $0.body.byteCountMax = 10
                $0.body.inMemoryMax = 10
            }
        ) { proxy in
            let first = try await client(proxy, .submission("/", Self.waits, Self.key))
            let attempt = try await proxy.nextAttempt()
            let second = try await client(proxy, .submission("/", Self.waits, Self.key))
            _ = try await attempt.wholeBody()
            attempt.sendHead(200, ["Content-Length: 1000"])
            attempt.sendBody(String(repeating: "x", count: 1000))
            for _ in 0..<3 { try await proxy.settle() }
            attempt.finish()
            #expect(try await first.answer().body.utf8.count == 1000)
            try await second.answer().expectProblem(507, "answer_not_kept")
            try await proxy.expectAttempts(1)
        }
    }

    @Test func nextRequestIsSentWhenTheFirstClientLeaves() async throws {
        try await withProxy(tickets: TestStore()) { proxy in
            let first = try await client(proxy, .submission("/", Self.waits, Self.key))
            try await proxy.parkNext()
            let second = try await client(proxy, .submission("/", Self.waits, Self.key))
            first.close()
            _ = try await proxy.entry(.cancelled)
            try await proxy.nextAttempt("the attempt of the second").answerWell(201)
            #expect(try await second.answer().status == 201)
            try await proxy.expectAttempts(2)
        }
    }

    /// The client gave up long before the origin answers, and repeats its request: the attempt becomes one of a ticket.
    @Test func attemptWithoutAClientBecomesATicketForTheOthers() async throws {
        try await withProxy(tickets: TestStore()) { proxy in
            let first = try await client(proxy, .submission("/", Self.waits, Self.key))
            let attempt = try await proxy.nextSentAttempt()
            try await first.reset()
            try await eventually("the connections to close") { proxy.openConnectionCount() == 0 }
            for prefer in [Self.async, "Prefer: respond-async, wait=1"] {
                let response = try await proxy.answer(to: .submission("/", prefer, Self.key)).expectStatus(202)
                let id = try #require(response.ticket)
                guard prefer != Self.async else { continue }
                attempt.respond(201, ["Content-Length: 4"], body: "made")
                _ = try await proxy.until(id, is: .delivered)
                #expect(try await proxy.response(id).body == "made")
            }
            try await proxy.expectAttempts(1)
        }
    }

    /// The origin is quicker than the disk.
    @Test func sharedResponseMayArriveBeforeTheTicketIsStored() async throws {
        try await withTickets { proxy, tickets in
            let first = try await client(proxy, .submission("/", Self.waits, Self.key))
            let attempt = try await proxy.nextSentAttempt()
            try await first.reset()
            try await eventually("the connections to close") { proxy.openConnectionCount() == 0 }
            tickets.halt()
            let second = try await proxy.client(sending: .submission("/", "Prefer: respond-async, wait=600", Self.key))
            try await eventually("the second request") { proxy.loop.metrics.requestCount.current >= 2 }
            try await proxy.settle()
            let third = try await proxy.client(sending: .submission("/", Self.async, Self.key))
            try await tickets.waitForWork()
            attempt.respond(201, ["Content-Length: 4"], body: "made")
            try await proxy.settle()
            tickets.goOn()
            for client in [second, third] {
                let response = try await client.answer().expectStatus(202)
                let id = try #require(response.ticket)
                _ = try await proxy.until(id, is: .delivered)
                #expect(try await proxy.response(id).body == "made")
            }
            try await proxy.expectAttempts(1)
        }
    }

    /// A request that the store refuses was never sent: the next one that needs no store is sent.
    @Test func nextRequestIsSentWhenTheFirstCannotBeAccepted() async throws {
        let unknown = "Layover-After: 0123456789abcdef0123456789abcdef"
        try await withTickets { proxy, tickets in
            tickets.halt()
            let first = try await proxy.client(sending: .submission("/", Self.async, Self.key, unknown))
            try await tickets.waitForWork()
            let second = try await proxy.client(sending: .submission("/", Self.waits, Self.key))
            try await eventually("the second request") { proxy.loop.metrics.requestCount.current >= 2 }
            tickets.goOn()
            #expect(try await first.answer().status == 400)
            try await proxy.nextAttempt().answerWell(201)
            #expect(try await second.answer().status == 201)
        }
    }

    /// Two users of one origin, whose credentials two routes set.
    @Test func keysOfRoutesThatSetFieldsAreSeparate() async throws {
        func routes(_ configuration: inout ProxyConfiguration) {
            configuration.routes = RouteTable(
                routes: ["alice", "bob"].map { name in
                    var route = Route(name: name, policy: .standard)
                    route.upstream = .init(origin: Origin(scheme: .http, host: "o.test", port: 80), basePath: "")
                    route.setFields = [.init(name: "Authorization", value: "Bearer \(name)")]
                    return route
                })
        }
        try await withProxy(tickets: TestStore(), configuration: routes) { proxy in
            func request(_ name: String) -> String {
                "POST /.layover/route/\(name)/orders HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\(Self.waits)\r\n\(Self.key)\r\n\r\nabc"
            }
            let clients = [try await client(proxy, request("alice")), try await client(proxy, request("bob"))]
            for (client, name) in zip(clients, ["alice", "bob"]) {
                let attempt = try await proxy.nextAttempt("the order of \(name)")
                #expect(attempt.values("Authorization") == ["Bearer \(name)"])
                try await attempt.answerWell(201, body: name)
                #expect(try await client.answer().body == name)
            }
        }
    }

    @Test func cancelAppliesToAllRequestsOfAKey() async throws {
        try await withProxy(tickets: TestStore()) { proxy in
            let first = try await client(proxy, .submission("/", Self.waits, Self.key))
            let entry = try await proxy.parkNext()
            let second = try await client(proxy, .submission("/", Self.waits, Self.key))
            _ = await proxy.engine.command(.cancel, entry.id)
            for client in [first, second] {
                try await client.answer().expectProblem(503, "cancelled")
            }
            try await proxy.expectAttempts(1)
        }
    }

    @Test(arguments: [async, "Prefer: respond-async, wait=1", "Layover-Mode: defer"])
    func firstRequestBecomesATicketWhenAnotherCannotWait(prefer: String) async throws {
        try await withProxy(tickets: TestStore()) { proxy in
            let first = try await client(proxy, .submission("/", Self.waits, Self.key))
            let attempt = try await proxy.nextSentAttempt()
            let id = try await proxy.answer(to: .submission("/", prefer, Self.key)).expectTicket()
            #expect(try await first.answer().ticket == id)
            attempt.respond(201, ["Content-Length: 4"], body: "made")
            _ = try await proxy.until(id, is: .delivered)
            #expect(try await proxy.response(id).body == "made")
            try await proxy.expectAttempts(1)
        }
    }

    @Test func arrivingBodyIsComparedAtItsEnd() async throws {
        try await withProxy(tickets: TestStore()) { proxy in
            let head =
                "POST http://o.test/ HTTP/1.1\r\nHost: o\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\(Self.waits)\r\n\(Self.key)\r\n\r\n"
            let first = try await client(proxy, .submission("/", Self.waits, Self.key))
            let attempt = try await proxy.nextAttempt()
            let equal = try await client(proxy, head)
            let other = try await client(proxy, head)
            #expect(try await equal.answer("word to go on").status == 100)
            #expect(try await other.answer("word to go on").status == 100)
            try await other.send("xyz")
            try await other.answer().expectProblem(422, "idempotency_key_reused")
            try await attempt.answerWell(201)
            #expect(try await first.answer().status == 201)
            try await equal.send("abc")
            #expect(try await equal.answer().status == 201)
            try await proxy.expectAttempts(1)
        }
    }

    @Test func requestAboveTheLimitOfHeldClientsDoesNotJoin() async throws {
        var limits = PendingLimits()
        limits.heldClientCountMax = 1
        try await withProxy(limits: limits, tickets: TestStore()) { proxy in
            _ = try await client(proxy, .submission("/", Self.waits, Self.key))
            let attempt = try await proxy.nextAttempt()
            let second = try await client(proxy, .submission("/", Self.waits, Self.key))
            let third = try await proxy.answer(to: .submission("/", Self.waits, Self.key)).expectStatus(503)
            #expect(third.body.contains("limits.heldClients"))
            try await attempt.answerWell(201)
            #expect(try await second.answer().status == 201)
        }
    }

    @Test func allRequestsOfAKeyGetOneTicketWhenTheProxyStops() async throws {
        try await withProxy(tickets: TestStore()) { proxy in
            let first = try await client(proxy, .submission("/", Self.waits, Self.key))
            _ = try await proxy.nextSentAttempt()
            let second = try await client(proxy, .submission("/", Self.waits, Self.key))
            await proxy.engine.drain()
            await proxy.server.drain(within: .zero)
            let id = try #require(try await first.answer().ticket)
            #expect(try await second.answer().ticket == id)
        }
    }

    /// A client that takes no tickets only asked for forwarding to the origin.
    @Test func requestsWithoutTicketsDoNotShareAKey() async throws {
        try await withProxy(tickets: TestStore()) { proxy in
            let clients = [
                try await client(proxy, .submission("/", Self.key)), try await client(proxy, .submission("/", Self.key)),
            ]
            for _ in clients { try await proxy.nextAttempt().answerWell(200) }
            for client in clients { #expect(try await client.answer().status == 200) }
        }
    }
}
