import LayoverCore
import LayoverEngine
import LayoverTestSupport
import Testing

@testable import LayoverAdmin

/// Responses of the admin API while the disk takes no changes.
struct UnsavedRoutesTests {
    /// A ticket was accepted before the disk was full.
    private func onFullDisk() async throws -> (AdminHarness, EntryID) {
        var faults = MemoryFaults()
        for number in 2...2_000 { faults.failures[number] = StoreFailure(.full, "The disk of the store is full.") }
        let harness = AdminHarness(store: MemoryStore(on: MemoryDisk(), faults: faults))
        return (harness, try await harness.accept(1))
    }

    @Test(arguments: ["cancel", "hold"])
    func commandIsA507UntilItIsOnDisk(command: String) async throws {
        let (harness, id) = try await onFullDisk()
        let response = try await harness.post("/v1/pending/\(id)/\(command)").expectStatus(507)
        #expect(response.json["kind"] as? String == "store")
        let detail = response.json["detail"] as? String
        #expect(detail?.hasPrefix("The change is applied but not yet saved to disk") == true)
        #expect(detail?.hasSuffix("The disk of the store is full.") == true)
        #expect(try await harness.send("GET", "/v1/pending/\(id)").status == 200)
    }

    @Test func changeIsA507UntilItIsOnDisk() async throws {
        let (harness, id) = try await onFullDisk()
        let response = try await harness.send(
            "PATCH", "/v1/pending/\(id)", fields: ["Content-Type": "application/json"],
            body: "{\"expiresAt\":\"2026-03-01T00:00:00Z\"}")
        #expect(response.status == 507)
    }

    @Test func namedEntriesHaveTheirOwnStatus() async throws {
        let (harness, id) = try await onFullDisk()
        let held = harness.park(9).id
        let response = try await harness.post("/v1/pending/cancel", "{\"ids\":[\"\(id)\",\"\(held)\"]}").expectStatus(200)
        #expect(response.json["done"] as? Int == 1)
        let results = response.json["results"] as? [[String: Any]] ?? []
        #expect(results.compactMap { $0["status"] as? Int } == [507, 200])
    }

    @Test func bulkCommandIsA507ThatCountsUnsavedEntries() async throws {
        let (harness, _) = try await onFullDisk()
        harness.park(9)
        let response = try await harness.post("/v1/pending/cancel", "{\"all\":true}").expectStatus(507)
        #expect((response.json["detail"] as? String)?.hasPrefix("1 of 2: The change is applied but not yet saved to disk") == true)
    }
}
