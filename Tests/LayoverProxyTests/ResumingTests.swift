import LayoverCore
import LayoverTestSupport
import Testing

@testable import LayoverProxy

/// A response that breaks off in mid-body and goes on, in the eyes of its client.
struct ResumingTests {
    private static let known = ["Content-Length: 10", "ETag: \"v1\""]

    /// A client that has got half of its response, whose connection then broke.
    private static func withBroken(
        _ fields: [String] = known, request: String = .get("/"), body: String = "01234", routes: RouteTable = patient,
        _ test: (TestProxy, RawClient) async throws -> Void
    ) async throws {
        try await withAttempt(of: request, configuration: { $0.routes = routes }) { proxy, client, attempt in
            attempt.sendHead(200, fields)
            attempt.sendBody(body)
            attempt.fail(.connectionTerminated, phase: .receiving, evidence: .answered)
            try await test(proxy, client)
        }
    }

    private static func next(_ proxy: TestProxy) async throws -> ScriptedAttempt { try await proxy.nextAttempt(after: .seconds(3600)) }

    private static func rest(_ range: String, _ tag: String = "\"v1\"") -> [String] {
        ["Content-Range: bytes \(range)", "ETag: \(tag)"]
    }

    private static func configuration(_ change: (inout Policy) -> Void) -> RouteTable {
        .standard {
            ($0.holdMax, $0.lifetime) = (.seconds(86_400), .seconds(864_000))
            change(&$0)
        }
    }

    private static let patient = configuration { _ in }

    @Test func responseGoesOnWhereItBroke() async throws {
        try await Self.withBroken { proxy, client in
            let entry = try await proxy.entry()
            #expect(entry.resume == ResumeProgress(done: 5, total: 10, times: 0))
            let second = try await Self.next(proxy)
            #expect(second.values("Range") == ["bytes=5-"])
            #expect(second.values("If-Range") == ["\"v1\""])
            second.respond(206, Self.rest("5-9/10") + ["Content-Length: 5"], body: "56789")
            let response = try await client.answer().expectStatus(200)
            #expect(response.body == "0123456789")
            #expect(try await proxy.entry(.delivered).resume == ResumeProgress(done: 10, total: 10, times: 1))
            #expect(proxy.loop.metrics.resumedResponseCount.current == 1)
            // The connection is as good as before.
            try await client.send(.get("/next"))
            try await proxy.nextAttempt().respond(body: "next")
            #expect(try await client.answer().body == "next")
        }
    }

    /// After the head, after the first byte, before the last, and after the last.
    @Test(arguments: [0, 1, 9, 10]) func responseMayBreakAtAnyPlace(done: Int) async throws {
        let body = "0123456789"
        try await Self.withBroken(body: String(body.prefix(done))) { proxy, client in
            if done < 10 {
                let second = try await Self.next(proxy)
                #expect(second.values("Range") == ["bytes=\(done)-"])
                second.respond(206, Self.rest("\(done)-9/10") + ["Content-Length: \(10 - done)"], body: String(body.dropFirst(done)))
            }
            #expect(try await client.answer().body == body)
            // No rest is requested if no byte is missing: the response would be a 416.
            #expect(proxy.upstream.startedCount == (done < 10 ? 2 : 1))
        }
    }

    /// Bytes of one part that the client has not taken count for the next part: frequent breaks do not fill the memory.
    @Test func clientThatTakesNothingSlowsTheRestDown() async throws {
        try await withProxy(configuration: { $0.routes = Self.patient }) { proxy in
            let total = 48 << 20
            let client = try await proxy.connect(readsByItself: false, receiveBuffer: 65_536)
            try await client.send(.get("/"))
            let attempt = try await proxy.nextAttempt()
            attempt.sendHead(200, ["Content-Length: \(total)", "ETag: \"v1\""])
            let part = String(repeating: "x", count: 1 << 20)
            for _ in 0..<24 { attempt.sendBody(part) }
            try await proxy.settle()
            let untaken = attempt.attempt.bytesOutstanding.load(ordering: .relaxed)
            #expect(untaken > 4 << 20)
            attempt.fail(.connectionTerminated, phase: .receiving, evidence: .answered)
            let second = try await Self.next(proxy)
            #expect(second.attempt.bytesOutstanding.load(ordering: .relaxed) == untaken)
            second.attempt.isReceivingPaused.store(true, ordering: .relaxed)
            try await client.startReading()
            try await second.seen.wait("the transfer to be resumed") { $0.resumeCount > 0 }
            #expect(second.attempt.bytesOutstanding.load(ordering: .relaxed) == 0)
            second.sendHead(206, Self.rest("\(24 << 20)-\(total - 1)/\(total)"))
            for _ in 0..<24 { second.sendBody(part) }
            second.finish()
            #expect(try await client.answer(after: total).body.utf8.count == total)
        }
    }

