import LayoverCore
import LayoverEngine
import LayoverTestSupport
import Testing

@testable import LayoverProxy

/// Attempts that hang, and that a person ends.
struct AbortTests {
    /// A GET that was parked, and whose second attempt hangs.
    private static func hanging(_ proxy: TestProxy) async throws -> (RawClient, EntryID, ScriptedAttempt) {
        let client = try await proxy.client(sending: .get("/"))
        let id = try await proxy.parkNext().id
        _ = await proxy.engine.command(.retry, id)
        return (client, id, try await proxy.nextAttempt("the second attempt"))
    }

    @Test func heldRequestIsKeptAndSentAgain() async throws {
        try await withProxy { proxy in
            let (client, id, attempt) = try await Self.hanging(proxy)
            attempt.beginSending()
            let (outcome, entry) = await proxy.engine.command(.abort, id)
            #expect(outcome == .done)
            #expect(entry?.state == .waiting, "the answer comes when the attempt has ended")
            #expect(entry?.attempts.records.last?.verdict?.rule == "aborted")
            #expect(entry?.lastFailure?.message == "A person aborted the attempt.")
            #expect(await proxy.engine.command(.abort, id).0 == .conflict)
            try await proxy.advance(by: .seconds(60))
            try await proxy.nextAttempt("the third attempt").respond(200, ["Content-Length: 2"], body: "ok")
            #expect(try await client.answer().status == 200)
        }
    }

    @Test func heldRequestThatMayHaveBeenAppliedEndsWithA502() async throws {
        try await withProxy { proxy in
            let client = try await proxy.client(sending: .post("/", length: 3, body: "abc"))
            let id = try await proxy.parkNext().id
            _ = await proxy.engine.command(.retry, id)
            let attempt = try await proxy.nextAttempt("the second attempt")
            #expect(try await attempt.wholeBody() == "abc")
            #expect(await proxy.engine.command(.abort, id).1?.state == .failed)
            let response = try await client.answer()
            #expect(response.status == 502)
            #expect(response.member("evidence") == "maybeApplied")
            #expect(response.member("detail")?.hasPrefix("A person aborted the attempt. The server may have processed") == true)
            try await proxy.advance(by: .seconds(600))
            try await proxy.expectAttempts(2)
        }
    }

    @Test func ticketThatHangsIsUndecidedAndOnlyForceSendsIt() async throws {
        try await withProxy(tickets: TestStore()) { proxy in
            let id = try await proxy.accept()
            let attempt = try await proxy.nextAttempt()
            #expect(await attempt.mark())
            #expect(try await attempt.wholeBody() == "abc")
            #expect(await proxy.engine.command(.abort, id, reason: "hangs").1?.why == .maybeApplied)
            let document = try await proxy.until(id, is: .undecided)
            #expect(document.member("why") == "maybeApplied")
            _ = await proxy.engine.hintChanged()
            try await proxy.advance(by: .seconds(600))
            try await proxy.expectAttempts(1)
            _ = await proxy.engine.command(.force, id, acknowledgement: EntryCommand.duplicateRisk)
            try await proxy.nextAttempt("the forced attempt").answerWell()
            _ = try await proxy.until(id, is: .delivered)
        }
    }

    @Test func clientThatReadsItsResponseIsNotCutOff() async throws {
        try await withProxy { proxy in
            let (client, id, attempt) = try await Self.hanging(proxy)
            attempt.sendHead(200, ["Content-Length: 4"])
            try await eventually("the beginning of the response") { await proxy.engine.entry(id)?.attemptProgress?.phase == .receiving }
            #expect(await proxy.engine.command(.abort, id).0 == .conflict)
            attempt.sendBody("done")
            attempt.finish()
            #expect(try await client.answer().body == "done")
        }
    }

    @Test func attemptUnderWaySaysHowFarItIs() async throws {
        try await withProxy { proxy in
            let (_, id, attempt) = try await Self.hanging(proxy)
            #expect(await proxy.engine.entry(id)?.attemptProgress?.phase == .resolving)
            attempt.beginSending()
            #expect(await proxy.engine.entry(id)?.attemptProgress?.phase == .awaitingResponse)
            #expect(try await proxy.engine.knownEntry(id)?.attemptProgress?.phase == .awaitingResponse, "as it is shown by itself")
            let listed = await proxy.engine.page(of: PendingQuery()).entries.first
            #expect(listed?.attemptProgress?.phase == .awaitingResponse && listed?.attemptStartedAt != nil)
        }
    }
}
