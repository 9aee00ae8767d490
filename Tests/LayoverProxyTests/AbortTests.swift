import LayoverCore
import LayoverEngine
import LayoverTestSupport
import Testing

@testable import LayoverProxy

/// Attempts that hang, and that a person ends.
struct AbortTests {
    /// A GET that was parked, and whose second attempt hangs.
    private static func withHanging(_ test: (TestProxy, RawClient, EntryID, ScriptedAttempt) async throws -> Void) async throws {
        try await withParked { proxy, client, entry in try await test(proxy, client, entry.id, proxy.retry(entry.id)) }
    }

    @Test func heldRequestIsKeptAndSentAgain() async throws {
        try await Self.withHanging { proxy, client, id, attempt in
            attempt.beginSending()
            let (outcome, entry) = await proxy.engine.command(.abort, id)
            #expect(outcome == .done)
            #expect(entry?.state == .waiting, "the answer comes when the attempt has ended")
            #expect(entry?.attempts.records.last?.verdict?.rule == "aborted")
            #expect(entry?.lastFailure?.message == "A person aborted the attempt.")
            #expect(await proxy.engine.command(.abort, id).0 == .conflict)
            try await proxy.nextAttempt(after: .seconds(60), "the third attempt").respond(200, ["Content-Length: 2"], body: "ok")
            #expect(try await client.answer().status == 200)
        }
    }

    /// A response that its client reads is not cut off.
    @Test func attemptUnderWaySaysHowFarItIs() async throws {
        try await Self.withHanging { proxy, client, id, attempt in
            #expect(await proxy.engine.entry(id)?.attemptProgress?.phase == .resolving)
            attempt.beginSending()
            #expect(await proxy.engine.entry(id)?.attemptProgress?.phase == .awaitingResponse)
            #expect(try await proxy.engine.knownEntry(id)?.attemptProgress?.phase == .awaitingResponse, "as it is shown by itself")
            let listed = await proxy.engine.page(of: PendingQuery()).entries.first
            #expect(listed?.attemptProgress?.phase == .awaitingResponse && listed?.attemptStartedAt != nil)
            attempt.sendHead(200, ["Content-Length: 4"])
            try await eventually("the beginning of the response") { await proxy.engine.entry(id)?.attemptProgress?.phase == .receiving }
            #expect(await proxy.engine.command(.abort, id).0 == .conflict)
            attempt.sendBody("done")
            attempt.finish()
            #expect(try await client.answer().body == "done")
        }
    }
}