    @Test(arguments: [false, true]) func endOfTheWaitForTheRestCutsTheClientOff(drains: Bool) async throws {
        try await Self.withBroken { proxy, client in
            let entry = try await proxy.entry()
            if drains { await proxy.engine.drain() } else { _ = await proxy.engine.command(.cancel, entry.id) }
            #expect(try await client.ending().rest.hasSuffix("\r\n\r\n01234"), "no other response inside this one")
            #expect(await proxy.engine.liveEntries().isEmpty)
        }
    }

    @Test func policyOfAReloadIsTheOneOfItsWait() async throws {
        try await Self.withBroken { proxy, client in
            _ = try await proxy.entry()
            try await proxy.reload { $0.routes = Self.configuration { $0.automaticAttemptsMax = 1 } }
            try await Self.next(proxy).fail(.connectionRefused)
            #expect(try await client.ending().rest.hasSuffix("\r\n\r\n01234"), "no attempt is left")
            #expect(proxy.upstream.startedCount == 2)
        }
    }

    /// A break of the continuation, a refused connection and a status that asks to come later.
    @Test func responseGoesOnAfterManyTroubles() async throws {
        try await Self.withBroken(request: .get("/", "Accept-Encoding: gzip", "If-Range: \"old\"")) { proxy, client in
            let second = try await Self.next(proxy)
            #expect(second.values("If-Range") == ["\"v1\""], "replaced")
            #expect(second.values("Accept-Encoding") == ["gzip"], "as in the first request")
            second.sendHead(206, Self.rest("3-9/10") + ["Content-Length: 7"])
            second.sendBody("345")
            second.fail(.connectionTerminated, phase: .receiving, evidence: .answered)
            try await Self.next(proxy).fail(.connectionRefused)
            try await Self.next(proxy).respond(503, ["Retry-After: 7"], body: "busy")
            let part = try await Self.next(proxy)
            #expect(part.values("Range") == ["bytes=6-"])
            part.respond(206, Self.rest("6-7/10") + ["Content-Length: 2"], body: "67")
            let last = try await Self.next(proxy)
            #expect(last.values("Range") == ["bytes=8-"])
            last.respond(206, Self.rest("8-9/*") + ["Content-Length: 2"], body: "89")
            #expect(try await client.answer().body == "0123456789")
            let entry = try await proxy.entry(.delivered)
            #expect(entry.resume == ResumeProgress(done: 10, total: 10, times: 3))
            #expect(entry.attempts.records.map(\.status) == [nil, 206, nil, 503, 206, 206])
            #expect(entry.attempts.records.map { $0.failure != nil } == [true, true, true, true, true, false])
        }
    }

    @Test(
        arguments: [
            (200, ["ETag: \"v1\"", "Content-Length: 10"]), (200, ["ETag: \"v2\"", "Content-Length: 10"]), (206, rest("5-9/10", "\"v2\"")),
            (206, rest("6-9/10")), (206, rest("5-9/11")), (206, rest("5-9/10") + ["Content-Length: 4"]), (206, ["ETag: \"v1\""]),
            (206, rest("5-9/10") + ["Content-Range: bytes 5-9/10"]), (206, rest("5-9/10") + ["ETag: \"v1\""]), (304, []), (404, []),
            (416, ["Content-Range: bytes */10"]), (302, ["Location: /x"]),
        ] as [(Int, [String])])
    func invalidContinuationCutsTheClientOff(status: Int, fields: [String]) async throws {
        try await Self.withBroken { proxy, client in
            let second = try await Self.next(proxy)
            second.sendHead(status, fields)
            if status != 304 { second.sendBody("56789") }
            let (_, text) = try await client.ending()
            #expect(text.hasSuffix("\r\n\r\n01234"), "never a byte of another response")
            try await second.seen.wait("the end of the attempt") { $0.isCancelled }
            #expect(try await proxy.entry(.failed).lastFailure?.message.contains("broke off") == true)
        }
    }

