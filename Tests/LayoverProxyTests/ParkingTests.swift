import LayoverCore
import LayoverEngine
import LayoverTestSupport
import Retry
import Testing

@testable import LayoverProxy

/// Waiting on the connection, and what ends it.
struct ParkingTests {
    @Test func responseAfterWaitingStatesAttemptsAndWaitingTime() async throws {
        try await withAttempt(of: .get("/path?q=1", "X-Mine: 1")) { proxy, client, first in
            first.fail()
            let entry = try await proxy.entry()
            #expect(entry.url == "http://o.test/path?q=1")
            #expect(entry.method == "GET")
            #expect(entry.lastFailure?.kind == .connectionRefused)
            #expect(entry.attemptCount == 1)
            proxy.clock.advance(by: .milliseconds(12_380))
            let second = try await proxy.retry(entry.id)
            #expect(second.fields == first.fields, "a replay is the same request")
            #expect(second.request.target == first.request.target)
            #expect(second.attempt.number == 2)
            second.respond(503, ["Content-Length: 2", "Proxy-Status: other"], body: "no")
            let response = try await client.answer()
            #expect(response.status == 503, "a status is an answer")
            #expect(response.values("Proxy-Status") == ["other", #"layover; details="attempts=2 waited=12.4s""#])
            #expect(try await proxy.entry(.delivered).attemptCount == 2)
            // Until the loop knows that the gate is open, the next request would ask the engine first.
            await proxy.engine.untilLoopsCaughtUp()
            try await client.send(.get("/next"))
            try await proxy.nextAttempt().respond(200, ["Content-Length: 0"])
            #expect(try await client.answer()["Proxy-Status"] == nil)
        }
    }

    @Test func theBodyIsSentAgainFromTheStart() async throws {
        let request = "PUT http://o.test/ HTTP/1.1\r\nHost: o\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nX-Sum: 1\r\n\r\n"
        try await withAttempt(of: request) { proxy, client, first in
            #expect(try await first.wholeBody() == "abc")
            first.fail(.connectionTerminated, phase: .awaitingResponse, evidence: .maybeApplied)
            let entry = try await proxy.entry()
            #expect(entry.isBodyReplayable)
            #expect(entry.requestByteCount == 3)
            let second = try await proxy.retry(entry.id)
            #expect(try await second.wholeBody() == "abc")
            #expect(second.seen.value.trailers == ["X-Sum: 1"])
            second.respond(201, ["Content-Length: 0"])
            #expect(try await client.answer().status == 201)
        }
    }

    @Test func requestThatMayHaveBeenAppliedIsNotSentTwice() async throws {
        try await withAttempt(of: .post("/", length: 3, body: "abc")) { proxy, client, attempt in
            #expect(try await attempt.wholeBody() == "abc")
            attempt.fail(.connectionTerminated, phase: .awaitingResponse, evidence: .maybeApplied)
            let response = try await client.answer().expectProblem(502, "connection_terminated", evidence: .maybeApplied)
            #expect(response.member("detail")?.contains(" The server may have processed the request, which is not repeatable") == true)
            #expect(response.member("phase") == "awaitingResponse")
            #expect(response.member("attempts") == "1")
            #expect(proxy.upstream.startedCount == 1)
        }
    }

    @Test func deadKeptAliveConnectionIsReplacedWithoutParking() async throws {
        try await withAttempt { proxy, client, first in
            first.beginSending()
            first.fail(.connectionTerminated, phase: .sending, evidence: .maybeApplied, reusedConnection: true)
            let second = try await proxy.nextAttempt()
            #expect(second.attempt.needsFreshConnection)
            second.respond(200, ["Content-Length: 0"])
            #expect(try await client.answer()["Proxy-Status"] == nil, "it was never parked")
        }
    }

    @Test func freshRequestIsTheCanaryAndOthersFollowItsResponse() async throws {
        try await withParked(.get("/1")) { proxy, first, _ in
            try await proxy.settle()
            let second = try await proxy.client(sending: .get("/2"))
            let canary = try await proxy.nextAttempt("the canary")
            #expect(canary.request.target == "/2")
            let third = try await proxy.client(sending: .get("/3"))
            try await eventually("three entries") { await proxy.engine.liveEntries().count >= 3 }
            #expect(proxy.upstream.startedCount == 2)
            canary.respond(200, ["Content-Length: 1"], body: "2")
            #expect(try await second.answer().body == "2")
            for _ in 0..<2 { try await proxy.nextAttempt("a replay").respond(200, ["Content-Length: 1"], body: "r") }
            #expect(try await first.answer().body == "r")
            #expect(try await third.answer().body == "r")
        }
    }

