import LayoverCore
import LayoverEngine
import LayoverTestSupport
import Testing

@testable import LayoverProxy

/// Requests that wait for the outcome of another request, and do not get it.
extension SimultaneousKeyTests {
    /// The client closed its side while the store was searched for the key.
    @Test func requestOfADepartedClientDoesNotJoin() async throws {
        try await withTickets { proxy, tickets in
            tickets.halt()
            let first = try await proxy.client(sending: .submission("/", Self.waits, Self.key))
            try await tickets.waitForWork()
            let second = try await proxy.client(sending: .submission("/", Self.waits, Self.key))
            try await second.closeOutput()
            #expect(try await second.ending().rest == "")
            tickets.goOn()
            try await proxy.nextAttempt().answerWell(201)
            #expect(try await first.answer().status == 201)
            try await proxy.expectAttempts(1)
        }
    }

    /// The response to the first request has begun, and its client takes it slowly or never: the request cannot
    /// become a ticket.
    @Test(arguments: [async, waits])
    func joinedRequestWaitsAtMostHoldMax(prefer: String) async throws {
        let table = RouteTable.standard { $0.holdMax = .milliseconds(300) }
        try await withProxy(tickets: TestStore(), configuration: { $0.routes = table }) { proxy in
            let first = try await client(proxy, .submission("/", Self.waits, Self.key))
            let attempt = try await proxy.nextSentAttempt()
            attempt.sendHead(200, ["Content-Length: 4"])
            #expect(try await first.text(12) == "HTTP/1.1 200")
            let response = try await proxy.answer(to: .submission("/", prefer, Self.key)).expectStatus(504)
            #expect(response["Retry-After"] != nil)
            #expect(response.member("evidence") == "neverSent")
            attempt.sendBody("made")
            attempt.finish()
            try await proxy.expectAttempts(1)
        }
    }
}
