import LayoverCore
import LayoverEngine
import LayoverTestSupport
import Retry
import Testing

@testable import LayoverProxy

/// A policy says that its requests may be sent twice, and a reload takes that back, or says it only then.
struct VouchingTests {
    private static func routes(_ isRepeatable: Bool, _ preflight: Preflight? = nil) -> RouteTable {
        .standard {
            $0.delay = DelaySchedule(.constant(.seconds(1)))
            $0.repeatable = isRepeatable
            $0.preflight = preflight
        }
    }

    @Test func heldRequestFailsWhenItsNewPolicyIsNotRepeatable() async throws {
        try await withAttempt(of: .submission("/"), configuration: { $0.routes = Self.routes(true) }) { proxy, client, attempt in
            #expect(attempt.request.mayBeSentTwice)
            attempt.readBody().fail(
                .connectionTerminated, phase: .awaitingResponse, evidence: .maybeApplied)
            _ = try await proxy.entry()
            try await proxy.adopt(Self.routes(false))
            #expect(try await client.answer().expectProblem(502, evidence: .maybeApplied).values("Retry-After") == [])
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
            let question = try await proxy.nextAttempt(after: .seconds(60), "the preflight of the second attempt")
            #expect(question.request.method == "HEAD")
            try await proxy.adopt(Self.routes(false, Preflight()))
            question.respond(200)
            _ = try await proxy.until(id, is: .undecided)
            #expect(await proxy.engine.entry(id)?.why == .maybeApplied)
            try await proxy.expectAttempts(3)
        }
    }

    /// The next attempt is repeatable or not as the reloaded policy says, in both directions.
    @Test(arguments: [true, false])
    func nextAttemptIsRepeatableAsTheReloadedPolicySays(isRepeatable: Bool) async throws {
        try await withAttempt(of: .submission("/"), configuration: { $0.routes = Self.routes(!isRepeatable) }) { proxy, _, first in
            #expect(first.request.mayBeSentTwice == !isRepeatable)
            first.fail()
            _ = try await proxy.entry()
            try await proxy.adopt(Self.routes(isRepeatable))
            let second = try await proxy.nextAttempt(after: .seconds(60), "after the reload")
            #expect(second.request.mayBeSentTwice == isRepeatable)
            second.respond(200, ["Content-Length: 0"])
            _ = try await proxy.entry(.delivered)
        }
    }
}
