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
        { configuration in
            var policy = Policy.standard
            policy.delay = DelaySchedule(.constant(.seconds(1)))
            change(&policy)
            configuration.routes = RouteTable(policies: ["default": policy])
        }
    }

    private static func put(_ fields: String...) -> String {
        "PUT http://o.test/table/v2.json HTTP/1.1\r\nHost: o.test\r\nContent-Length: 3\r\n" + fields.map { $0 + "\r\n" }.joined()
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

    /// The body of a conflict is read for as long as a slow machine needs.
    private static func readCodesPatiently(_ proxy: TestProxy) async throws {
        let loop = proxy.loop
        try await loop.eventLoop.submit { loop.conflictCodeTime = .seconds(60) }.get()
    }

    private static let conflict = "<Error><Code>ConditionalRequestConflict</Code></Error>"

    // MARK: Held requests

    @Test(arguments: [
        (412, "If-None-Match: *"), (409, "If-None-Match: *"), (412, #"If-Match: "1""#), (412, "Overwrite: F"),
        (412, "x-goog-if-generation-match: 0"), (409, "x-amz-copy-source-if-match: 1"), (412, "Repeatability-First-Sent: x"),
    ])
    func repetitionThatIsRefusedLeavesTheOutcomeUnknown(status: Int, field: String) async throws {
        try await withProxy(configuration: Self.configuration()) { proxy in
            let client = try await proxy.client(sending: Self.put(field))
            try await Self.breakFirst(proxy)
            let second = try await proxy.nextAttempt("the repetition")
            #expect(try await second.wholeBody() == "abc")
            second.respond(status, ["Content-Length: 6"], body: "exists")
            let response = try await client.answer()
            #expect(response.status == 502)
            #expect(response.member("kind") == "outcome_unknown")
            #expect(response.member("evidence") == "maybeApplied")
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

    @Test(arguments: [
        (412, "X-Other: 1", 200), (412, "If-None-Match: *", 200), (412, "If-None-Match: *", 201), (412, "If-None-Match: *", 404),
    ])
    func otherResponsesAreDelivered(refusal: Int, field: String, status: Int) async throws {
        try await withProxy(configuration: Self.configuration()) { proxy in
            let client = try await proxy.client(sending: Self.put(field))
            try await Self.breakFirst(proxy)
            let status = field == "X-Other: 1" ? refusal : status
            try await proxy.nextAttempt("the repetition").respond(status, ["Content-Length: 2"], body: "ok")
            let response = try await client.answer()
            #expect(response.status == status && response.body == "ok")
        }
    }

    /// The kept connection was dead, and the same attempt is made on a new one, also in the mode `pass`.
    @Test(arguments: ["", "Layover-Mode: pass\r\n"])
    func repetitionOnANewConnectionIsJudgedToo(field: String) async throws {
        try await withProxy(configuration: Self.configuration()) { proxy in
            let client = try await proxy.client(
                sending: "PUT http://o.test/ HTTP/1.1\r\nHost: o\r\n\(field)If-None-Match: *\r\nContent-Length: 0\r\n\r\n")
            try await proxy.nextAttempt().beginSending()
                .fail(.connectionTerminated, phase: .awaitingResponse, evidence: .maybeApplied, reusedConnection: true)
            try await proxy.nextAttempt("on a new connection").respond(412, ["Content-Length: 0"])
            let response = try await client.answer()
            #expect(response.status == 502 && response.member("kind") == "outcome_unknown")
        }
    }

    // MARK: The code of a conflict

    @Test func conflictCodeIsRepeatedUntilThereIsAnAnswer() async throws {
        try await withProxy(configuration: Self.configuration()) { proxy in
            try await Self.readCodesPatiently(proxy)
            let client = try await proxy.client(sending: Self.put(Self.create))
            try await Self.breakFirst(proxy)
            for number in 2...3 {
                let attempt = try await proxy.nextAttempt("attempt \(number)")
                attempt.sendHead(409, ["Content-Length: \(Self.conflict.utf8.count)"])
                attempt.sendBody(String(Self.conflict.prefix(20)))
                attempt.sendBody(String(Self.conflict.dropFirst(20)))
                attempt.finish()
                _ = try await proxy.entry()
                try await proxy.settle()
                #expect(client.received.value.totalCount == 0)
                try await proxy.advance(by: .seconds(1))
            }
            try await proxy.nextAttempt("the last one").respond(200, ["Content-Length: 4"], body: "done")
            #expect(try await client.answer().body == "done")
            try await proxy.expectAttempts(4)
        }
    }

    @Test(arguments: [false, true])
    func longBodyOrBrokenBodyHasNoCode(breaks: Bool) async throws {
        try await withProxy(configuration: Self.configuration()) { proxy in
            try await Self.readCodesPatiently(proxy)
            let client = try await proxy.client(sending: Self.put(Self.create))
            try await Self.breakFirst(proxy)
            let attempt = try await proxy.nextAttempt("the repetition")
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
    @Test(arguments: [false, true])
    func endOfTheWaitWhileTheCodeIsReadIs502(drains: Bool) async throws {
        try await withProxy(configuration: Self.configuration()) { proxy in
            try await Self.readCodesPatiently(proxy)
            let client = try await proxy.client(sending: Self.put(Self.create))
            try await Self.breakFirst(proxy)
            let attempt = try await proxy.nextAttempt("the repetition")
            attempt.sendHead(409, ["Content-Length: 100"])
            attempt.sendBody("<Error>")
            try await proxy.settle()
            let entry = try await proxy.entry(.attempting)
            if drains {
                await proxy.engine.drain()
                await proxy.server.drain(within: .zero)
            } else {
                _ = await proxy.engine.command(.cancel, entry.id)
            }
            let response = try await client.answer()
            #expect(response.status == 502)
            #expect(response.member("kind") == (drains ? "draining" : "cancelled"))
            #expect(response.member("evidence") == "maybeApplied")
        }
    }

    @Test func abortWhileTheCodeIsReadEndsTheReading() async throws {
        try await withProxy(configuration: Self.configuration()) { proxy in
            try await Self.readCodesPatiently(proxy)
            let client = try await proxy.client(sending: Self.put(Self.create))
            try await Self.breakFirst(proxy)
            try await proxy.nextAttempt("the repetition").sendHead(409, ["Content-Length: 100"])
            try await proxy.settle()
            let entry = try await proxy.entry(.attempting)
            _ = await proxy.engine.command(.abort, entry.id)
            #expect(try await client.answer().member("kind") == "outcome_unknown")
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
            let response = try await second.answer()
            #expect(response.status == 502 && response.member("kind") == "outcome_unknown")
            try await proxy.expectAttempts(2)
        }
    }

    // MARK: Keys

    /// Regression: the empty key made the POST repeatable, and it was sent twice.
    @Test(arguments: ["Idempotency-Key:", #"Idempotency-Key: """#, "Idempotency-Key: a\r\nIdempotency-Key: b"])
    func postWithoutAUsableKeyIsNotRepeated(field: String) async throws {
        try await withProxy(configuration: Self.configuration()) { proxy in
            let client = try await proxy.client(sending: .submission("/", body: "abc", field))
            let attempt = try await proxy.nextAttempt()
            #expect(try await attempt.wholeBody() == "abc")
            #expect(attempt.fields.contains { $0.lowercased().hasPrefix("idempotency-key:") }, "it is passed on as it came")
            attempt.fail(.connectionTerminated, phase: .awaitingResponse, evidence: .maybeApplied)
            #expect(try await client.answer().status == 502)
            try await proxy.advance(by: .seconds(60))
            try await proxy.expectAttempts(1)
        }
    }

    @Test(arguments: [("Idempotency-Key:", ["route"]), ("Idempotency-Key: mine", ["mine"]), ("X-Other: 1", ["route"])])
    func keyOfTheRouteStandsInForAnEmptyOne(field: String, keys: [String]) async throws {
        var route = Route(name: "r", policy: .standard)
        route.host = .exact("o.test")
        route.addFields = [.init(name: "Idempotency-Key", value: "route")]
        let table = RouteTable(routes: [route])
        try await withProxy(configuration: { $0.routes = table }) { proxy in
            let client = try await proxy.client(sending: .submission("/", body: "abc", field))
            let attempt = try await proxy.nextAttempt()
            #expect(attempt.values("Idempotency-Key") == keys)
            #expect(attempt.request.mayBeSentTwice)
            attempt.respondOnceSent(200, ["Content-Length: 0"])
            #expect(try await client.answer().status == 200)
        }
    }
}
