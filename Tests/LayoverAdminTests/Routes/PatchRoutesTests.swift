import Foundation
import LayoverCore
import LayoverEngine
import LayoverTestSupport
import Testing

@testable import LayoverAdmin

struct PatchRoutesTests {
    private let harness = AdminHarness()

    private func patch(
        _ harness: AdminHarness, _ id: EntryID, _ body: String, ifMatch: String? = nil
    ) async throws -> Answer {
        var fields = ["Content-Type": "application/json"]
        fields["If-Match"] = ifMatch
        return try await harness.send("PATCH", "/v1/pending/\(id)", fields: fields, body: body)
    }

    @Test func onlyTheNamedKeysChange() async throws {
        let id = harness.park(1).id
        let before = try await harness.send("GET", "/v1/pending/\(id)").json

        let first = try await patch(harness, id, "{\"priority\":0}", ifMatch: "\"1\"").expectStatus(200)
        #expect(first["ETag"] == "\"2\"")
        #expect(first.json["priority"] as? Int == 0)
        #expect(first.json["expiresAt"] as? String == before["expiresAt"] as? String)
        #expect(first.json["lane"] is NSNull)

        let second = try await patch(
            harness, id, "{\"expiresAt\":\"2026-01-01T02:00:00+01:00\",\"lane\":\"one\"}", ifMatch: "*")
        #expect(second.json["expiresAt"] as? String == "2026-01-01T01:00:00.000Z")
        #expect(second.json["lane"] as? String == "one")
        #expect(second.json["priority"] as? Int == 0)

        let third = try await patch(harness, id, "{\"lane\":null}")
        #expect(third.json["lane"] is NSNull)
        #expect(third.json["state"] as? String == "waiting")
    }

    @Test(arguments: ["1.5", "-1", "8", "1e30"])
    func priorityIsAWholeNumber(text: String) async throws {
        let response = try await patch(harness, harness.park(1).id, "{\"priority\":\(text)}").expectStatus(400)
        #expect(response.json["detail"] as? String == "'priority' must be a whole number from 0 (first) to 7 (last).")
    }

    @Test func deadlineInThePastEndsTheEntry() async throws {
        let (id, exchange) = harness.park(1)
        let response = try await patch(harness, id, "{\"expiresAt\":\"2025-12-31T23:59:59Z\"}").expectStatus(200)
        #expect(response.json["state"] as? String == "expired")
        #expect(exchange.calls == [.end(.expired)])
        let again = try await patch(harness, id, "{\"priority\":1}").expectStatus(409)
        #expect((again.json["detail"] as? String)?.contains("expired") == true)
    }

    @Test func laneCannotChangeDuringAnAttemptButPriorityCan() async throws {
        let id = harness.park(1).id
        _ = try await harness.post("/v1/pending/\(id)/retry")
        let response = try await patch(harness, id, "{\"lane\":\"one\",\"priority\":1}").expectStatus(409)
        #expect(response.json["type"] as? String == "urn:layover:problem:conflict")
        #expect((response.json["detail"] as? String)?.contains("lane") == true)
        #expect(await harness.engine.entry(id)?.priority == 3, "a refused change changes nothing")
        #expect(try await patch(harness, id, "{\"priority\":1}").status == 200)
    }

    /// If-Match is looked at before the engine is asked, and the entry may change in between.
    @Test func engineRefusesAnOldRevision() async throws {
        let id = harness.park(1).id
        let (result, entry) = await harness.engine.patch(id, EntryPatch(priority: 1), revision: 77)
        #expect(result == .stale)
        #expect(entry?.priority == 3)
    }

    @Test func changeOutlivesARestart() async throws {
        let disk = MemoryDisk()
        let id = AdminHarness.id(1)
        let first = MemoryStore(on: disk)
        do {
            let harness = AdminHarness(store: first)
            try await harness.engine.restore(from: first, bootID: "", routes: RouteTable())
            try await harness.accept(1, lane: "one")
            let body = "{\"priority\":6,\"lane\":\"two\",\"expiresAt\":\"2026-03-01T00:00:00Z\"}"
            #expect(try await patch(harness, id, body).status == 200)
        }
        let store = MemoryStore(on: disk)
        do {
            let harness = AdminHarness(store: store)
            _ = await harness.engine.setMode(.offline, reason: nil)
            try await harness.engine.restore(from: store, bootID: "", routes: RouteTable())
            let entry = try await harness.send("GET", "/v1/pending/\(id)").json
            #expect(entry["priority"] as? Int == 6)
            #expect(entry["lane"] as? String == "two")
            #expect(entry["expiresAt"] as? String == "2026-03-01T00:00:00.000Z")
            #expect(entry["ticket"] as? String == "***")
        }
    }
}
