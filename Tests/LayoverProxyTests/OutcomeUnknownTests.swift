import LayoverCore
import LayoverEngine
import LayoverTestSupport
import Retry
import Testing

@testable import LayoverProxy

/// A repetition is refused for a reason that an earlier attempt may have made itself: its response is not the request's.
struct OutcomeUnknownTests {
    private static func configuration(_ change: @escaping @Sendable (inout Policy) -> Void = { _ in }) -> (inout ProxyConfiguration) -> Void
    {
        {
            $0.routes = .standard {
                $0.delay = DelaySchedule(.constant(.seconds(1)))
                change(&$0)
            }
        }
    }

    private static func put(_ fields: String..., method: String = "PUT") -> String {
        "\(method) http://o.test/table/v2.json HTTP/1.1\r\nHost: o.test\r\nContent-Length: 3\r\n" + fields.map { $0 + "\r\n" }.joined()
            + "\r\nabc"
    }

    private static let create = "If-None-Match: *"

    /// The first attempt is sent whole and breaks before its response.
    private static func breakFirst(_ proxy: TestProxy) async throws {
        let first = try await proxy.nextAttempt()
        #expect(await first.mark())
        #expect(try await first.wholeBody() == "abc")
        first.fail(.connectionTerminated, phase: .awaitingResponse, evidence: .maybeApplied)
        _ = try await proxy.entry()
        try await proxy.advance(by: .seconds(1))
    }

    /// A client whose first attempt breaks, and the repetition.
    private static func withRepetition(
        of request: String = Self.put(Self.create), by change: @escaping @Sendable (inout Policy) -> Void = { _ in },
        _ test: (TestProxy, RawClient, ScriptedAttempt) async throws -> Void
    ) async throws {
        try await withProxy(configuration: configuration(change)) { proxy in
            // The body of a conflict is read for as long as a slow machine needs.
            let loop = proxy.loop
            try await loop.eventLoop.submit { loop.conflictCodeTime = .seconds(60) }.get()
            let client = try await proxy.client(sending: request)
            try await breakFirst(proxy)
            try await test(proxy, client, proxy.nextAttempt("the repetition"))
        }
    }

    private static let conflict = "<Error><Code>ConditionalRequestConflict</Code></Error>"

    // MARK: Held requests

