import Foundation
import LayoverCore
import Testing

@testable import LayoverAdmin

struct IncidentRoutesTests {
    private let harness = AdminHarness()
    private static let keys: Set<String> = [
        "id", "kind", "scope", "origin", "cause", "since", "waiting", "automaticLeft", "automaticMax", "nextAttemptAt",
        "manualOnly", "actions",
    ]

    @Test func outageOfAnOriginHasEveryFieldOfTheContract() async throws {
        harness.park(1, automaticLeft: 2)
        harness.park(2, automaticLeft: 3)
        let list = try await harness.send("GET", "/v1/incidents").expectStatus(200)
        #expect(Set(list.json.keys) == ["data", "nextCursor"])
        #expect(list.text.contains("\"nextCursor\":null"))
        let incident = try #require(list.data.first)

        #expect(list.data.count == 1)
        #expect(Set(incident.keys) == Self.keys)
        #expect(incident["scope"] as? String == "origin")
        #expect(incident["origin"] as? String == "http://shop.example")
        #expect(
            incident["cause"] as? [String: String] == [
                "kind": "connection_refused", "phase": "connecting",
            ])
        #expect(incident["since"] as? String == "2026-01-01T00:00:05.000Z")
        #expect(incident["waiting"] as? Int == 2)
        #expect(incident["automaticLeft"] as? Int == 3)
        #expect(incident["automaticMax"] is NSNull, "the standard policy has no limit")
        #expect((incident["nextAttemptAt"] as? String)?.hasPrefix("2026-01-01T00:00") == true)
        #expect(incident["manualOnly"] as? Bool == false)
        #expect(incident["actions"] as? [String] == ["retry", "cancel"])
        let entry = try await harness.send("GET", "/v1/pending/\(AdminHarness.id(1))").json
        #expect(entry["incident"] as? String == incident["id"] as? String)
        let one = try await harness.send("GET", "/v1/incidents/\(incident["id"] as? String ?? "")")
        #expect(NSDictionary(dictionary: one.json) == NSDictionary(dictionary: incident))
    }

    @Test func outageWithoutAttemptsHasNulls() async throws {
        _ = await harness.engine.setMode(.offline, reason: nil)
        harness.park(1, failure: nil, parking: .init(delay: .zero, shutsGate: false, rule: .gate))
        let incident = try #require(try await harness.send("GET", "/v1/incidents").data.first)
        #expect(incident["scope"] as? String == "network")
        for name in ["origin", "cause", "automaticLeft", "nextAttemptAt"] {
            #expect(incident[name] is NSNull, "\(name)")
        }
    }

    @Test func requestThatNeedsADecisionIsAnIncidentOfItsOwnKind() async throws {
        #expect(
            try await harness.send("GET", "/v1/incidents").text == "{\"data\":[],\"nextCursor\":null}")
        harness.parkUndecided(1)
        let incident = try #require(try await harness.send("GET", "/v1/incidents").data.first)
        #expect(incident["kind"] as? String == "decision" && incident["scope"] as? String == "origin")
        #expect(incident["actions"] as? [String] == ["cancel"] && incident["waiting"] as? Int == 1)
        let id = try #require(incident["id"] as? String)
        #expect(try await harness.post("/v1/incidents/\(id)/retry").status == 409)
        #expect(try await harness.post("/v1/incidents/\(id)/cancel").status == 200)
        #expect(try await harness.send("GET", "/v1/incidents").data.isEmpty)
    }

    @Test func exhaustedIncidentIsManualAndRetrySendsItsEntries() async throws {
        var policy = Policy(name: "ask")
        policy.onExhausted = .ask
        let exchange = harness.park(
            1,
            parking: .init(delay: .zero, shutsGate: true, asks: .exhausted, rule: .onExhausted),
            policy: policy, automaticLeft: 0
        ).exchange
        let incident = try #require(try await harness.send("GET", "/v1/incidents").data.first)
        #expect(incident["manualOnly"] as? Bool == true)
        #expect(incident["automaticLeft"] as? Int == 0)
        #expect(incident["nextAttemptAt"] is NSNull)

        let id = try #require(incident["id"] as? String)
        let response = try await harness.post(
            "/v1/incidents/\(id)/retry", "{\"reason\":\"tunnel is over\"}")
        #expect(response.status == 200)
        #expect(response.json["id"] as? String == id)
        #expect(response.json["waiting"] as? Int == 1)
        #expect(exchange.calls == [.start(.admin)])
    }

    @Test func cancelEndsAllEntriesAndReturnsTheClosedIncident() async throws {
        let exchanges = [harness.park(1).exchange, harness.park(2).exchange]
        let other = harness.park(3, host: "b.example").exchange
        let incidents = try await harness.send("GET", "/v1/incidents").data
        let id = try #require(
            incidents.first { $0["origin"] as? String == "http://shop.example" }?["id"] as? String)

        let response = try await harness.post("/v1/incidents/\(id)/cancel", "{\"reason\":\"enough\"}")

        #expect(response.status == 200)
        #expect(Set(response.json.keys) == Self.keys)
        #expect(response.json["waiting"] as? Int == 0)
        #expect(response.json["actions"] as? [String] == [])
        for exchange in exchanges { #expect(exchange.calls == [.end(.cancelled(reason: "enough"))]) }
        #expect(other.calls.isEmpty)
        #expect(try await harness.send("GET", "/v1/incidents/\(id)").status == 404)
        #expect(try await harness.post("/v1/incidents/\(id)/cancel").status == 404)
        #expect(try await harness.send("GET", "/v1/incidents").data.count == 1)
    }
}
