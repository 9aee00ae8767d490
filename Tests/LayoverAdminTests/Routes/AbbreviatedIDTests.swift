import LayoverCore
import LayoverEngine
import LayoverTestSupport
import Testing

@testable import LayoverAdmin

/// An entry may be asked for by the beginning of its id. Commands need the whole id.
struct AbbreviatedIDTests {
    /// Ids whose digits after the zeros are the number's.
    private static let numbers: [UInt64] = [0xA1 << 32, 0xA2 << 32, 0xB3 << 32]
    private static let zeros = String(repeating: "0", count: 22)

    @Test func prefixFindsLiveAndEndedEntries() async throws {
        let harness = AdminHarness()
        let ids = Self.numbers.map { harness.park($0).id }
        _ = try await harness.post("/v1/pending/\(ids[2])/cancel")
        for (digits, id) in [("a1", ids[0]), ("a2", ids[1]), ("b", ids[2])] {
            let response = try await harness.send("GET", "/v1/pending/\(Self.zeros)\(digits)")
            #expect(response.json["id"] as? String == id.description)
        }
    }

    @Test func ambiguousPrefixNamesTheIDs() async throws {
        let harness = AdminHarness()
        let ids = Self.numbers.map { harness.park($0).id }
        let response = try await harness.send("GET", "/v1/pending/\(Self.zeros)a").expectStatus(409)
        #expect(response.json["kind"] as? String == "ambiguous_id")
        #expect(response.text.contains(ids[0].description) && response.text.contains(ids[1].description))
        #expect(!response.text.contains(ids[2].description))
    }

    @Test func unknownPrefixIsNotFoundAndCommandsTakeNoPrefix() async throws {
        let harness = AdminHarness()
        let id = harness.park(Self.numbers[0]).id
        let response = try await harness.send("GET", "/v1/pending/00000000ff").expectStatus(404)
        #expect((response.json["detail"] as? String)?.contains("00000000ff") == true)
        #expect(try await harness.post("/v1/pending/\(id.description.prefix(18))/cancel").status == 404)
        #expect(try await harness.send("GET", "/v1/pending/\(id)").json["state"] as? String == "waiting")
    }

    @Test func prefixFindsATicketThatOnlyTheStoreHas() async throws {
        let store = MemoryStore(on: MemoryDisk())
        var record = TicketRecord.fixture(1)
        _ = try await store.commit([.insert(record, .fixture(), nil)])
        record.revision = 2
        record.state = .delivered
        record.endedAt = record.createdAt
        _ = try await store.commit([.update(record)])
        let harness = AdminHarness(store: store)
        let digits = record.id.description.prefix(12)
        let response = try await harness.send("GET", "/v1/pending/\(digits)")
        #expect(response.json["id"] as? String == record.id.description)
    }
}