    @Test(arguments: [
        (412, "If-None-Match: *"), (409, "If-None-Match: *"), (412, #"If-Match: "1""#), (412, "Overwrite: F"),
        (412, "x-goog-if-generation-match: 0"), (409, "x-amz-copy-source-if-match: 1"), (412, "Repeatability-First-Sent: x"),
    ])
    func repetitionThatIsRefusedLeavesTheOutcomeUnknown(status: Int, field: String) async throws {
        try await Self.withRepetition(of: Self.put(field)) { proxy, client, second in
            #expect(try await second.wholeBody() == "abc")
            second.respond(status, ["Content-Length: 6"], body: "exists")
            let response = try await client.answer().expectProblem(502, "outcome_unknown", evidence: .maybeApplied)
            #expect(response.member("attempts") == "2")
            #expect(response.member("receivedStatus") == "\(status)")
            #expect(response.member("detail")?.contains("status \(status)") == true)
            #expect(response["Proxy-Status"]?.contains("error=http_response_incomplete; received-status=\(status);") == true)
            #expect(response["Retry-After"] == nil)
            let ended = try await proxy.entry(.failed)
            #expect(ended.attempts.records.map(\.status) == [nil, status])
            #expect(ended.attempts.records.last?.verdict == .fail(.outcomeUnknown))
            try await proxy.expectAttempts(2)
        }
    }

    // MARK: The code of a conflict

    @Test func conflictCodeIsRepeatedUntilThereIsAnAnswer() async throws {
        try await Self.withRepetition { proxy, client, second in
            var attempt = second
            for number in 3...4 {
                attempt.sendHead(409, ["Content-Length: \(Self.conflict.utf8.count)"])
                attempt.sendBody(String(Self.conflict.prefix(20)))
                attempt.sendBody(String(Self.conflict.dropFirst(20)))
                attempt.finish()
                _ = try await proxy.entry()
                try await proxy.settle()
                #expect(client.received.value.totalCount == 0)
                attempt = try await proxy.nextAttempt(after: .seconds(1), "attempt \(number)")
            }
            attempt.respond(200, ["Content-Length: 4"], body: "done")
            #expect(try await client.answer().body == "done")
            try await proxy.expectAttempts(4)
        }
    }

    /// The policy allows a second sending of the POST until a reload, which comes before the next repetition.
    @Test func problemAfterAReloadThatForbidsTheNextRepetitionHasTheStatusOfTheLastOne() async throws {
        let request = Self.put(Self.create, method: "POST")
        try await Self.withRepetition(of: request, by: { $0.repeatable = true }) { proxy, client, second in
            second.respond(409, ["Content-Length: \(Self.conflict.utf8.count)"], body: Self.conflict)
            _ = try await proxy.entry()
            try await proxy.adopt(RouteTable())
            let response = try await client.answer().expectProblem(502, evidence: .maybeApplied)
            #expect(response.member("receivedStatus") == "409")
            try await proxy.expectAttempts(2)
        }
    }

    @Test(arguments: [false, true])
    func longBodyOrBrokenBodyHasNoCode(breaks: Bool) async throws {
        try await Self.withRepetition { _, client, attempt in
            attempt.sendHead(409, ["Content-Length: 5000"])
            if breaks {
                attempt.sendBody(Self.conflict)
                attempt.fail(.connectionTerminated, phase: .receiving, evidence: .answered)
            } else {
                attempt.sendBody(Self.conflict + String(repeating: " ", count: 4 << 10))
            }
            #expect(try await client.answer().member("kind") == "outcome_unknown")
            if !breaks { try await attempt.seen.wait("its end") { $0.isCancelled } }
        }
    }

    /// While the body is read for its code, the client is never given the response.
    @Test(arguments: ["draining", "cancelled", "outcome_unknown"])
    func endOfTheWaitWhileTheCodeIsReadIs502(kind: String) async throws {
        try await Self.withRepetition { proxy, client, attempt in
            attempt.sendHead(409, ["Content-Length: 100"])
            attempt.sendBody("<Error>")
            try await proxy.settle()
            let entry = try await proxy.entry(.attempting)
            switch kind {
            case "draining":
                await proxy.engine.drain()
                await proxy.server.drain(within: .zero)
            case "cancelled": _ = await proxy.engine.command(.cancel, entry.id)
            default: _ = await proxy.engine.command(.abort, entry.id)
            }
            try await client.answer().expectProblem(502, kind, evidence: .maybeApplied)
        }
    }

    // MARK: Undecided requests and tickets

    @Test(arguments: [nil, Policy.MaybeAppliedRule.fail])
    func ticketIsUndecidedOrFailed(rule: Policy.MaybeAppliedRule?) async throws {
        let tickets = TestStore()
        try await withProxy(tickets: tickets, configuration: Self.configuration { $0.onMaybeApplied = rule }) { proxy in
            let accepted = try await proxy.answer(to: Self.put(Self.create, "Layover-Mode: defer"))
            let id = try #require(accepted.ticket)
            try await Self.breakFirst(proxy)
            let second = try await proxy.nextAttempt("the repetition")
            #expect(await second.mark())
            second.respond(412, ["Content-Length: 0"])
            let ended = try await proxy.until(id, is: rule == .fail ? .failed : .undecided)
            #expect(ended.body.contains(#""kind":"outcome_unknown""#))
            if rule == nil { #expect(ended.member("why") == "maybeApplied") }
            #expect(try await proxy.response(id).status != 412)
            try await proxy.expectAttempts(2)
        }
    }

    /// The client has left during the repetition, and another one with the same key waits for its outcome.
    @Test func requestsWithTheSameKeyGetTheProblem() async throws {
        try await withProxy(tickets: TestStore(), configuration: Self.configuration()) { proxy in
            let request = Self.put(Self.create, "Idempotency-Key: k", "Prefer: respond-async, wait=600")
            let first = try await proxy.client(sending: request)
            try await Self.breakFirst(proxy)
            let repetition = try await proxy.nextAttempt("the repetition").beginSending()
            // Until it waits for the outcome of the first one.
            let second = try await SimultaneousKeyTests().client(proxy, request)
            first.close()
            try await eventually("the first client to be gone") {
                try await proxy.settle()
                return proxy.openConnectionCount() == 1
            }
            repetition.respond(412, ["Content-Length: 0"])
            try await second.answer().expectProblem(502, "outcome_unknown")
            try await proxy.expectAttempts(2)
        }
    }
}
