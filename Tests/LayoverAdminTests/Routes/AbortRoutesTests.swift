import LayoverCore
import LayoverEngine
import Synchronization
import Testing

@testable import LayoverAdmin

/// The command `abort`, and what is shown of an attempt under way.
struct AbortRoutesTests {
    private static let aborted = Failure(
        phase: .awaitingResponse, kind: .proxyInternalResponse, evidence: .maybeApplied, message: "A person aborted the attempt.")

    @Test func entryUnderWayShowsItsAttempt() async throws {
        let harness = AdminHarness()
        let id = harness.park(1).id
        #expect(try await harness.send("GET", "/v1/pending/\(id)").json["attempt"] == nil)
        let entry = try await harness.post("/v1/pending/\(id)/retry").json
        let attempt = entry["attempt"] as? [String: Any] ?? [:]
        #expect(Set(attempt.keys) == ["startedAt", "phase", "bytesSent"])
        #expect(attempt["startedAt"] as? String == "2026-01-01T00:00:05.000Z")
        #expect(attempt["phase"] as? String == "resolving" && attempt["bytesSent"] as? Int == 0)
        #expect(entry["actions"] as? [String] == ["cancel", "abort"])
    }

    @Test func answerComesWhenTheAttemptHasEnded() async throws {
        let harness = AdminHarness()
        let (id, exchange) = harness.park(1, method: "POST")
        _ = try await harness.post("/v1/pending/\(id)/retry")
        // From the loop itself: the response waits for the end of the attempt for two seconds only.
        exchange.whenAborted.withLock { work in
            work = { [engine = harness.engine] in
                engine.post(
                    .attemptFailed(
                        AttemptFailed(
                            id, Self.aborted, .init(delay: .zero, shutsGate: false, asks: .maybeApplied, rule: .onMaybeApplied),
                            AttemptTally(AttemptCounts(all: 2, mayHaveBeenApplied: true)))))
            }
        }
        let entry = try await harness.post("/v1/pending/\(id)/abort", "{\"reason\":\"hangs\"}")
        #expect(exchange.calls.contains(.abortAttempt))
        #expect(entry.status == 200)
        #expect(entry.json["state"] as? String == "undecided" && entry.json["attempt"] == nil)
        #expect((entry.json["lastCommand"] as? [String: Any])?["reason"] as? String == "hangs")
    }

    @Test func nothingToAbortIsAConflict() async throws {
        let harness = AdminHarness()
        let id = harness.park(1).id
        let response = try await harness.post("/v1/pending/\(id)/abort").expectStatus(409)
        #expect(response.json["detail"] as? String == "Cannot abort: the request is waiting.")
        #expect(try await harness.post("/v1/pending/\(AdminHarness.id(9))/abort").status == 404)
        #expect(try await harness.post("/v1/pending/abort", "{\"all\":true}").status == 405)
    }
}
