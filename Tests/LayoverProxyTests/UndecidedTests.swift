import LayoverCore
import LayoverEngine
import LayoverTestSupport
import Testing

@testable import LayoverProxy

/// Requests that may have been applied, while their client waits for a person.
struct UndecidedTests {
    private static let configuration: @Sendable (inout ProxyConfiguration) -> Void = {
        $0.routes = .standard { $0.onMaybeApplied = .ask }
    }

    private static func undecided(_ proxy: TestProxy) async throws -> (RawClient, Entry) {
        let client = try await proxy.client(sending: .post("/", length: 3, body: "abc"))
        let attempt = try await proxy.nextAttempt()
        #expect(try await attempt.wholeBody() == "abc")
        attempt.fail(.connectionTerminated, phase: .awaitingResponse, evidence: .maybeApplied)
        let entry = try await proxy.entry(.undecided)
        #expect(entry.why == .maybeApplied)
        let incident = try #require(await proxy.engine.incidents().first)
        #expect(entry.incident == incident.id)
        #expect(incident.kind == .decision, "nothing is away")
        return (client, entry)
    }

    @Test func undecidedRequestIsResentOnlyByAcknowledgedForce() async throws {
        try await withProxy(configuration: Self.configuration) { proxy in
            let (client, entry) = try await Self.undecided(proxy)
            _ = await proxy.engine.hintChanged()
            try await proxy.advance(by: .seconds(300))
            #expect(await proxy.engine.command(.retry, entry.id).0 == .conflict)
            #expect(await proxy.engine.command(.force, entry.id).0 == .unacknowledged)
            #expect(await proxy.engine.command(.force, entry.id, acknowledgement: "yes").0 == .unacknowledged)
            try await proxy.settle()
            #expect(proxy.upstream.startedCount == 1)
            let risk = EntryCommand.duplicateRisk
            #expect(await proxy.engine.command(.force, entry.id, acknowledgement: risk).0 == .done)
            let second = try await proxy.nextAttempt("the forced attempt")
            #expect(try await second.wholeBody() == "abc")
            second.respond(201, ["Content-Length: 2"], body: "ok")
            #expect(try await client.answer().status == 201)
        }
    }

    /// The second attempt was never sent; that is no evidence about the first.
    @Test func requestIsUndecidedAgainAfterAFailedForcedAttempt() async throws {
        try await withProxy(configuration: Self.configuration) { proxy in
            let (client, entry) = try await Self.undecided(proxy)
            _ = await proxy.engine.command(.force, entry.id, acknowledgement: EntryCommand.duplicateRisk)
            try await proxy.nextAttempt("the forced attempt").fail()
            let again = try await proxy.entry(.undecided)
            #expect(again.why == .maybeApplied)
            try await proxy.advance(by: .seconds(300))
            #expect(proxy.upstream.startedCount == 2)
            #expect(await proxy.engine.command(.cancel, entry.id).0 == .done)
            let response = try await client.answer()
            #expect(response.member("evidence") == "maybeApplied", "whoever believes that nothing was sent sends it again")
            #expect(response.member("detail")?.contains("The server may have processed an earlier attempt.") == true)
        }
    }

    /// An earlier attempt reached the origin, and then the origin was away until the end.
    @Test(arguments: [nil, 2])
    func finalResponseReportsTheEvidenceOfAllAttempts(automaticMax: Int?) async throws {
        let routes = RouteTable.standard { $0.automaticAttemptsMax = automaticMax }
        try await withProxy(configuration: { $0.routes = routes }) { proxy in
            let client = try await proxy.client(
                sending: "POST http://o.test/ HTTP/1.1\r\nHost: o.test\r\nIdempotency-Key: 1\r\nContent-Length: 0\r\n\r\n")
            try await proxy.nextAttempt().beginSending()
                .fail(.connectionTerminated, phase: .awaitingResponse, evidence: .maybeApplied)
            _ = try await proxy.entry()
            try await proxy.advance(by: .seconds(60))
            try await proxy.nextAttempt("the second attempt").fail()
            if automaticMax == nil {
                _ = try await proxy.entry()
                try await proxy.advance(by: .seconds(600))
            }
            let response = try await client.answer()
            #expect(response.status == (automaticMax == nil ? 504 : 502))
            #expect(response.member("evidence") == "maybeApplied")
        }
    }

    @Test func cancelledUndecidedRequestGets502() async throws {
        try await withProxy(configuration: Self.configuration) { proxy in
            let (client, entry) = try await Self.undecided(proxy)
            _ = await proxy.engine.command(.cancel, entry.id, reason: "booked by hand")
            let response = try await client.answer()
            #expect(response.status == 502)
            #expect(response.member("kind") == "cancelled")
            #expect(response.member("evidence") == "maybeApplied")
        }
    }
}
