import LayoverCore
import LayoverEngine
import LayoverTestSupport
import Testing

@testable import LayoverAdmin

/// Every command is kept and logged: who, from where, why, what, and what became of it.
struct AuditTests {
    private let log = RecordedLog()
    private let harness: AdminHarness

    init() {
        let log = log
        harness = AdminHarness(
            sources: { sources in
                sources.logger = log.logger
                sources.cache = { MemoryCache() }
                sources.reload = { ReloadReport(at: Timestamp(nanoseconds: 0)) }
            })
    }

    private func commands() -> [String] { log.lines.value.filter { $0.hasPrefix("notice command:") } }

    @Test func commandIsKeptAndLoggedWithItsReason() async throws {
        let id = harness.park(1).id
        _ = try await harness.post("/v1/pending/\(id)/hold", "{\"reason\":\"lunch\"}")
        let record = try #require(try await harness.send("GET", "/v1/audit").data.first)
        #expect(
            Set(record.keys) == [
                "number", "at", "command", "entry", "incident", "detail", "matched", "done", "who", "from", "reason", "status",
                "outcome",
            ])
        #expect(record["command"] as? String == "hold" && record["entry"] as? String == id.description)
        #expect(record["who"] as? String == "loopback" && record["reason"] as? String == "lunch")
        #expect(record["status"] as? Int == 200 && record["outcome"] as? String == "done")
        #expect(record["at"] as? String == "2026-01-01T00:00:05.000Z")
        #expect(commands() == ["notice command: command=hold exchange=\(id) outcome=done reason=lunch status=200 who=loopback"])
    }

    /// Everybody can try to log in.
    @Test func failedLoginsPushNoCommandOut() async throws {
        let harness = AdminHarness(options: .with { $0.token = "adm1n" })
        let id = harness.park(1).id
        _ = try await harness.post("/v1/pending/\(id)/hold", fields: ["Authorization": "Bearer adm1n"])
        for number in 1...(2 * AuditLog.countMax + 10) {
            let fields = ["Content-Type": "application/x-www-form-urlencoded", "Accept": number % 2 == 0 ? "text/html" : "*/*"]
            _ = try await harness.send("POST", "/login", fields: fields, body: "token=wrong")
        }
        let records = try await harness.send("GET", "/v1/audit?limit=1000", fields: ["Authorization": "Bearer adm1n"]).data
        #expect(records.count == AuditLog.failedLoginCountMax + 1)
        #expect(records.last?["command"] as? String == "hold")
        #expect(records.dropLast().allSatisfy { $0["command"] as? String == "login" && $0["outcome"] as? String == "unauthorized" })
        let numbers = records.compactMap { $0["number"] as? Int }
        #expect(numbers == numbers.sorted(by: >))
    }

    @Test func refusedCommandIsKeptToo() async throws {
        let id = harness.park(1).id
        _ = try await harness.post("/v1/pending/\(id)/release", "{\"reason\":\"too soon\"}")
        _ = try await harness.post("/v1/pending/\(id)/hold", "{\"reasn\":1}")
        let records = try await harness.send("GET", "/v1/audit").data
        #expect(records.map { $0["outcome"] as? String } == ["malformed_body", "conflict"])
        #expect(records.map { $0["status"] as? Int } == [400, 409])
        #expect(records[1]["reason"] as? String == "too soon")
        #expect(commands().count == 2)
    }

    @Test func readsAndForeignRequestsAreNotRecorded() async throws {
        _ = try await harness.send("GET", "/v1/pending")
        _ = try await harness.send("POST", "/v1/pending/retry", host: "evil.example", body: "{}")
        _ = try await harness.post("/v1/nothing")
        #expect(try await harness.send("GET", "/v1/audit").data.isEmpty)
        #expect(commands().isEmpty)
    }

    @Test func commandsForManyAreOneRecordWithTheirCounts() async throws {
        for number in 1...3 { harness.park(UInt64(number)) }
        let incident = try #require(try await harness.send("GET", "/v1/incidents").ids.first)
        _ = try await harness.post("/v1/pending/hold", "{\"ids\":[\"\(AdminHarness.id(1))\",\"x\"],\"reason\":\"a\"}")
        _ = try await harness.post("/v1/pending/hold", "{\"filter\":{\"host\":\"shop.example\"},\"dryRun\":true}")
        _ = try await harness.post("/v1/pending/retry", "{\"all\":true}")
        _ = try await harness.post("/v1/incidents/\(incident)/cancel")
        let records = Array(try await harness.send("GET", "/v1/audit").data.reversed())
        #expect(records.map { $0["command"] as? String } == ["hold", "hold", "retry", "cancel"])
        #expect(records.map { $0["detail"] as? String } == ["ids", "dry run, filter", "all", nil])
        #expect(records.map { $0["matched"] as? Int } == [1, 3, 3, nil])
        #expect(records.map { $0["done"] as? Int } == [1, 0, 3, nil])
        #expect(records[3]["incident"] as? String == incident)
        #expect(commands()[2] == "notice command: command=retry detail=all outcome=done requests=3 status=200 who=loopback")
    }

    @Test func otherCommandsRecordTheirTarget() async throws {
        let id = harness.park(1).id
        let json = ["Content-Type": "application/json"]
        _ = try await harness.send(
            "PATCH", "/v1/pending/\(id)", fields: json, body: "{\"priority\":0,\"lane\":\"orders\"}")
        _ = try await harness.send(
            "PUT", "/v1/reachability", fields: json, body: "{\"mode\":\"offline\",\"reason\":\"on a train\"}")
        _ = try await harness.post("/v1/cache/purge", "{\"url\":\"https://a.example/?token=abc\"}")
        _ = try await harness.post("/v1/reload")
        let records = Array(try await harness.send("GET", "/v1/audit").data.reversed())
        #expect(records.map { $0["command"] as? String } == ["change", "reachability", "purge", "reload"])
        #expect(
            records.map { $0["detail"] as? String } == [
                "priority 0, lane orders", "mode offline, tunnels freeze", "url https://a.example/?token=***", nil,
            ])
        #expect(records[1]["reason"] as? String == "on a train")
    }

    @Test func listHasFiltersPagesAndLines() async throws {
        for number in 1...3 { harness.park(UInt64(number)) }
        for number in 1...3 { _ = try await harness.post("/v1/pending/\(AdminHarness.id(UInt64(number)))/hold") }
        _ = try await harness.post("/v1/pending/\(AdminHarness.id(1))/release")
        func numbers(_ query: String) async throws -> [Int] {
            try await harness.send("GET", "/v1/audit?\(query)").data.compactMap { $0["number"] as? Int }
        }
        #expect(try await numbers("") == [4, 3, 2, 1])
        #expect(try await numbers("command=hold") == [3, 2, 1])
        #expect(try await numbers("entry=\(AdminHarness.id(1))") == [4, 1])
        #expect(try await numbers("who=admin") == [])
        let page = try await harness.send("GET", "/v1/audit?limit=3")
        #expect(page.json["nextCursor"] as? String == "2")
        #expect(try await numbers("cursor=2&limit=3") == [1])
        #expect(try await harness.send("GET", "/v1/audit?cursor=x").status == 400)
        #expect(try await harness.send("GET", "/v1/audit?limit=0").status == 400)
        let lines = try await harness.send("GET", "/v1/audit", fields: ["Accept": "application/jsonl"])
        #expect(lines["Content-Type"] == "application/jsonl")
        #expect(lines.text.split(separator: "\n").count == 4)
    }

    @Test func onlyTheNewestAreKept() {
        let audit = AuditLog()
        for _ in 1...(2 * AuditLog.countMax + 7) {
            audit.append(
                AuditRecord(
                    at: Timestamp(nanoseconds: 0), command: "hold", author: .loopback, incident: nil, note: .init(), status: 200,
                    outcome: "done"))
        }
        let numbers = audit.newest().map(\.number)
        #expect(numbers == Array((AuditLog.countMax + 8...2 * AuditLog.countMax + 7).reversed()))
    }
}
