import LayoverCore
import LayoverEngine
import LayoverTestSupport
import Retry
import Testing

@testable import LayoverProxy

/// Answers whose status the policy retries.
struct StatusRetryTests {
    private static func configuration(_ change: @escaping @Sendable (inout Policy) -> Void) -> (inout ProxyConfiguration) -> Void {
        {
            $0.routes = .standard {
                $0.retryOn = [.connectivity, .status(503), .status(401)]
                $0.delay = DelaySchedule(.constant(.seconds(1)))
                change(&$0)
            }
        }
    }

    /// S1f: the pattern extends to other errors: 401, 403, 500 …
    @Test(arguments: [503, 401])
    func s1fStatusInRetryOnIsRequestedAgain(status: Int) async throws {
        try await withAttempt(configuration: Self.configuration { _ in }) { proxy, client, first in
            #expect(first.attempt.wantsConnectionFacts, "its answer may be what is explained")
            first.respond(status, ["Content-Length: 4"], body: "away")
            let entry = try await proxy.entry()
            #expect(entry.lastFailure?.kind == .httpResponseStatus)
            #expect(entry.lastFailure?.evidence == .answered)
            #expect(entry.waitingFor == .time)
            #expect(entry.attempts.records.map(\.status) == [status])
            try await proxy.nextAttempt(after: .seconds(1), "the retry").respond(200, ["Content-Length: 4"], body: "here")
            let response = try await client.answer()
            #expect(response.body == "here")
            #expect(response["Proxy-Status"] == #"layover; details="attempts=2 waited=1.0s""#)
            let ended = try await proxy.entry(.delivered)
            #expect(ended.attempts.records.map(\.status) == [status, 200])
            #expect(ended.attempts.records.map { $0.verdict?.word } == ["park", "deliver"])
        }
    }

    /// A POST is not sent twice, and its response says when to come back all the same.
    @Test func deliveredResponseHoldsUpNewRequests() async throws {
        try await withAttempt(of: .post("/", length: 3, body: "abc"), configuration: Self.configuration { _ in }) { proxy, first, attempt in
            attempt.respond(503, ["Retry-After: 30", "Content-Length: 4"], body: "away")
            #expect(try await first.answer().status == 503)
            try await proxy.settle()
            let second = try await proxy.client(sending: .get("/2"))
            let parked = try await proxy.entry()
            #expect(parked.waitingFor == .pause && parked.attemptCount == 0)
            try await proxy.nextAttempt(after: .seconds(30), "after the pause").respond(200, ["Content-Length: 1"], body: "2")
            #expect(try await second.answer().body == "2")
        }
    }

    /// Regression: the response was thrown away, and at the end of the hold there was only a 504.
    @Test(arguments: ["11", "9223372036854775807", "99999999999999999999999"])
    func responseWithARetryAfterLongerThanTheHoldIsDelivered(seconds: String) async throws {
        let configuration = Self.configuration {
            $0.holdMax = .seconds(10)
            $0.retryAfterMax = .seconds(Int.max)
        }
        try await withAttempt(configuration: configuration) { proxy, client, attempt in
            attempt.respond(503, ["Retry-After: \(seconds)", "Content-Length: 4"], body: "away")
            let response = try await client.answer()
            #expect(response.status == 503 && response.body == "away" && response["Retry-After"] == seconds)
            #expect(await proxy.engine.liveEntries().isEmpty)
        }
    }

    /// S2b: after n failures end in success with a stand-in value.
    @Test(arguments: [true, false])
    func s2bStandInIsTheResponseAfterNFailures(byStatus: Bool) async throws {
        let standIn = StandInResponse(
            status: 200, fields: [Route.Field(name: "Content-Type", value: "application/json")], body: "[]")
        try await withProxy(
            configuration: Self.configuration {
                $0.automaticAttemptsMax = 2
                $0.onExhausted = .standIn(standIn)
            }
        ) { proxy in
            let client = try await proxy.client(sending: .get("/"))
            for number in 1...2 {
                let attempt = try await proxy.nextAttempt("attempt \(number)")
                if byStatus { attempt.respond(503, ["Content-Length: 0"]) } else { attempt.fail() }
                guard number == 1 else { break }
                _ = try await proxy.entry()
                try await proxy.advance(by: .seconds(1))
            }
            let response = try await client.answer().expectStatus(200)
            #expect(response.body == "[]")
            #expect(response["Content-Type"] == "application/json")
            #expect(response["Proxy-Status"]?.contains("stand-in response after 2 attempts") == true)
            _ = try await proxy.entry(.failed)
        }
    }

    /// There is no place, the proxy stops, or the origin forbids it.
    @Test(arguments: ["limit", "drain", "X-Should-Retry: false"])
    func responseIsDeliveredIfItsRequestMayNotWait(obstacle: String) async throws {
        var limits = PendingLimits()
        if obstacle == "limit" { limits.heldClientCountMax = 0 }
        try await withAttempt(limits: limits, configuration: Self.configuration { _ in }) { proxy, client, attempt in
            if obstacle == "drain" { await proxy.engine.drain() }
            attempt.sendHead(503, ["Content-Length: 8"] + (obstacle.contains(":") ? [obstacle] : []))
            attempt.sendBody("half")
            try await proxy.settle()
            attempt.sendBody("rest")
            attempt.finish()
            let response = try await client.answer()
            #expect(response.status == 503 && response.body == "halfrest")
        }
    }

    @Test func restOfADroppedResponseIsNotRead() async throws {
        try await withAttempt(configuration: Self.configuration { _ in }) { proxy, client, attempt in
            attempt.sendHead(503, ["Content-Length: 1000000000"])
            try await attempt.seen.wait("the answer to be dropped") { $0.isCancelled }
            _ = try await proxy.entry()
            client.close()
            _ = try await proxy.entry(.cancelled)
            try await proxy.advance(by: .seconds(100))
            #expect(proxy.upstream.startedCount == 1)
        }
    }

    /// A 2xx to CONNECT would be taken for a tunnel.
    @Test func aTunnelGetsNoStandIn() async throws {
        try await withProxy(
            configuration: Self.configuration {
                $0.automaticAttemptsMax = 1
                $0.onExhausted = .standIn(StandInResponse(status: 200, body: "[]"))
            }
        ) { proxy in
            let client = try await proxy.client(sending: "CONNECT o.test:443 HTTP/1.1\r\nHost: o.test:443\r\n\r\n")
            try await proxy.nextAttempt().fail()
            #expect(try await client.answer().status == 502)
        }
    }
}
