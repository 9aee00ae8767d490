import LayoverCore
import LayoverTestSupport
import Testing

@testable import LayoverProxy

/// The response to a ticket breaks off in mid-body: the part that came is kept, and the rest is asked for.
struct ResumingTicketTests {
    private static let known = ["Content-Length: 10", "ETag: \"v1\""]

    /// A ticket whose first attempt broke off in the middle of its response.
    private static func broken(_ proxy: TestProxy) async throws -> EntryID {
        let id = try #require(try await proxy.answer(to: .get("/", "Prefer: respond-async, wait=0")).ticket)
        try await Self.breakOff(try await proxy.nextAttempt())
        _ = try await proxy.until(id, is: .waiting)
        return id
    }

    private static func breakOff(_ attempt: ScriptedAttempt) async throws {
        #expect(await attempt.mark())
        attempt.sendHead(200, known)
        attempt.sendBody("01234")
        attempt.fail(.connectionTerminated, phase: .receiving, evidence: .answered)
    }

    private static func next(_ proxy: TestProxy) async throws -> ScriptedAttempt {
        try await proxy.advance(by: .seconds(3600))
        let attempt = try await proxy.nextAttempt()
        #expect(await attempt.mark())
        return attempt
    }

    private static func rest(_ range: String, _ tag: String = "\"v1\"") -> [String] {
        ["Content-Range: bytes \(range)", "ETag: \(tag)"]
    }

    @Test func restFillsTheStoredResponse() async throws {
        try await withProxy(tickets: TestStore()) { proxy in
            let id = try await Self.broken(proxy)
            #expect(await proxy.engine.entry(id)?.resume == ResumeProgress(done: 5, total: 10, times: 0))
            var attempt = try await Self.next(proxy)
            #expect(attempt.values("Range") == ["bytes=5-"] && attempt.values("If-Range") == ["\"v1\""])
            attempt.sendHead(206, Self.rest("3-9/10"))
            attempt.sendBody("3456")
            attempt.fail(.connectionTerminated, phase: .receiving, evidence: .answered)
            _ = try await proxy.until(id, is: .waiting)
            attempt = try await Self.next(proxy)
            #expect(attempt.values("Range") == ["bytes=7-"])
            attempt.respond(206, Self.rest("7-9/10") + ["Content-Length: 3"], body: "789")
            _ = try await proxy.until(id, is: .delivered)
            let response = try await proxy.response(id).expectStatus(200)
            #expect(response.body == "0123456789")
            #expect(await proxy.engine.entry(id)?.attemptCount == 3)
            #expect(proxy.loop.metrics.resumedResponseCount.current == 2)
        }
    }

    /// An origin that cannot be reached meanwhile costs nothing of what came.
    @Test func partSurvivesAttemptsThatFail() async throws {
        try await withProxy(tickets: TestStore()) { proxy in
            let id = try await Self.broken(proxy)
            for _ in 0..<3 {
                try await proxy.advance(by: .seconds(3600))
                try await proxy.nextAttempt().fail()
                _ = try await proxy.until(id, is: .waiting)
            }
            try await Self.next(proxy).respond(503, ["Content-Length: 4"], body: "away")
            _ = try await proxy.until(id, is: .waiting)
            try await Self.next(proxy).respond(206, Self.rest("5-9/10") + ["Content-Length: 5"], body: "56789")
            _ = try await proxy.until(id, is: .delivered)
            #expect(try await proxy.response(id).body == "0123456789")
        }
    }

    /// Nobody has read of the other version, so what is new replaces it.
    @Test(arguments: [false, true]) func newVersionReplacesWhatCame(isWhole: Bool) async throws {
        try await withProxy(tickets: TestStore()) { proxy in
            let id = try await Self.broken(proxy)
            if !isWhole {
                try await Self.next(proxy).respond(206, Self.rest("5-9/10", "\"v2\"") + ["Content-Length: 5"], body: "vwxyz")
                _ = try await proxy.until(id, is: .waiting)
                #expect(await proxy.engine.entry(id)?.resume == nil)
            }
            let attempt = try await Self.next(proxy)
            #expect(attempt.values("Range") == (isWhole ? ["bytes=5-"] : []))
            attempt.respond(200, ["Content-Length: 6", "ETag: \"v2\""], body: "abcdef")
            _ = try await proxy.until(id, is: .delivered)
            #expect(try await proxy.response(id).body == "abcdef")
            #expect(proxy.loop.metrics.resumedResponseCount.current == 0)
        }
    }

    @Test func cancelledTicketIsNotAskedForAgain() async throws {
        try await withProxy(tickets: TestStore()) { proxy in
            let id = try await Self.broken(proxy)
            #expect(await proxy.engine.command(.cancel, id).0 == .done)
            _ = try await proxy.until(id, is: .cancelled)
            try await proxy.advance(by: .seconds(3600))
            try await proxy.expectAttempts(1)
            let other = try await Self.broken(proxy)
            _ = try await proxy.until(other, is: .waiting)
        }
    }

    /// A stop does not wait for a ticket that waits: the next process asks for all of its response.
    @Test func stopDoesNotWaitForAWaitingTicket() async throws {
        try await withProxy(tickets: TestStore()) { proxy in
            _ = try await Self.broken(proxy)
            try await proxy.settle()
            try await proxy.loop.drain().get()
        }
    }

    /// A ticket that a person retries is sent at once, by the reloaded policy.
    @Test func reloadAndRetryReachATicketWithAPart() async throws {
        try await withProxy(tickets: TestStore()) { proxy in
            let id = try await Self.broken(proxy)
            var route = Route(name: "r", policy: .standard)
            route.host = .exact("o.test")
            route.setFields = [.init(name: "X-Token", value: "new")]
            let routes = RouteTable(policies: ["default": .standard], routes: [route])
            try await proxy.reload { $0.routes = routes }
            #expect(await proxy.engine.command(.retry, id).0 == .done)
            let attempt = try await proxy.nextAttempt()
            #expect(attempt.values("Range") == ["bytes=5-"])
            #expect(await attempt.mark())
            attempt.respond(206, Self.rest("5-9/10") + ["Content-Length: 5"], body: "56789")
            _ = try await proxy.until(id, is: .delivered)
            #expect(try await proxy.response(id).body == "0123456789")
        }
    }
}
