import LayoverCore
import LayoverEngine
import LayoverTestSupport
import Retry
import Testing

@testable import LayoverProxy

/// A policy says that its requests may be sent twice, and a reload takes that back, or says it only then.
struct VouchingTests {
    private static func routes(_ isRepeatable: Bool, _ preflight: Preflight? = nil) -> RouteTable {
        var policy = Policy(name: "default")
        policy.delay = DelaySchedule(.constant(.seconds(1)))
        policy.repeatable = isRepeatable
        policy.preflight = preflight
        return RouteTable(policies: ["default": policy])
    }

    private static func adopt(_ routes: RouteTable, _ proxy: TestProxy) async throws {
        try await proxy.reload { $0.routes = routes }
        try await proxy.settle()
    }

    @Test func heldRequestFailsWhenItsNewPolicyIsNotRepeatable() async throws {
        try await withProxy(configuration: { $0.routes = Self.routes(true) }) { proxy in
            let client = try await proxy.client(sending: .submission("/"))
            let attempt = try await proxy.nextAttempt()
            #expect(attempt.request.mayBeSentTwice)
            attempt.readBody().fail(
                .connectionTerminated, phase: .awaitingResponse, evidence: .maybeApplied)
            _ = try await proxy.entry()
            try await Self.adopt(Self.routes(false), proxy)
            let response = try await client.answer()
            #expect(response.status == 502)
            #expect(response.member("evidence") == "maybeApplied")
            #expect(response.values("Retry-After") == [])
            try await proxy.advance(by: .seconds(60))
            #expect(proxy.upstream.startedCount == 1)
        }
    }

    /// Nothing of the second attempt has left when its preflight is answered.
    @Test func ticketIsNotSentAgainAfterItsPreflightIfTheReloadForbidsIt() async throws {
        let routes = Self.routes(true, Preflight())
        try await withProxy(tickets: TestStore(), configuration: { $0.routes = routes }) { proxy in
            let id = try await proxy.accept()
            try await proxy.nextAttempt().respond(200)
            let first = try await proxy.nextAttempt("the first attempt")
            #expect(await first.mark())
            first.readBody().fail(.connectionTerminated, phase: .awaitingResponse, evidence: .maybeApplied)
            _ = try await proxy.until(id, is: .waiting)
            try await proxy.advance(by: .seconds(60))
            let question = try await proxy.nextAttempt("the preflight of the second attempt")
            #expect(question.request.method == "HEAD")
            try await Self.adopt(Self.routes(false, Preflight()), proxy)
            question.respond(200)
            _ = try await proxy.until(id, is: .undecided)
            #expect(await proxy.engine.entry(id)?.why == .maybeApplied)
            try await proxy.expectAttempts(3)
        }
    }

    /// The next attempt is repeatable or not as the reloaded policy says, in both directions.
    @Test(arguments: [true, false])
    func nextAttemptIsRepeatableAsTheReloadedPolicySays(isRepeatable: Bool) async throws {
        try await withProxy(configuration: { $0.routes = Self.routes(!isRepeatable) }) { proxy in
            _ = try await proxy.client(sending: .submission("/"))
            let first = try await proxy.nextAttempt()
            #expect(first.request.mayBeSentTwice == !isRepeatable)
            first.fail()
            _ = try await proxy.entry()
            try await Self.adopt(Self.routes(isRepeatable), proxy)
            try await proxy.advance(by: .seconds(60))
            let second = try await proxy.nextAttempt("after the reload")
            #expect(second.request.mayBeSentTwice == isRepeatable)
            second.respond(200, ["Content-Length: 0"])
            _ = try await proxy.entry(.delivered)
        }
    }
}
