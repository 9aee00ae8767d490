import Foundation
import LayoverCore
import LayoverEngine
import Testing

@testable import LayoverAdmin

struct ExplainRoutesTests {
    private let harness = AdminHarness()
    private static let keys: Set<String> = [
        "number", "trigger", "startedAt", "endedAt", "phase", "kind", "evidence", "message", "status",
        "bytesSent", "reusedConnection", "localAddress", "remoteAddress", "curlCode", "osError", "verdict",
        "rule", "text",
    ]
    private static let parking = Verdict.Parking(delay: .seconds(30), shutsGate: true)

    private static func record(
        _ number: Int, _ trigger: AttemptTrigger, _ verdict: Verdict,
        _ change: (inout AttemptRecord) -> Void
    ) -> AttemptRecord {
        var record = AttemptRecord(
            number: number, trigger: trigger, startedAt: Timestamp(nanoseconds: 4_000_000_000))
        record.endedAt = Timestamp(nanoseconds: 4_250_000_000)
        record.verdict = verdict
        change(&record)
        return record
    }

    private func now(_ harness: AdminHarness, _ id: EntryID) async throws -> [String: Any] {
        try await harness.send("GET", "/v1/pending/\(id)/explain").json["now"] as? [String: Any] ?? [:]
    }

    @Test func timelineHasEveryFieldOfTheContract() async throws {
        let failed = Self.record(1, .arrival, .park(Self.parking)) { $0.failure = .terminated }
        let id = harness.park(1, failure: .terminated, parking: Self.parking, attempts: [failed]).id
        let response = try await harness.send("GET", "/v1/pending/\(id)/explain").expectStatus(200)
        #expect(Set(response.json.keys) == ["id", "attempts", "droppedCount", "now"])
        #expect(response.json["id"] as? String == id.description)
        #expect(response.json["droppedCount"] as? Int == 0)
        let attempts = response.json["attempts"] as? [[String: Any]] ?? []
        let attempt = try #require(attempts.first)
        #expect(attempts.count == 1)
        #expect(Set(attempt.keys) == Self.keys)
        #expect(attempt["number"] as? Int == 1)
        #expect(attempt["trigger"] as? String == "arrival")
        #expect(attempt["startedAt"] as? String == "2026-01-01T00:00:04.000Z")
        #expect(attempt["endedAt"] as? String == "2026-01-01T00:00:04.250Z")
        #expect(attempt["phase"] as? String == "awaitingResponse")
        #expect(attempt["kind"] as? String == "connection_terminated")
        #expect(attempt["evidence"] as? String == "maybeApplied")
        #expect(attempt["bytesSent"] as? Int == 180)
        #expect(attempt["reusedConnection"] as? Bool == false)
        #expect(attempt["localAddress"] as? String == "127.0.0.1:40000")
        #expect(attempt["remoteAddress"] as? String == "192.0.2.1:80")
        #expect(attempt["curlCode"] as? Int == 52)
        #expect(attempt["osError"] is NSNull && attempt["status"] is NSNull)
        #expect(attempt["verdict"] as? String == "park")
        #expect(attempt["rule"] as? String == "retryOn")
        #expect(attempt["text"] as? String == "Parked: retryOn lists the failure.")
        let now = response.json["now"] as? [String: Any] ?? [:]
        #expect(Set(now.keys) == ["state", "waitingFor", "why", "until", "text", "key"])
        #expect(now["key"] as? String == "policies.default.delay")
    }

    @Test func brokenResponseIsShownWithItsNumberOfContinuations() async throws {
        let id = harness.park(1, failure: .terminated, resume: ResumeProgress(done: 5, total: 10, times: 2)).id
        let text = try #require(try await now(harness, id)["text"] as? String)
        #expect(text.hasSuffix(" Its response broke off: 5 of 10 bytes have come, resumed=2."))
        let other = harness.park(2).id
        #expect((try await now(harness, other)["text"] as? String)?.contains("resumed") == false)
    }

