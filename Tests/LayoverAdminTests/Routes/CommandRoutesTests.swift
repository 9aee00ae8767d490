import LayoverCore
import LayoverTestSupport
import Testing

@testable import LayoverAdmin

/// hold, release and force; retry and cancel stand with the pending set.
struct CommandRoutesTests {
    private let harness = AdminHarness()
    private static let acknowledged = "{\"acknowledge\":\"duplicate-risk\"}"

    @Test func heldEntryWaitsForAPersonUntilItIsReleased() async throws {
        let clock = ManualClock()
        let harness = AdminHarness(clock: clock)
        let (id, exchange) = harness.park(1)
        let held = try await harness.post("/v1/pending/\(id)/hold").expectStatus(200)
        #expect(held.json["state"] as? String == "held")
        #expect(held.json["actions"] as? [String] == ["retry", "cancel", "release", "settle"])
        let counts = try await harness.send("GET", "/v1/pending").json["counts"] as? [String: Int]
        #expect(counts?["held"] == 1)
        #expect(try await harness.post("/v1/pending/\(id)/hold").status == 409)
        clock.advance(by: .seconds(60))
        await harness.engine.timerFired()
        #expect(exchange.calls.isEmpty)

        let released = try await harness.post("/v1/pending/\(id)/release").expectStatus(200)
        #expect(["waiting", "attempting"].contains(released.json["state"] as? String))
        await harness.engine.timerFired()
        #expect(exchange.calls.count == 1)
    }

    @Test func commandsCheckTheRevision() async throws {
        let id = harness.park(1).id
        let held = try await harness.post("/v1/pending/\(id)/hold", fields: ["If-Match": "\"1\""])
        #expect(held.json["revision"] as? Int == 2)
        #expect(held["ETag"] == "\"2\"")
        #expect(
            try await harness.post("/v1/pending/\(id)/release", fields: ["If-Match": "\"1\""]).status
                == 412)
        #expect(
            try await harness.post("/v1/pending/\(id)/release", fields: ["If-Match": "\"2\""]).status
                == 200)
    }

    @Test func forceWithAcknowledgementSendsAMaybeAppliedRequest() async throws {
        let (id, exchange) = harness.parkUndecided(1)
        let entry = try await harness.send("GET", "/v1/pending/\(id)").json
        #expect(entry["state"] as? String == "undecided")
        #expect(entry["why"] as? String == "maybeApplied")
        #expect(entry["actions"] as? [String] == ["force", "cancel", "settle"])
        let found = try await harness.send("GET", "/v1/pending?state=undecided").ids
        #expect(found == [id.description])

        let forced = try await harness.post("/v1/pending/\(id)/force", Self.acknowledged).expectStatus(200)
        #expect(forced.json["state"] as? String == "attempting")
        #expect(exchange.calls == [.start(.admin)])
    }

    @Test(arguments: [
        "{}", "{\"acknowledge\":\"yes\"}", "{\"acknowledge\":\"\"}", "{\"reason\":\"duplicate-risk\"}",
    ])
    func forceWithoutTheAcknowledgementSendsNothing(body: String) async throws {
        let (id, exchange) = harness.parkUndecided(1)
        let response = try await harness.post("/v1/pending/\(id)/force", body).expectStatus(422)
        #expect(response["Content-Type"] == "application/problem+json")
        #expect(response.json["type"] as? String == "urn:layover:problem:acknowledge")
        #expect(
            (response.json["detail"] as? String)?.contains("\"acknowledge\": \"duplicate-risk\"") == true)
        #expect(exchange.calls.isEmpty)
        #expect(try await harness.send("POST", "/v1/pending/\(id)/force").status == 422, "no body at all")
    }

    @Test func wrongRevisionIsRefusedBeforeTheAcknowledgementIsChecked() async throws {
        let id = harness.parkUndecided(1).id
        let response = try await harness.post(
            "/v1/pending/\(id)/force", Self.acknowledged, fields: ["If-Match": "\"77\""])
        #expect(response.status == 412)
    }

    @Test func retryOfAMaybeAppliedRequestIsAConflictThatNamesForce() async throws {
        let id = harness.parkUndecided(1).id
        let response = try await harness.post("/v1/pending/\(id)/retry").expectStatus(409)
        #expect((response.json["detail"] as? String)?.contains("force") == true)
    }

    @Test(arguments: ["retry", "cancel", "hold", "release", "force"])
    func everyCommandOnAnEndedEntryIsAConflictAndOnAnUnknownOneNotFound(command: String) async throws {
        let id = harness.park(1).id
        _ = try await harness.post("/v1/pending/\(id)/cancel")
        let ended = try await harness.post("/v1/pending/\(id)/\(command)", Self.acknowledged)
        #expect(ended.status == 409 && ended.json["type"] as? String == "urn:layover:problem:conflict")
        let unknown = AdminHarness.id(99)
        #expect(
            try await harness.post("/v1/pending/\(unknown)/\(command)", Self.acknowledged).status == 404)
    }

    @Test func manyAreHeldAndReleased() async throws {
        for number in 1...3 { harness.park(UInt64(number)) }
        harness.parkUndecided(4)
        let ids = [1, 4, 9].map { "\"\(AdminHarness.id(UInt64($0)))\"" }.joined(separator: ",")
        let named = try await harness.post("/v1/pending/hold", "{\"ids\":[\(ids)]}")
        #expect(
            (named.json["results"] as? [[String: Any]])?.map { $0["status"] as? Int } == [200, 409, 404])
        #expect(named.json["done"] as? Int == 1)

        let rest = try await harness.post("/v1/pending/hold", "{\"filter\":{\"state\":\"waiting\"}}")
        #expect(rest.json["done"] as? Int == 2)
        #expect(await harness.engine.counts()[.held] == 3)
        let released = try await harness.post("/v1/pending/release", "{\"all\":true}")
        #expect(released.json["matched"] as? Int == 4)
        #expect(released.json["done"] as? Int == 3)
        #expect(await harness.engine.counts()[.held] == 0)
    }
}
