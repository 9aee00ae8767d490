import LayoverCore
import LayoverEngine
import LayoverTestSupport
import Testing

@testable import LayoverAdmin

/// The command `settle`.
struct SettleRoutesTests {
    private static let body = "{\"status\":201,\"note\":\"in the books\",\"reason\":\"asked the shop\"}"

    @Test func settledEntryNamesThePersonWhoSettledIt() async throws {
        let harness = AdminHarness()
        let (id, exchange) = harness.parkUndecided(1)
        let response = try await harness.post("/v1/pending/\(id)/settle", Self.body).expectStatus(200)
        #expect(response.json["state"] as? String == "delivered")
        #expect(response.json["response"] == nil, "a person's word is no response")
        let settled = response.json["settledBy"] as? [String: Any] ?? [:]
        #expect(Set(settled.keys) == ["who", "from", "at", "status", "note"])
        #expect(settled["who"] as? String == "loopback" && settled["status"] as? Int == 201)
        #expect(settled["note"] as? String == "in the books")
        #expect((response.json["lastCommand"] as? [String: Any])?["reason"] as? String == "asked the shop")
        #expect(exchange.calls == [.end(.settled(note: "in the books"))])
        let now = try await harness.send("GET", "/v1/pending/\(id)/explain").json["now"] as? [String: Any]
        #expect(
            now?["text"] as? String
                == "Settled at 2026-01-01T00:00:05.000Z, after 1 attempt and 0.0 s of waiting, by a person (loopback): "
                + "the server has processed the request with status 201. Note: \"in the books\". Reason: \"asked the shop\".")
        #expect(try await harness.post("/v1/pending/\(id)/settle").status == 409)
    }

    @Test func entryUnderWayIsAConflict() async throws {
        let harness = AdminHarness()
        let id = harness.park(1).id
        #expect(try await harness.post("/v1/pending/\(id)/retry").json["state"] as? String == "attempting")
        #expect(try await harness.post("/v1/pending/\(id)/settle", Self.body).status == 409)
        #expect(try await harness.post("/v1/pending/\(AdminHarness.id(9))/settle").status == 404)
    }

    @Test func severalAreNotSettledAtOnce() async throws {
        let harness = AdminHarness()
        #expect(try await harness.post("/v1/pending/settle", "{\"all\":true}").status == 405)
    }

    @Test func settledTicketHasNoResponse() async throws {
        let store = MemoryStore(on: MemoryDisk())
        let harness = AdminHarness(options: .with { $0.bodyToken = "key" }, store: store)
        try await harness.engine.restore(from: store, bootID: "", routes: RouteTable())
        let id = try await harness.accept(1)
        _ = try await harness.post("/v1/pending/\(id)/settle", Self.body)
        let response = try await harness.send("GET", "/v1/pending/\(id)/response", fields: ["Authorization": "Bearer key"])
        #expect(response.status == 410)
        #expect(response.json["type"] as? String == "urn:layover:problem:settled")
    }
}