    @Test func responseHasItsStatusAndItsConnection() async throws {
        let answered = Self.record(
            1, .arrival, .park(.init(delay: .seconds(1), shutsGate: false, rule: .status))
        ) {
            $0.status = 503
            $0.failure = .answered(503)
            $0.connection = ConnectionFacts(
                localAddress: "10.0.0.1:5", remoteAddress: "10.0.0.2:80", reusedConnection: true,
                bytesSent: 99)
        }
        let id = harness.park(
            1, failure: .answered(503),
            parking: .init(delay: .seconds(1), shutsGate: false, rule: .status),
            attempts: [answered]
        ).id
        let response = try await harness.send("GET", "/v1/pending/\(id)/explain")
        let attempt = try #require((response.json["attempts"] as? [[String: Any]])?.first)
        #expect(attempt["status"] as? Int == 503)
        #expect(attempt["evidence"] as? String == "answered")
        #expect(attempt["bytesSent"] as? Int == 99)
        #expect(attempt["reusedConnection"] as? Bool == true)
        #expect(attempt["remoteAddress"] as? String == "10.0.0.2:80")
        #expect(attempt["rule"] as? String == "status")
    }

    @Test func droppedAttemptsAreCounted() async throws {
        let records = (1...60).map {
            Self.record($0, .dueTime, .park(Self.parking)) { $0.failure = .refused }
        }
        let id = harness.park(1, attempts: records).id
        let response = try await harness.send("GET", "/v1/pending/\(id)/explain").json
        #expect(response["droppedCount"] as? Int == 10)
        #expect((response["attempts"] as? [Any])?.count == 50)
    }

    // MARK: Now

