import LayoverCore
import LayoverEngine
import LayoverTestSupport
import Testing

@testable import LayoverProxy

/// The time to finish is over (`timeouts.drain`): nobody is left without a word.
struct CutOffTests {
    private static func stop(_ proxy: TestProxy) async {
        await proxy.engine.drain()
        await proxy.server.drain(within: .zero)
    }

    @Test func clientThatAcceptsTicketsGetsOneWhileItsAttemptRuns() async throws {
        try await withTickets { proxy, tickets in
            let client = try await proxy.client(sending: .submission("/", "Prefer: respond-async, wait=600"))
            _ = try await proxy.nextSentAttempt()
            await Self.stop(proxy)
            let id = try await client.answer("a ticket").expectTicket()
            try await tickets.settle()
            let record = try #require(try await tickets.record(of: id))
            #expect(!record.state.isFinal)
            #expect(try await tickets.request(of: id)?.body == .inline(.init(string: "abc")))
        }
    }

    /// The client accepts no ticket, or its ticket is not stored.
    @Test(arguments: [("X: 1", true), ("X: 1", false), ("Prefer: respond-async, wait=600", true)])
    func clientWithoutATicketGetsAProblem(field: String, isSent: Bool) async throws {
        try await withAttempt(of: .submission("/", field), tickets: TestStore(failing: 1...100_000)) { proxy, client, attempt in
            if isSent { _ = try await attempt.wholeBody() }
            await Self.stop(proxy)
            let response = try await client.answer("word that the proxy stops").expectStatus(isSent ? 502 : 503)
            #expect((response["Retry-After"] != nil) == !isSent)
            #expect(response.member("kind") == "draining")
            #expect(response.member("evidence") == (isSent ? "maybeApplied" : "neverSent"))
        }
    }
}
