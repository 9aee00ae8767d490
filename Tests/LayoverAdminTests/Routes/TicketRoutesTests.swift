import Foundation
import LayoverCore
import LayoverEngine
import LayoverTestSupport
import Testing

@testable import LayoverAdmin

/// Tickets and the store in the admin API.
struct TicketRoutesTests {
    private static let full = StoreFailure(.full, "The disk of the store is full.")

    @Test func ticketHasItsIDItsLaneAndItsParents() async throws {
        let harness = AdminHarness(store: MemoryStore(on: MemoryDisk()))
        let first = try await harness.accept(1)
        let second = try await harness.accept(2, lane: "one", parents: [first])
        let entry = try await harness.send("GET", "/v1/pending/\(second)").json
        #expect(entry["ticket"] as? String == "***", "it is the key to the answer")
        #expect(entry["lane"] as? String == "one")
        #expect(entry["parents"] as? [String] == [first.description])
        #expect(entry["waitingFor"] as? String == "parent")
        #expect((entry["client"] as? [String: Any])?["connected"] as? Bool == false)
        #expect(try await harness.send("GET", "/v1/pending/\(first)").json["parents"] == nil)
    }

    @Test func lanesAreFilteredAndSorted() async throws {
        let harness = AdminHarness(store: MemoryStore(on: MemoryDisk()))
        let ids = [
            try await harness.accept(1, lane: "b"), try await harness.accept(2, lane: "a b"),
            try await harness.accept(3), try await harness.accept(4, lane: "b"),
        ].map(\.description)
        #expect(try await harness.send("GET", "/v1/pending?lane=b").ids == [ids[0], ids[3]])
        #expect(try await harness.send("GET", "/v1/pending?lane=a%20b").ids == [ids[1]])
        #expect(try await harness.send("GET", "/v1/pending?lane=B").ids == [], "names are exact")
        #expect(
            try await harness.send("GET", "/v1/pending?sort=lane").ids == [ids[2], ids[1], ids[0], ids[3]])
        #expect(try await harness.send("GET", "/v1/pending?sort=-priority").status == 200)
        let held = try await harness.post("/v1/pending/hold", "{\"filter\":{\"lane\":\"b\"}}")
        #expect(held.json["done"] as? Int == 2)
    }

    @Test func waitReasonIsExplained() async throws {
        let harness = AdminHarness(store: MemoryStore(on: MemoryDisk()))
        let parent = try await harness.accept(1)
        let child = try await harness.accept(2, parents: [parent])
        _ = try await harness.accept(3, lane: "one")
        let behind = try await harness.accept(4, lane: "one")
        func text(_ id: EntryID) async throws -> String {
            let now = try await harness.send("GET", "/v1/pending/\(id)/explain").json["now"] as? [String: Any]
            return now?["text"] as? String ?? ""
        }
        #expect(try await text(child).hasPrefix("Waits for tickets that it depends on: \(parent)."))
        #expect(try await text(behind).hasPrefix("Waits for earlier requests in lane one."))
        #expect(try await text(behind).contains(" The first of them is "))
        #expect(try await text(behind).contains(" Expires at "))
        _ = try await harness.post("/v1/pending/\(parent)/cancel")
        #expect(try await text(child).hasPrefix("A ticket that it depends on was not delivered"))
    }

    @Test func supersededAndExpiredCredentialsAreExplained() async throws {
        var policy = Policy.standard
        policy.coalesce = .lastPut
        let harness = AdminHarness(store: MemoryStore(on: MemoryDisk()))
        func now(_ id: EntryID) async throws -> [String: Any] {
            try await harness.send("GET", "/v1/pending/\(id)/explain").json["now"] as? [String: Any] ?? [:]
        }
        let older = try await harness.accept(1, method: "PUT", policy: policy)
        let newer = try await harness.accept(2, method: "PUT", policy: policy)
        let superseded = try await now(older)
        #expect(superseded["state"] as? String == "cancelled")
        #expect((superseded["text"] as? String)?.hasPrefix("Replaced by a newer request at 2026-01-01T") == true)
        #expect((superseded["text"] as? String)?.hasSuffix(": \(newer).") == true)

        let late = try await harness.accept(3, notAfter: Timestamp(nanoseconds: 4_000_000_000))
        let undecided = try await now(late)
        #expect(undecided["why"] as? String == "credentialsExpired")
        #expect(
            (undecided["text"] as? String)?.hasPrefix("The credentials expired at 2026-01-01T00:00:04.000Z, so")
                == true)
    }

    @Test func documentNamesEveryEnumValue() async throws {
        let harness = AdminHarness()
        let text = try await harness.send("GET", "/openapi.yaml").text
        for words in [
            EntryState.allCases.map(\.rawValue), AttemptTrigger.allCases.map(\.rawValue),
            ["ok"] + StoreFailure.Kind.allCases.map(\.rawValue), Evidence.allCases.map(\.rawValue),
        ] {
            let list = words.joined(separator: ", ")
            #expect(text.contains("[\(list)]") || text.contains("[\(list), null]"), "\(list)")
        }
        for words in [WaitReason.allCases.map(\.rawValue), UndecidedReason.allCases.map(\.rawValue)] {
            #expect(text.contains("enum: [\(words.joined(separator: ", ")), null]"), "\(words)")
        }
    }

    @Test func endedTicketIsShownAsLongAsTheStoreKeepsIt() async throws {
        var limits = PendingLimits()
        limits.rememberedCountMax = 1
        let store = MemoryStore(on: MemoryDisk())
        let harness = AdminHarness(limits: limits, store: store)
        try await harness.engine.restore(from: store, bootID: "", routes: RouteTable())
        let ids = [try await harness.accept(1), try await harness.accept(2)]
        for id in ids { _ = try await harness.post("/v1/pending/\(id)/cancel") }
        #expect(await harness.engine.entry(ids[0]) == nil, "it is not in memory any more")

        let entry = try await harness.send("GET", "/v1/pending/\(ids[0])").expectStatus(200)
        #expect(entry.json["state"] as? String == "cancelled")
        #expect(entry.json["ticket"] as? String == "***")
        #expect(entry.json["actions"] as? [String] == [])
        #expect(entry.json["parkedAt"] as? String == "2026-01-01T00:00:05.000Z")
        let explained = try await harness.send("GET", "/v1/pending/\(ids[0])/explain").json
        #expect((explained["now"] as? [String: Any])?["state"] as? String == "cancelled")

        for command in ["retry", "cancel", "hold"] {
            let response = try await harness.post("/v1/pending/\(ids[0])/\(command)")
            #expect(response.status == 409, "\(command)")
            #expect((response.json["detail"] as? String)?.contains("cancelled") == true)
        }
        let (known, unknown) = (ids[0].description, AdminHarness.id(99).description)
        let many = try await harness.post("/v1/pending/retry", "{\"ids\":[\"\(known)\",\"\(unknown)\"]}")
        #expect((many.json["results"] as? [[String: Any]])?.map { $0["status"] as? Int } == [409, 404])
        let patched = try await harness.send(
            "PATCH", "/v1/pending/\(ids[0])", fields: ["Content-Type": "application/json"],
            body: "{\"priority\":1}")
        #expect(patched.status == 409)
        #expect(try await harness.post("/v1/pending/\(ids[0])/retry", fields: ["If-Match": "\"77\""]).status == 412)
    }

    @Test func unreadableStoreIsAProblemAndNotAnUnknownEntry() async throws {
        let store = MemoryStore(on: MemoryDisk())
        let harness = AdminHarness(store: store)
        await store.close()
        let response = try await harness.send("GET", "/v1/pending/\(AdminHarness.id(99))").expectStatus(503)
        #expect(response.json["type"] as? String == "urn:layover:problem:store")
    }

    // MARK: The store

    @Test func statusAndMetricsShowTheStore() async throws {
        let harness = AdminHarness(store: MemoryStore(on: MemoryDisk()))
        await harness.engine.keepHistory(for: .seconds(3600))
        try await harness.accept(1)
        try await harness.accept(2)
        let status = try await harness.send("GET", "/v1/status").json
        let store = status["store"] as? [String: Any] ?? [:]
        #expect(Set(store.keys) == ["condition", "message", "bytes", "unsaved", "history"])
        #expect(store["condition"] as? String == "ok")
        #expect(store["message"] is NSNull)
        #expect(store["unsaved"] as? Int == 0)
        #expect(store["history"] as? Double == 3600)
        #expect((status["totals"] as? [String: Int])?["accepted"] == 2)
        let lines = try await metrics(harness)
        for line in [
            "layover_tickets_accepted_total 2", "layover_tickets_unsaved 0", "layover_store_failures_total 0",
            "layover_store_condition{condition=\"ok\"} 1", "layover_store_condition{condition=\"full\"} 0",
        ] { #expect(lines.contains(line), "missing: \(line)") }
    }

    @Test func fullDiskIsShownInStatusAndMetrics() async throws {
        let isFull = Watched(false)
        let faults = MemoryFaults(trouble: { isFull.value ? Self.full : nil })
        let harness = AdminHarness(store: MemoryStore(on: MemoryDisk(), faults: faults))
        let id = try await harness.accept(1)
        isFull.update { $0 = true }
        #expect(try await harness.post("/v1/pending/\(id)/hold").status == 507)
        await #expect(throws: AdminHarness.NotAccepted.self) { try await harness.accept(2) }
        // A change that is on its way to the disk once more is not counted, so each is looked at until it is back.
        let store = try await firstValue("an unsaved ticket in the status") {
            let store = try await harness.send("GET", "/v1/status").json["store"] as? [String: Any] ?? [:]
            return store["unsaved"] as? Int == 0 ? nil : store
        }
        #expect(store["condition"] as? String == "full")
        #expect(store["message"] as? String == Self.full.message)
        #expect(store["unsaved"] as? Int == 1)
        let lines = try await firstValue("an unsaved ticket in the metrics") {
            let lines = try await metrics(harness)
            return lines.contains("layover_tickets_unsaved 0") ? nil : lines
        }
        for line in [
            "layover_tickets_accepted_total 1", "layover_tickets_unsaved 1",
            "layover_store_condition{condition=\"ok\"} 0", "layover_store_condition{condition=\"full\"} 1",
        ] { #expect(lines.contains(line), "missing: \(line)") }
        let failures = lines.first { $0.hasPrefix("layover_store_failures_total ") }?.split(separator: " ").last
        #expect(Int(failures ?? "") ?? 0 >= 2, "the change and the second acceptance, and more if it was tried again")
    }

    @Test func withoutAStoreThereIsNothingToShow() async throws {
        let harness = AdminHarness()
        #expect(try await harness.send("GET", "/v1/status").json["store"] is NSNull)
        #expect(try await !harness.send("GET", "/metrics").text.contains("layover_store"))
    }

    private func metrics(_ harness: AdminHarness) async throws -> [String] {
        try await harness.send("GET", "/metrics").text.split(separator: "\n").map(String.init)
    }
}
