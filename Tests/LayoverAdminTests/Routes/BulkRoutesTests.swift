import LayoverCore
import Testing

@testable import LayoverAdmin

struct BulkRoutesTests {
    private let harness = AdminHarness()

    @Test func idsGetAResultEachInTheirOrder() async throws {
        for number in 1...2 { harness.park(UInt64(number)) }
        #expect(try await harness.post("/v1/pending/\(AdminHarness.id(2))/cancel").status == 200)
        let ids =
            [AdminHarness.id(2), AdminHarness.id(1), AdminHarness.id(9)].map(\.description) + ["nonsense"]
        let list = ids.map { "\"\($0)\"" }.joined(separator: ",")

        let response = try await harness.post("/v1/pending/cancel", "{\"ids\":[\(list)]}")

        #expect(response.status == 200)
        #expect(response.json["matched"] as? Int == 1)
        #expect(response.json["done"] as? Int == 1)
        let results = response.json["results"] as? [[String: Any]] ?? []
        #expect(results.map { $0["id"] as? String } == ids)
        #expect(results.map { $0["status"] as? Int } == [409, 200, 404, 404])
    }

    /// All of them were parked at 00:00:05.
    @Test(arguments: [("05.000", 0, 2), ("05.001", 2, 0)])
    func entriesParkedLaterAreLeftAloneAndCounted(second: String, matched: Int, later: Int) async throws {
        for number in 1...2 { harness.park(UInt64(number)) }
        for dryRun in [true, false] {
            let response = try await harness.post(
                "/v1/pending/cancel", "{\"filter\":{\"parkedBefore\":\"2026-01-01T00:00:\(second)Z\"},\"dryRun\":\(dryRun)}")
            #expect(response.json["matched"] as? Int == matched)
            #expect(response.json["done"] as? Int == (dryRun ? 0 : matched))
            #expect(response.json["later"] as? Int == later)
        }
        #expect(try await harness.send("GET", "/v1/pending").data.count == later)
    }

    @Test func filterReachesOnlyWhatItNames() async throws {
        let one = harness.park(1, host: "a.example").exchange
        let other = harness.park(2, host: "b.example").exchange

        let response = try await harness.post("/v1/pending/cancel", "{\"filter\":{\"host\":\"b.example\"}}")

        #expect(response.json["matched"] as? Int == 1)
        #expect(response.json["done"] as? Int == 1)
        #expect((response.json["results"] as? [Any])?.isEmpty == true)
        #expect(one.calls.isEmpty)
        #expect(other.calls == [.end(.cancelled(reason: nil))])
    }

    @Test(arguments: ["\"waiting\"", "\"waiting,held\"", "[\"waiting\",\"attempting\"]"])
    func statesInAFilterAreATextOrAList(states: String) async throws {
        harness.park(1)
        let response = try await harness.post(
            "/v1/pending/retry", "{\"filter\":{\"state\":\(states),\"q\":\"cart\"},\"dryRun\":true}")
        #expect(response.json["matched"] as? Int == 1)
    }

    @Test func dryRunCountsOnly() async throws {
        let (id, exchange) = harness.park(1)
        for body in ["{\"all\":true,\"dryRun\":true}", "{\"ids\":[\"\(id)\"],\"dryRun\":true}"] {
            let response = try await harness.post("/v1/pending/cancel", body)
            #expect(response.json["matched"] as? Int == 1)
            #expect(response.json["done"] as? Int == 0)
        }
        #expect(exchange.calls.isEmpty)
    }

    @Test func allReachesMoreThanOnePortion() async throws {
        let exchanges = (1...700).map { harness.park(UInt64($0)).exchange }
        let response = try await harness.post(
            "/v1/pending/cancel", "{\"all\":true,\"reason\":\"clean up\"}")

        #expect(response.json["matched"] as? Int == 700)
        #expect(response.json["done"] as? Int == 700)
        #expect(exchanges.allSatisfy { $0.calls == [.end(.cancelled(reason: "clean up"))] })
        #expect(await harness.engine.counts()[.waiting] == 0)
    }
}
