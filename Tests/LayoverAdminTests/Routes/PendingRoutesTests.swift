import Foundation
import LayoverCore
import Testing

@testable import LayoverAdmin

struct PendingRoutesTests {
    private let harness = AdminHarness()

    @Test func entryHasEveryFieldOfTheContractAndNoOther() async throws {
        let id = harness.park(1, url: "http://shop.example/cart?token=abc&page=2").id
        let entry = try await harness.send("GET", "/v1/pending/\(id)")

        #expect(
            Set(entry.json.keys) == [
                "id", "ticket", "revision", "state", "waitingFor", "why", "method", "url", "host",
                "route",
                "policy", "lane", "priority", "attempts", "automaticLeft", "createdAt", "parkedAt",
                "nextAttemptAt", "expiresAt", "lastFailure", "client", "requestBytes", "bodyReplayable",
                "incident", "actions",
            ])
        #expect(entry.json["id"] as? String == id.description)
        #expect(entry.json["state"] as? String == "waiting")
        #expect(entry.json["waitingFor"] as? String == "origin")
        #expect(entry.json["url"] as? String == "http://shop.example/cart?token=***&page=2")
        #expect(entry.json["createdAt"] as? String == "2026-01-01T00:00:04.000Z")
        #expect(entry.json["parkedAt"] as? String == "2026-01-01T00:00:05.000Z")
        #expect(entry.json["actions"] as? [String] == ["retry", "cancel", "hold", "settle"])
        #expect((entry.json["incident"] as? String)?.count == 32)
        let failure = entry.json["lastFailure"] as? [String: Any] ?? [:]
        #expect(
            Set(failure.keys) == ["kind", "phase", "evidence", "message", "at", "curlCode", "osError"])
        #expect(failure["kind"] as? String == "connection_refused")
        let client = entry.json["client"] as? [String: Any] ?? [:]
        #expect(Set(client.keys) == ["address", "connected", "userAgent"])
        #expect(entry.text.contains("\"ticket\":null") && entry.text.contains("\"why\":null"))
        #expect(entry["ETag"] == "\"\(entry.json["revision"] as? Int ?? -1)\"")
    }

    @Test func listHoldsEntriesNewestLastAndCountsOfAllLiveStates() async throws {
        for number in 1...3 { harness.park(UInt64(number)) }
        let list = try await harness.send("GET", "/v1/pending")

        #expect(Set(list.json.keys) == ["data", "counts", "nextCursor"])
        #expect(list.ids == [1, 2, 3].map { AdminHarness.id($0).description })
        let counts = list.json["counts"] as? [String: Int]
        #expect(counts == ["waiting": 3, "attempting": 0, "held": 0, "undecided": 0])
    }

    @Test func cursorLeadsThroughAllPagesWhateverEndsMeanwhile() async throws {
        for number in 1...5 { harness.park(UInt64(number)) }
        let first = try await harness.send("GET", "/v1/pending?limit=2")
        #expect(try await harness.post("/v1/pending/\(AdminHarness.id(2))/cancel").status == 200)
        let cursor = try #require(first.json["nextCursor"] as? String)
        let second = try await harness.send("GET", "/v1/pending?limit=2&cursor=\(cursor)")
        let last = try #require(second.json["nextCursor"] as? String)
        let third = try await harness.send("GET", "/v1/pending?limit=2&cursor=\(last)")

        #expect(
            first.ids + second.ids + third.ids == (1...5).map { AdminHarness.id(UInt64($0)).description })
        #expect(third.text.contains("\"nextCursor\":null"))
    }

    @Test(
        arguments: [
            ("state=waiting", [1, 2, 3]), ("state=attempting", []), ("state=held", []),
            ("state=held,waiting", [1, 2, 3]),
            ("host=b.example", [2]), ("host=B.EXAMPLE:80", [2]), ("method=POST", [3]),
            ("q=%C3%89T%C3%89", [3]),
            ("q=REFUSED", [1, 2, 3]), ("q=a.exam", [1]), ("q=nothing+like+it", []),
            ("sort=-host", [3, 2, 1]),
            ("state=cancelled", [4]), ("state=waiting,cancelled", [1, 2, 3, 4]), ("state=", [1, 2, 3]),
        ] as [(String, [UInt64])])
    func filtersAndSorting(query: String, expected: [UInt64]) async throws {
        harness.park(1, url: "http://a.example/", host: "a.example")
        harness.park(2, url: "http://b.example/", host: "b.example")
        harness.park(3, method: "POST", url: "http://c.example/%C3%A9t%C3%A9", host: "c.example")
        harness.park(4, url: "http://d.example/", host: "d.example")
        #expect(try await harness.post("/v1/pending/\(AdminHarness.id(4))/cancel").status == 200)

        let list = try await harness.send("GET", "/v1/pending?\(query)")
        #expect(list.ids == expected.map { AdminHarness.id($0).description })
    }

    @Test func linesStreamEveryEntryWithoutALimit() async throws {
        let count = 600
        for number in 1...count { harness.park(UInt64(number)) }
        let accept = ["Accept": "application/jsonl"]
        let all = try await harness.send("GET", "/v1/pending", fields: accept)
        let some = try await harness.send("GET", "/v1/pending?limit=3", fields: accept)
        let none = try await harness.send("GET", "/v1/pending?state=attempting", fields: accept)

        #expect(all["Content-Type"] == "application/jsonl")
        #expect(all.text.hasSuffix("}\n"))
        let lines = all.text.split(separator: "\n")
        #expect(lines.count == count)
        #expect(lines.allSatisfy { $0.hasPrefix("{") && $0.hasSuffix("}") })
        #expect(some.text.split(separator: "\n").count == 3)
        #expect(none.text == "")
    }

    @Test func retryStartsAnAttemptAndReturnsTheEntry() async throws {
        let (id, exchange) = harness.park(1)
        let response = try await harness.post("/v1/pending/\(id)/retry", fields: ["If-Match": "\"1\""])

        #expect(response.status == 200)
        #expect(response.json["state"] as? String == "attempting")
        #expect(response.json["actions"] as? [String] == ["cancel", "abort"])
        #expect(exchange.calls == [.start(.admin)])
    }

    @Test func cancelEndsTheEntryAndKeepsItKnown() async throws {
        let (id, exchange) = harness.park(1)
        let response = try await harness.send(
            "POST", "/v1/pending/\(id)/cancel",
            fields: ["Content-Type": "application/json; charset=utf-8"],
            body: "{\"reason\":\"no longer needed\"}")

        #expect(response.json["state"] as? String == "cancelled")
        #expect(response.json["incident"] is NSNull, "what has ended waits in no outage")
        #expect((response.json["client"] as? [String: Any])?["connected"] as? Bool == false)
        #expect(exchange.calls == [.end(.cancelled(reason: "no longer needed"))])
        #expect(
            try await harness.send("GET", "/v1/pending/\(id)").json["state"] as? String == "cancelled")
    }

    @Test func commandNeedsNoBody() async throws {
        let id = harness.park(1).id
        #expect(try await harness.send("POST", "/v1/pending/\(id)/cancel").status == 200)
    }
}
