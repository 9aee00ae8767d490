import Foundation
import LayoverCore
import Testing

@testable import LayoverAdmin
@testable import LayoverEngine

/// Origins, lanes and the last 15 minutes.
struct ActivityRoutesTests {
    private let harness = AdminHarness()

    @Test func shutOriginShowsItsGateAndItsBacklog() async throws {
        #expect(try await harness.send("GET", "/v1/origins").text == #"{"data":[],"nextCursor":null}"#)
        harness.park(1)
        harness.park(2)
        harness.park(3, host: "b.example", parking: .init(delay: .seconds(9), shutsGate: false))
        let origins = try await harness.send("GET", "/v1/origins").data
        #expect(origins.map { $0["origin"] as? String } == ["http://b.example", "http://shop.example"])
        #expect(origins.map { $0["gate"] as? String } == ["open", "shut"])
        #expect(origins.map { $0["backlog"] as? Int } == [1, 2])
        #expect(origins[0]["canaryAt"] is NSNull && (origins[1]["canaryAt"] as? String)?.hasPrefix("2026-01-01T") == true)
        #expect(origins.allSatisfy { $0["underWay"] as? Int == 0 && ($0["pauses"] as? [Any])?.isEmpty == true })
        let lines = try await harness.send("GET", "/v1/origins", fields: ["Accept": "application/jsonl"])
        #expect(lines.text.split(separator: "\n").count == 2)
        #expect(try await harness.send("GET", "/v1/origins?x=1").status == 400)
    }

    @Test func openConnectionsAreShownAlsoOfOriginsThatNoRequestWaitsFor() async throws {
        let counts: [Origin: ConnectionCount] = [
            Origin(scheme: .http, host: "shop.example"): .init(open: 3, busy: 2), Origin(scheme: .https, host: "a.example"): .init(open: 1),
        ]
        let harness = AdminHarness(sources: { $0.connectionCounts = { counts } })
        harness.park(1)
        let origins = try await harness.send("GET", "/v1/origins").data
        #expect(origins.map { $0["origin"] as? String } == ["http://shop.example", "https://a.example"])
        #expect(origins.map { $0["connections"] as? Int } == [3, 1] && origins.map { $0["streams"] as? Int } == [2, 0])
        #expect(origins.map { $0["gate"] as? String } == ["shut", "open"])
        let upstream = try await harness.send("GET", "/v1/status").json["upstream"] as? [String: Int]
        #expect(upstream == ["connections": 4, "streams": 2])
        let metrics = try await harness.send("GET", "/metrics").text
        #expect(metrics.contains("layover_upstream_connections 4") && metrics.contains("layover_upstream_streams 2"))
    }

    @Test func pauseOfAnOriginIsShown() async throws {
        harness.park(1)
        harness.engine.post(OriginPaused(Origin(scheme: .http, host: "shop.example"), for: Policy.ratelimited, .seconds(30)))
        let pauses = try await harness.send("GET", "/v1/origins").data.first?["pauses"] as? [[String: String]]
        #expect(pauses?.map { $0["policy"] } == ["ratelimited"])
        #expect(pauses?.first?["until"]?.hasPrefix("2026-01-01T00:00:35") == true)
    }

    @Test func blockedLaneNamesItsFirst() async throws {
        #expect(try await harness.send("GET", "/v1/lanes").data.isEmpty)
        let first = harness.park(1).id
        let second = harness.park(2).id
        for id in [first, second] {
            let response = try await harness.send(
                "PATCH", "/v1/pending/\(id)", fields: ["Content-Type": "application/json"], body: #"{"lane":"till"}"#)
            #expect(response.status == 200)
        }
        var lane = try #require(try await harness.send("GET", "/v1/lanes").data.first)
        #expect(lane["lane"] as? String == "till" && lane["count"] as? Int == 2 && lane["blocked"] as? Bool == false)
        #expect(try await harness.post("/v1/pending/\(first)/hold").status == 200)
        lane = try #require(try await harness.send("GET", "/v1/lanes").data.first)
        #expect((lane["first"] as? [String: String]) == ["id": first.description, "state": "held"])
        #expect(lane["blocked"] as? Bool == true, "the second waits for a person")
    }

    @Test func seriesHasABucketForEachFiveSeconds() async throws {
        harness.park(1)
        harness.park(2)
        _ = try await harness.post("/v1/pending/\(AdminHarness.id(1))/cancel")
        let series = try await harness.send("GET", "/v1/series")
        #expect(series.json["interval"] as? Int == 5)
        #expect(series.data.count == 180)
        let last = try #require(series.data.last)
        #expect(last["at"] as? String == "2026-01-01T00:00:05.000Z")
        #expect(last["parked"] as? Int == 2 && last["ended"] as? Int == 1 && last["live"] as? Int == 1)
        #expect(series.data.dropLast().allSatisfy { $0["parked"] as? Int == 0 && $0["live"] as? Int == 0 })
    }
}