    @Test func arrivingBodyIsReadWhileItsRequestWaits() async throws {
        try await withParked(.post("/", length: 6, body: "abc")) { proxy, client, entry in
            #expect(!entry.isBodyReplayable, "not yet")
            try await client.send("def")
            let whole = try await firstValue("the rest of the body") {
                await proxy.engine.entry(entry.id).flatMap { $0.isBodyReplayable ? $0 : nil }
            }
            #expect(whole.requestByteCount == 6)
            #expect(whole.revision == entry.revision + 1)
            let second = try await proxy.retry(entry.id)
            #expect(try await second.wholeBody() == "abcdef")
            second.respond(200, ["Content-Length: 0"])
            #expect(try await client.answer().status == 200)
        }
    }

    @Test func bodyAboveTheLimitPausesItsClientAndIsSentCompletely() async throws {
        try await withProxy(configuration: { ($0.body.byteCountMax, $0.body.inMemoryMax) = (100_000, 1000) }) { proxy in
            let client = try await proxy.client(sending: .post("/", length: 20_000_000))
            client.sendWithoutWaiting([UInt8](repeating: 120, count: 20_000_000))
            let entry = try await proxy.parkNext()
            #expect(!entry.isBodyReplayable)
            try await proxy.settle()
            let second = try await proxy.retry(entry.id)
            second.readBody()
            try await second.seen.wait("the whole body") { $0.sendingEnd == .end }
            #expect(second.seen.value.sent.count == 20_000_000)
            second.respond(200, ["Content-Length: 0"])
            #expect(try await client.answer().status == 200)
        }
    }

    // MARK: Ends

    /// A request of which a byte may have been sent gets a 502: some clients take a 503 for "nothing was done".
    @Test(arguments: [(false, false), (true, false), (true, true)])
    func cancelledClientGets503OnlyIfNothingWasSent(whileAttempting: Bool, isSent: Bool) async throws {
        try await withParked { proxy, client, entry in
            var attempt: ScriptedAttempt?
            if whileAttempting {
                attempt = try await proxy.retry(entry.id)
                try await attempt?.outliveCancel()
                if isSent { attempt?.beginSending() }
            }
            _ = await proxy.engine.command(.cancel, entry.id, reason: "tea \"time\"\r\nX: y")
            let (status, evidence) = isSent ? (502, Evidence.maybeApplied) : (503, Evidence.neverSent)
            let response = try await client.answer().expectProblem(status, "cancelled", evidence: evidence)
            #expect(response["Retry-After"] == nil, "nobody is asked to come back with it")
            #expect(response.member("type") == "urn:layover:problem:cancelled")
            #expect(response.member("entry") == entry.id.description)
            #expect(response.fields.allSatisfy { !$0.hasPrefix("X:") }, "words of people stay inside their quotes")
            if let attempt {
                try await attempt.seen.wait("the cancel") { $0.isCancelled }
                attempt.respond(200, ["Content-Length: 4"], body: "late")
                try await attempt.seen.wait("its end") { $0.isOver }
            }
            try await client.send(.get("/next"))
            try await proxy.nextAttempt("the next request").respond(200, ["Content-Length: 4"], body: "next")
            #expect(try await client.answer().body == "next", "one request has one answer")
        }
    }

    @Test func problemOfABodyThatWasNotKeptNamesTheLimit() async throws {
        let body = String(repeating: "b", count: 2000)
        let request = "PUT http://shop.example/b HTTP/1.1\r\nHost: shop.example\r\nContent-Length: 2000\r\n\r\n\(body)"
        try await withAttempt(of: request, configuration: { $0.body.byteCountMax = 1000 }) { _, client, attempt in
            #expect(try await attempt.wholeBody() == body)
            attempt.fail(.connectionTerminated, phase: .awaitingResponse, evidence: .maybeApplied)
            let response = try await client.answer().expectStatus(502)
            #expect(response.member("detail")?.contains("limits.bodyMax (1000 bytes)") == true)
        }
    }

