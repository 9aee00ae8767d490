import LayoverCore
import LayoverEngine
import LayoverTestSupport
import Testing

@testable import LayoverProxy

/// Responses to clients of requests that a person settled.
struct SettledTests {
    private static let author = CommandAuthor(who: "admin", from: "127.0.0.1:5")
    private static let outcome = Settlement.Outcome(status: 201, note: "in the books")

    /// A ticket that may have been applied.
    private static func undecided(_ proxy: TestProxy) async throws -> EntryID {
        let (id, attempt) = try await proxy.ticketUnderWay(isMarked: true)
        attempt.beginSending().fail(.connectionTerminated, phase: .awaitingResponse, evidence: .maybeApplied)
        _ = try await proxy.until(id, is: .undecided)
        return id
    }

    private static func settle(_ id: EntryID, _ proxy: TestProxy) async {
        #expect(await proxy.engine.command(.settle, id, by: author, settled: outcome).0 == .done)
    }

    private static func expectSettled(_ id: EntryID, _ proxy: TestProxy) async throws {
        let document = try await proxy.ticket(id)
        #expect(document.member("state") == "delivered")
        #expect(document.body.contains("\"response\":null,\"settledBy\":{\"who\":\"admin\",\"from\":\"127.0.0.1:5\",\"at\":\""))
        #expect(document.body.contains("\"note\":\"in the books\",\"status\":201}}"))
        try await proxy.response(id).expectProblem(410, "settled")
    }

    @Test func ticketSaysWhoSettledItAndHasNoResponse() async throws {
        try await withProxy(tickets: TestStore()) { proxy in
            let id = try await Self.undecided(proxy)
            #expect(try await proxy.ticket(id).body.contains("settledBy") == false)
            await Self.settle(id, proxy)
            try await Self.expectSettled(id, proxy)
            try await proxy.advance(by: .seconds(600))
            try await proxy.expectAttempts(1)
            #expect(try await proxy.drop(id).status == 204)
            try await Self.expectSettled(id, proxy)
        }
    }

    @Test func settledTicketStaysSoOverARestart() async throws {
        let first = TestStore()
        var settled: EntryID?
        try await withProxy(tickets: first) { proxy in
            let id = try await Self.undecided(proxy)
            await Self.settle(id, proxy)
            settled = id
            try await first.settle()
        }
        let id = try #require(settled)
        try await withProxy(tickets: TestStore(after: first)) { proxy in
            try await Self.expectSettled(id, proxy)
            try await proxy.expectAttempts(0)
        }
    }

    @Test func heldClientIsToldThatThereIsNoResponse() async throws {
        let routes = RouteTable.standard { $0.onMaybeApplied = .ask }
        try await withProxy(configuration: { $0.routes = routes }) { proxy in
            let client = try await proxy.client(sending: .post("/", length: 3, body: "abc"))
            let id = try await proxy.parkNext().id
            await Self.settle(id, proxy)
            let response = try await client.answer().expectProblem(502, "settled")
            #expect(response.member("evidence") == "maybeApplied", "the client must not send it again")
            #expect(response.member("detail")?.hasSuffix("Its response is not known: in the books") == true)
            #expect(response["Retry-After"] == nil)
            try await proxy.advance(by: .seconds(600))
            try await proxy.expectAttempts(1)
        }
    }

    @Test func tokenOutOfASettledTicketIsRejectedByName() async throws {
        try await withProxy(tickets: TestStore()) { proxy in
            let parent = try await Self.undecided(proxy)
            let child = try await proxy.accept("/next/~ticket.\(parent).json.id~")
            let other = try await proxy.accept("/other", "Layover-After: \(parent)")
            await Self.settle(parent, proxy)
            let document = try await proxy.until(child, is: .undecided)
            #expect(document.member("why") == "rejected")
            #expect(
                document.body.contains(
                    "Ticket \(parent) was settled by a person, so its response is not known and provides no values."))
            try await proxy.answerNext("that of the child without tokens", of: other)
            try await proxy.expectAttempts(2)
        }
    }
}