    /// In the middle of a body a head would be taken for bytes of it.
    @Test func interimResponsesToTheRequestForTheRestStayAway() async throws {
        try await Self.withBroken { proxy, client in
            let second = try await Self.next(proxy)
            second.deliver([second.head(103, ["Link: </a.css>"]), second.head(100, [])])
            second.respond(206, Self.rest("5-9/10") + ["Content-Length: 5"], body: "56789")
            #expect(try await client.answer().body == "0123456789")
        }
    }

    /// After a client has closed its sending side, its request never waits.
    @Test(arguments: [false, true]) func clientThatClosedItsSideIsCutOff(isLater: Bool) async throws {
        try await withAttempt(configuration: { $0.routes = Self.patient }) { proxy, client, first in
            var attempt = first
            if isLater {
                attempt.sendHead(200, Self.known)
                attempt.sendBody("01234")
                attempt.fail(.connectionTerminated, phase: .receiving, evidence: .answered)
                attempt = try await Self.next(proxy)
                attempt.sendHead(206, Self.rest("5-9/10"))
            } else {
                attempt.sendHead(200, Self.known)
            }
            attempt.sendBody(isLater ? "56" : "0123456")
            #expect(try await client.answer(toHead: true).status == 200)
            #expect(try await client.text(7) == "0123456", "the response goes on before the client closes its sending side")
            try await client.closeOutput()
            try await proxy.waitForClosedInput()
            attempt.fail(.connectionTerminated, phase: .receiving, evidence: .answered)
            #expect(try await client.ending().rest.isEmpty)
        }
    }

    /// The head of a response to HEAD has the length of a body that does not come. A request whose body is incomplete cannot be sent again.
    @Test(
        arguments: [
            (["Content-Length: 10"], .get("/")), (["Content-Length: 10", "ETag: W/\"v1\""], .get("/")),
            (["Content-Length: 10", "ETag: \"v1\"", "Accept-Ranges: none"], .get("/")),
            (["Transfer-Encoding: chunked", "ETag: \"v1\""], .get("/")), (["ETag: \"v1\""], .get("/")),
            (known, .get("/", "Range: bytes=0-")), (known, .get("/", "Content-Length: 3", "Expect: 100-continue")),
            (known, "POST http://origin.test/ HTTP/1.1\r\nHost: origin.test\r\nContent-Length: 0\r\n\r\n"),
            (known, "HEAD http://origin.test/ HTTP/1.1\r\nHost: origin.test\r\n\r\n"),
        ] as [([String], String)])
    func unresumableResponseIsCutOff(fields: [String], request: String) async throws {
        let body = request.hasPrefix("HEAD") ? "" : "01234"
        try await Self.withBroken(fields, request: request, body: body) { proxy, client in
            let (_, text) = try await client.ending()
            let end = fields.contains { $0.hasPrefix("Content-Length") } ? "\r\n\r\n" + body : "5\r\n01234\r\n"
            #expect(text.hasPrefix("HTTP/1.1 200 ") && text.hasSuffix(end), "neither a 100 nor another response inside it")
            #expect(await proxy.engine.liveEntries().isEmpty)
            #expect(proxy.upstream.startedCount == 1)
        }
    }

    /// `holdMax` counts from the last byte.
    @Test func waitIsLimitedFromTheLastProgress() async throws {
        try await Self.withBroken(routes: Self.configuration { $0.holdMax = .seconds(5000) }) { proxy, client in
            let second = try await Self.next(proxy)
            second.sendHead(206, Self.rest("5-9/10"))
            second.sendBody("5")
            try await proxy.settle()
            try await proxy.advance(by: .seconds(2000))
            second.fail(.connectionTerminated, phase: .receiving, evidence: .answered)
            let third = try await Self.next(proxy)
            third.fail(.connectionRefused)
            _ = try await proxy.entry()
            try await proxy.advance(by: .seconds(2000))
            #expect(try await client.ending().rest.hasSuffix("\r\n\r\n012345"))
            _ = try await proxy.entry(.expired)
        }
    }
}