    @Test func waitingNamesItsReasonAndItsEnd() async throws {
        let id = harness.park(1).id
        let now = try await now(harness, id)
        #expect(now["state"] as? String == "waiting")
        #expect(now["waitingFor"] as? String == "origin")
        let until = try #require(now["until"] as? String)
        #expect(
            now["text"] as? String
                == "Waits until http://shop.example is reachable. The next attempt is due at \(until) at the latest. "
                + "The client gets a 504 at 2026-01-01T00:10:05.000Z.")
    }

    @Test func waitForTimeNamesTheFailureAndTheTime() async throws {
        let id = harness.park(
            1, failure: .answered(503),
            parking: .init(delay: .seconds(7), shutsGate: false, rule: .status)
        ).id
        let now = try await now(harness, id)
        #expect(now["waitingFor"] as? String == "time")
        #expect(now["until"] as? String == "2026-01-01T00:00:12.000Z")
        #expect(
            (now["text"] as? String)?.hasPrefix(
                "Waits for the next attempt. The origin answered with status 503. The next attempt is due at 2026-01-01T00:00:12.000Z."
            ) == true)
    }

    @Test func offlineNamesTheAdminAndTheReason() async throws {
        _ = await harness.engine.setMode(.offline, reason: "train")
        let id = harness.park(
            1, failure: nil, parking: .init(delay: .zero, shutsGate: false, rule: .gate)
        ).id
        let now = try await now(harness, id)
        #expect(now["waitingFor"] as? String == "network")
        #expect(
            (now["text"] as? String)?.hasPrefix("Waits because the mode is offline, set by an admin (train).") == true)
        #expect(now["until"] as? String == "2026-01-01T00:10:05.000Z")
    }

    @Test func attemptingHeldAndUndecidedNameTheNextStep() async throws {
        let id = harness.park(1).id
        _ = try await harness.post("/v1/pending/\(id)/hold")
        let held = try await now(harness, id)
        #expect((held["text"] as? String)?.contains("release resumes automatic attempts") == true)
        #expect(held["until"] as? String == "2026-01-01T00:10:05.000Z")
        _ = try await harness.post("/v1/pending/\(id)/retry")
        let attempting = try await now(harness, id)
        #expect(attempting["text"] as? String == "Attempt 2 is being sent to http://shop.example.")
        #expect(attempting["until"] is NSNull)
        let undecided = try await now(harness, harness.parkUndecided(2).id)
        #expect(undecided["why"] as? String == "maybeApplied")
        #expect((undecided["text"] as? String)?.contains("with force, cancel or settle") == true)
    }

    /// One word for all that wait in an outage, also for who has attempts left of its own.
    @Test(arguments: [(0, "No automatic attempts are left."), (3, "No automatic attempts are left for this outage.")])
    func exhaustedNamesTheRequestOrTheOutage(left: Int, words: String) async throws {
        let id = harness.park(
            1, parking: .init(delay: .zero, shutsGate: true, asks: .exhausted, rule: .onExhausted),
            automaticLeft: left
        ).id
        let text = try #require(try await now(harness, id)["text"] as? String)
        #expect(text.hasPrefix(words))
    }

    @Test(arguments: AdoptionObstacle.allCases)
    func cancelledAdoptionNamesItsReason(obstacle: AdoptionObstacle) async throws {
        let id = harness.park(1).id
        harness.engine.post(.notAdopted(id, obstacle))
        harness.engine.post(
            .ended(ExchangeEnded(id, as: .cancelled, AttemptTally(AttemptCounts(all: 1), automaticLeft: nil, isBodyReplayable: false))))
        let text = try #require(try await now(harness, id)["text"] as? String)
        #expect(text.contains("the client disconnected, and the request cannot be sent later, because \(obstacle.clause)."))
    }

    @Test func endedEntryIsExplainedToo() async throws {
        let id = harness.park(1).id
        let cancelled = harness.park(2).id
        _ = try await harness.post("/v1/pending/\(id)/retry")
        let certificate = Failure(
            phase: .securing, kind: .tlsCertificateError, evidence: .neverSent,
            message: "The certificate is bad.")
        let record = Self.record(2, .admin, .fail(.notInRetryOn)) { $0.failure = certificate }
        harness.engine.post(
            .ended(
                ExchangeEnded(
                    id, as: .failed, failure: certificate,
                    AttemptTally(AttemptCounts(all: 2), automaticLeft: nil, isBodyReplayable: true, records: [record]))))
        _ = try await harness.post("/v1/pending/\(cancelled)/cancel")

        let response = try await harness.send("GET", "/v1/pending/\(id)/explain")
        #expect((response.json["attempts"] as? [[String: Any]])?.last?["verdict"] as? String == "fail")
        let now = response.json["now"] as? [String: Any] ?? [:]
        #expect(now["state"] as? String == "failed")
        #expect(now["until"] is NSNull)
        #expect(
            now["text"] as? String
                == "Failed at 2026-01-01T00:00:05.000Z, after 2 attempts and 0.0 s of waiting. The certificate is bad. "
                + "No further attempt: retryOn does not list the failure.")
        let other = try await self.now(harness, cancelled)
        #expect(
            (other["text"] as? String)?.hasPrefix("Cancelled at 2026-01-01T00:00:05.000Z, after 1 attempt")
                == true)
    }

    @Test func deliveredNamesTheStatusOfItsResponse() async throws {
        let id = harness.park(1).id
        let record = Self.record(2, .admin, .deliver(.answered)) { $0.status = 201 }
        harness.engine.post(
            .ended(
                ExchangeEnded(
                    id, as: .delivered,
                    AttemptTally(AttemptCounts(all: 2), automaticLeft: nil, isBodyReplayable: true, records: [record]))))
        let text = try await now(harness, id)["text"] as? String
        #expect(text?.hasPrefix("The client got the response (201) at ") == true)
        let entry = try await harness.send("GET", "/v1/pending/\(id)").json
        #expect(entry["response"] as? [String: Int] == ["status": 201])
    }

    @Test(arguments: [false, true])
    func everyVerdictHasASentence(isTicket: Bool) {
        let parkings = Verdict.ParkingRule.allCases.map {
            Verdict.park(.init(delay: .zero, shutsGate: false, rule: $0))
        }
        // Nobody is given a stand-in who asks for a ticket: there it is a failure like that before it.
        let standIn = isTicket ? [] : [Verdict.standIn(StandInResponse(status: 200))]
        let verdicts =
            parkings + Verdict.DeliverReason.allCases.map { .deliver($0) }
            + Verdict.FailReason.allCases.map { .fail($0) } + [.againOnNewConnection] + standIn
        let sentences = verdicts.map { $0.sentence(isTicket: isTicket) }
        #expect(sentences.allSatisfy { $0.hasSuffix(".") && $0.first?.isUppercase == true })
        #expect(Set(sentences).count == sentences.count)
        #expect(isTicket == sentences.contains { $0.contains("ticket") })
    }
}