    @Test func problemOfATooLargeHeadNamesTheLimit() async throws {
        try await withProxy(configuration: { $0.framing.headByteCountMax = 2000 }) { proxy in
            let long = String(repeating: "y", count: 2500)
            let response = try await proxy.answer(to: .get("/", "X: \(long)")).expectProblem(431, "limit")
            #expect(response.member("detail")?.contains("limits.headerBytes is 2000") == true)
        }
    }

    @Test func aTargetMayBeAsLongAsTheHeadMayBe() async throws {
        try await withProxy(
            script: { $0.respond(200, ["Content-Length: 0"]) }, configuration: { $0.framing.headByteCountMax = 300_000 }
        ) { proxy in
            let target = "/" + String(repeating: "a", count: 250_000)
            #expect(try await proxy.answer(to: .get(target)).status == 200)
            #expect(try await proxy.nextAttempt().request.target == target)
            let response = try await proxy.answer(to: .get(target + target)).expectStatus(414)
            #expect(response.member("detail")?.contains("limits.headerBytes is 300000") == true)
        }
    }

    @Test func expiryIsA504WithTheLastFailure() async throws {
        let routes = RouteTable.standard { ($0.holdMax, $0.delay) = (.seconds(61), DelaySchedule(.constant(.seconds(200)))) }
        try await withAttempt(configuration: { $0.routes = routes }) { proxy, client, attempt in
            attempt.fail(.dnsError, phase: .resolving)
            _ = try await proxy.entry()
            try await proxy.advance(by: .seconds(61))
            let response = try await client.answer().expectProblem(504, "expired", evidence: .neverSent)
            #expect(response.member("phase") == "resolving")
            #expect(response["Proxy-Status"]?.hasPrefix("layover; error=dns_error; details=\"") == true)
            #expect(response["Retry-After"] == "139", "the next attempt that would have been made")
        }
    }

    @Test(arguments: [false, true])
    func fullPendingSetNamesTheLimitAndIs503OnlyIfNothingWasSent(isSent: Bool) async throws {
        var limits = PendingLimits()
        limits.heldClientCountMax = 1
        try await withProxy(limits: limits) { proxy in
            _ = try await proxy.client(sending: .get("/1"))
            try await proxy.parkNext()
            try await proxy.settle()
            let client = try await proxy.client(sending: "GET http://other.test/ HTTP/1.1\r\nHost: o\r\n\r\n")
            let attempt = try await proxy.nextAttempt()
            if isSent {
                attempt.beginSending().fail(.connectionTerminated, phase: .awaitingResponse, evidence: .maybeApplied)
            } else {
                attempt.fail()
            }
            let response = try await client.answer().expectProblem(isSent ? 502 : 503, "limit")
            #expect(response.member("detail")?.contains("limits.heldClients (1) is reached") == true)
            if isSent { #expect(response.member("evidence") == "maybeApplied" && response["Retry-After"] == nil) }
        }
    }

    @Test(arguments: [false, true])
    func drainEndsTheWaitWithARetryAfterIfNothingWasSent(isSent: Bool) async throws {
        try await withAttempt { proxy, client, attempt in
            if isSent { attempt.fail(.connectionTerminated, phase: .awaitingResponse, evidence: .maybeApplied) } else { attempt.fail() }
            _ = try await proxy.entry()
            await proxy.engine.drain()
            let response = try await client.answer().expectProblem(isSent ? 502 : 503, "draining")
            #expect((response["Retry-After"] != nil) == !isSent)
        }
    }

    @Test func drainLetsAnAttemptFinishAndThenCloses() async throws {
        try await withAttempt { proxy, client, attempt in
            async let drained: Void = proxy.server.drain(within: .seconds(60))
            try await proxy.waitUntilDraining()
            attempt.respond(200, ["Content-Length: 2"], body: "ok")
            let response = try await client.answer()
            #expect(response.body == "ok")
            #expect(response["Connection"] == "close")
            #expect(try await client.ending().0 == .closed)
            client.close()
            await drained
        }
    }
}
