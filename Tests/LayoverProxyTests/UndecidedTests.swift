import LayoverCore
import LayoverEngine
import LayoverTestSupport
import Testing

@testable import LayoverProxy

/// Requests that may have been applied, while their client waits for a person.
struct UndecidedTests {
    private static func withUndecided(_ test: (TestProxy, RawClient, Entry) async throws -> Void) async throws {
        let routes = RouteTable.standard { $0.onMaybeApplied = .ask }
        try await withAttempt(of: .post("/", length: 3, body: "abc"), configuration: { $0.routes = routes }) { proxy, client, attempt in
            #expect(try await attempt.wholeBody() == "abc")
            attempt.fail(.connectionTerminated, phase: .awaitingResponse, evidence: .maybeApplied)
            let entry = try await proxy.entry(.undecided)
            #expect(entry.why == .maybeApplied)
            let incident = try #require(await proxy.engine.incidents().first)
            #expect(entry.incident == incident.id)
            #expect(incident.kind == .decision, "nothing is away")
            try await test(proxy, client, entry)
        }
    }

    @Test func undecidedRequestIsResentOnlyByAcknowledgedForce() async throws {
        try await Self.withUndecided { proxy, client, entry in
            _ = await proxy.engine.hintChanged()
            try await proxy.advance(by: .seconds(300))
            #expect(await proxy.engine.command(.force, entry.id).0 == .unacknowledged)
            try await proxy.settle()
            #expect(proxy.upstream.startedCount == 1)
            #expect(await proxy.engine.command(.force, entry.id, acknowledgement: EntryCommand.duplicateRisk).0 == .done)
            let second = try await proxy.nextAttempt("the forced attempt")
            #expect(try await second.wholeBody() == "abc")
            second.respond(201, ["Content-Length: 2"], body: "ok")
            #expect(try await client.answer().status == 201)
        }
    }

    /// The second attempt was never sent; that is no evidence about the first.
    @Test func requestIsUndecidedAgainAfterAFailedForcedAttempt() async throws {
        try await Self.withUndecided { proxy, client, entry in
            _ = await proxy.engine.command(.force, entry.id, acknowledgement: EntryCommand.duplicateRisk)
            try await proxy.nextAttempt("the forced attempt").fail()
            #expect(try await proxy.entry(.undecided).why == .maybeApplied)
            try await proxy.advance(by: .seconds(300))
            #expect(proxy.upstream.startedCount == 2)
            #expect(await proxy.engine.command(.cancel, entry.id).0 == .done)
            let response = try await client.answer().expectProblem(502, "cancelled", evidence: .maybeApplied)
            #expect(response.member("detail")?.contains("The server may have processed an earlier attempt.") == true)
        }
    }

    /// An earlier attempt reached the origin, and then the origin was away until the end.
    @Test(arguments: [nil, 2])
    func finalResponseReportsTheEvidenceOfAllAttempts(automaticMax: Int?) async throws {
        let routes = RouteTable.standard { $0.automaticAttemptsMax = automaticMax }
        let request = "POST http://o.test/ HTTP/1.1\r\nHost: o.test\r\nIdempotency-Key: 1\r\nContent-Length: 0\r\n\r\n"
        try await withAttempt(of: request, configuration: { $0.routes = routes }) { proxy, client, attempt in
            attempt.beginSending().fail(.connectionTerminated, phase: .awaitingResponse, evidence: .maybeApplied)
            try await proxy.nextAttempt(after: .seconds(60), "the second attempt").fail()
            if automaticMax == nil {
                _ = try await proxy.entry()
                try await proxy.advance(by: .seconds(600))
            }
            try await client.answer().expectProblem(automaticMax == nil ? 504 : 502, evidence: .maybeApplied)
        }
    }
}
