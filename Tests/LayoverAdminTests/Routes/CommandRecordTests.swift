import LayoverCore
import LayoverEngine
import LayoverTestSupport
import Testing

@testable import LayoverAdmin

/// The record of a command: who gave it, when, from where and why.
struct CommandRecordTests {
    private let harness = AdminHarness()
    private static let reason = "{\"reason\":\"booked by hand\"}"

    private func lastCommand(_ response: Answer) -> [String: String?] {
        (response.json["lastCommand"] as? [String: Any] ?? [:]).mapValues { $0 as? String }
    }

    @Test func entryNamesItsNewestCommand() async throws {
        let id = harness.park(1).id
        #expect(try await harness.send("GET", "/v1/pending/\(id)").json["lastCommand"] == nil)
        _ = try await harness.post("/v1/pending/\(id)/hold", "{\"reason\":\"lunch\"}")
        _ = try await harness.post("/v1/pending/\(id)/release")
        let cancelled = lastCommand(try await harness.post("/v1/pending/\(id)/cancel", Self.reason))
        let expected: [String: String?] = [
            "name": "cancel", "who": "loopback", "from": nil, "at": "2026-01-01T00:00:05.000Z", "reason": "booked by hand",
        ]
        #expect(cancelled == expected)
        #expect(lastCommand(try await harness.send("GET", "/v1/pending/\(id)")) == expected, "after its end")
    }

    @Test func adminTokenMakesAnAdmin() async throws {
        let harness = AdminHarness(options: .with { $0.bodyToken = "key" })
        let id = harness.park(1).id
        let field = ["Authorization": "Bearer key"]
        #expect(lastCommand(try await harness.post("/v1/pending/\(id)/hold", fields: field))["who"] == "admin")
        #expect(lastCommand(try await harness.post("/v1/pending/\(id)/release"))["who"] == "loopback")
    }

    @Test func commandsForManyAreKeptWithEach() async throws {
        let ids = (1...4).map { harness.park($0).id }
        _ = try await harness.post("/v1/pending/hold", "{\"ids\":[\"\(ids[0])\"],\"reason\":\"one\"}")
        _ = try await harness.post("/v1/pending/cancel", "{\"ids\":[\"\(ids[1])\"],\"reason\":\"two\"}")
        let incident = try #require(try await harness.send("GET", "/v1/incidents").ids.first)
        _ = try await harness.post("/v1/incidents/\(incident)/cancel", "{\"reason\":\"three\"}")
        var told: [String] = []
        for id in ids {
            let command = lastCommand(try await harness.send("GET", "/v1/pending/\(id)"))
            told.append("\(command["name"]?.flatMap(\.self) ?? "") \(command["reason"]?.flatMap(\.self) ?? "")")
        }
        #expect(told == ["cancel three", "cancel two", "cancel three", "cancel three"])
    }

    @Test func commandThatIsRefusedLeavesNoTrace() async throws {
        let id = harness.park(1).id
        #expect(try await harness.post("/v1/pending/\(id)/release", Self.reason).status == 409)
        #expect(try await harness.post("/v1/pending/\(id)/force", Self.reason).status == 409)
        #expect(try await harness.send("GET", "/v1/pending/\(id)").json["lastCommand"] == nil)
    }

    @Test func longReasonIsRefusedWithASentence() async throws {
        let id = harness.park(1).id
        let long = "{\"reason\":\"\(String(repeating: "a", count: 501))\"}"
        let response = try await harness.post("/v1/pending/\(id)/hold", long).expectStatus(400)
        #expect(response.json["detail"] as? String == "'reason': A reason has at most 500 characters.")
    }

    // MARK: Explain

    private func now(_ harness: AdminHarness, _ id: EntryID) async throws -> String {
        let now = try await harness.send("GET", "/v1/pending/\(id)/explain").json["now"] as? [String: Any]
        return now?["text"] as? String ?? ""
    }

    private static let ending = "Cancelled at 2026-01-01T00:00:05.000Z, after 1 attempt and 0.0 s of waiting"

    @Test func explainNamesTheOneCauseOfACancellation() async throws {
        let (byPerson, byClient, byStop) = (harness.park(1).id, harness.park(2).id, harness.park(3).id)
        _ = try await harness.post("/v1/pending/\(byPerson)/cancel", Self.reason)
        // A command is no cause of what came later.
        _ = try await harness.post("/v1/pending/\(byClient)/hold", Self.reason)
        harness.engine.post(.ended(ExchangeEnded(byClient, as: .cancelled, AttemptTally(AttemptCounts(all: 1)))))
        _ = try await harness.send("GET", "/v1/status")
        await harness.engine.drain()
        #expect(try await now(harness, byPerson) == Self.ending + ", by a person (loopback). Reason: \"booked by hand\".")
        #expect(try await now(harness, byClient) == Self.ending + ": the client disconnected.")
        #expect(try await now(harness, byStop) == Self.ending + ": the proxy stopped.")
    }

    @Test func explainNamesWhoHoldsARequest() async throws {
        let id = harness.park(1).id
        _ = try await harness.post("/v1/pending/\(id)/hold", Self.reason)
        #expect(try await now(harness, id).hasPrefix("Held by a person (loopback): release resumes"))
        #expect(try await now(harness, id).contains(" Reason: \"booked by hand\". The client gets a 504"))
    }

    // MARK: Tickets

    @Test func ticketKeepsItsCommandOverARestart() async throws {
        let store = MemoryStore(on: MemoryDisk())
        let id = AdminHarness.id(1)
        do {
            let harness = AdminHarness(store: store)
            try await harness.engine.restore(from: store, bootID: "", routes: RouteTable())
            try await harness.accept(1)
            _ = try await harness.post("/v1/pending/\(id)/hold", Self.reason)
        }
        do {
            let harness = AdminHarness(store: store)
            try await harness.engine.restore(from: store, bootID: "", routes: RouteTable())
            let command = lastCommand(try await harness.send("GET", "/v1/pending/\(id)"))
            #expect(command["name"] == "hold" && command["reason"] == "booked by hand" && command["who"] == "loopback")
        }
    }

    @Test func clientOfATicketCancelsIt() async throws {
        let store = MemoryStore(on: MemoryDisk())
        let harness = AdminHarness(store: store)
        try await harness.engine.restore(from: store, bootID: "", routes: RouteTable())
        let id = try await harness.accept(1)
        _ = try await harness.engine.dropTicket(id)
        #expect(lastCommand(try await harness.send("GET", "/v1/pending/\(id)"))["who"] == "client")
        #expect(try await now(harness, id).hasSuffix(", by its client."))
    }
}
