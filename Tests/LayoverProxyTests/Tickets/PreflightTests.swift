import LayoverCore
import LayoverEngine
import LayoverTestSupport
import Testing

@testable import LayoverProxy

/// The origin is asked before a ticket is sent to it.
struct PreflightTests {
    private static func withPreflight(_ test: (TestProxy) async throws -> Void) async throws {
        let table = RouteTable.standard { $0.preflight = Preflight() }
        try await withProxy(tickets: TestStore(), configuration: { $0.routes = table }) { try await test($0) }
    }

    @Test func preflightHasNoBodyAndNoStartRecord() async throws {
        try await Self.withPreflight { proxy in
            let id = try await proxy.accept("/x", "Content-Type: text/plain", "Idempotency-Key: k", "X-A: 1")
            let question = try await proxy.nextAttempt()
            #expect(question.request.method == "HEAD")
            #expect(question.request.framing == .none)
            #expect(question.attempt.permit == nil)
            #expect(question.values("X-A") == ["1"])
            #expect(question.values("Content-Type").isEmpty)
            #expect(question.values("Content-Length").isEmpty)
            #expect(question.values("Idempotency-Key").isEmpty)
            question.respond(200)
            let attempt = try await proxy.nextAttempt("the request itself")
            #expect(attempt.request.method == "POST")
            try await attempt.answerWell()
            #expect(try await proxy.until(id, is: .delivered).member("attempts") == "1")
        }
    }

    @Test(arguments: [(404, EntryState.cancelled), (412, .undecided)])
    func preflightStatusDecidesTheTicket(status: Int, state: EntryState) async throws {
        try await Self.withPreflight { proxy in
            let id = try await proxy.accept()
            try await proxy.nextAttempt().respond(status)
            _ = try await proxy.until(id, is: state)
            try await proxy.expectAttempts(1)
        }
    }

    /// A parent proxy that refuses our credentials has not forwarded the preflight.
    @Test func refusalByAParentProxyIsNotAnAnswerOfTheOrigin() async throws {
        var policy = Policy.standard
        policy.preflight = Preflight()
        policy.preflight?.dropOn = [404, 407]
        var route = Route(name: "r", policy: policy)
        route.host = .exact("o.test")
        route.way = .through(ParentProxy(scheme: .http, host: "parent.test", port: 3128, user: "me", password: "old"))
        let table = RouteTable(policies: ["default": policy], routes: [route])
        try await withProxy(tickets: TestStore(), configuration: { $0.routes = table }) { proxy in
            let id = try await proxy.accept()
            try await proxy.nextAttempt().respond(407)
            _ = try await proxy.until(id, is: .waiting)
            #expect(try await proxy.entry(.waiting).lastFailure == .parentProxyCredentialsRefused(remoteAddress: nil))
        }
    }

    /// A person who has seen the answer of the preflight and retries the ticket is not asked again.
    @Test func retryByAPersonAfterAPreflightSendsTheRequest() async throws {
        try await Self.withPreflight { proxy in
            let id = try await proxy.accept()
            try await proxy.nextAttempt().respond(412)
            _ = try await proxy.until(id, is: .undecided)
            let attempt = try await proxy.retry(id)
            #expect(attempt.request.method == "POST")
            attempt.fail()
            _ = try await proxy.until(id, is: .waiting)
            _ = await proxy.engine.command(.retry, id)
            #expect(try await proxy.nextAttempt().request.method == "HEAD", "what failed otherwise is asked about")
        }
    }

    @Test func ticketCancelledDuringItsPreflightWasNotSent() async throws {
        try await Self.withPreflight { proxy in
            let (id, question) = try await proxy.ticketUnderWay()
            question.beginSending()
            #expect(try await proxy.drop(id).status == 204)
            try await question.seen.wait("the end of the question") { $0.isOver }
            try await proxy.settle()
            #expect(await proxy.engine.entry(id)?.lastFailure?.evidence != .maybeApplied)
        }
    }
}
