import Foundation
import LayoverCore
import LayoverEngine
import LayoverTestSupport
import Testing

@testable import LayoverAdmin

/// `openapi.yaml` says exactly what the code takes and gives.
struct OpenAPITests {
    private static func block(_ path: String...) -> [String] {
        var block = String(decoding: PackageResources.openapi_yaml, as: UTF8.self).split(separator: "\n").map(String.init)
        for key in path {
            guard let start = block.firstIndex(where: { $0 == key + ":" || $0.hasPrefix(key + ": ") }) else {
                Issue.record("openapi.yaml has no \(path.joined(separator: " / "))")
                return []
            }
            let inline = block[start].dropFirst(key.count + 1).drop { $0 == " " }
            let below = block[(start + 1)...].prefix { $0.hasPrefix("  ") }.map { String($0.dropFirst(2)) }
            block = (inline.isEmpty ? [] : [String(inline)]) + below
        }
        return block
    }

    /// The keys that stand at the beginning of lines.
    private static func keys(_ block: [String]) -> Set<String> {
        Set(
            block.compactMap { line in
                guard line.first?.isLetter == true, let end = line.firstIndex(of: ":") else { return nil }
                return String(line[..<end])
            })
    }

    /// The words of the first list in brackets, which may go on over lines.
    private static func list(_ block: [String]) -> [String] {
        block.joined(separator: " ").drop { $0 != "[" }.dropFirst().prefix { $0 != "]" }
            .split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
    }

    // MARK: What it takes

    @Test(arguments: [
        ("/v1/pending", PendingQuery.parameterNames), ("/v1/cache", CacheQuery.parameterNames),
        ("/v1/audit", AuditQuery.parameterNames),
    ])
    func describedParametersAreRead(path: String, names: Set<String>) {
        let listed = Self.block("paths", path, "get", "parameters").filter { $0.contains("- name: ") }
            .compactMap { $0.split(separator: " ").last.map(String.init) }
        #expect(listed.count == names.count && Set(listed) == names)
    }

    @Test func everyOrderIsListed() {
        let names = EntrySort.Field.allCases.map(\.rawValue)
        let block = Self.block("paths", "/v1/pending", "get", "parameters")
        let sort = block.drop { !$0.contains("- name: sort") }.drop { !$0.contains("enum:") }
        #expect(Self.list(Array(sort)) == names + names.map { "-" + $0 })
    }

    @Test func everyEnumHasTheValuesOfTheCode() {
        #expect(Self.list(Self.block("components", "schemas", "State")) == EntryState.allCases.map(\.rawValue))
        let entry = Self.block("components", "schemas", "Entry", "properties")
        #expect(Self.list(entry.filter { $0.hasPrefix("actions:") }) == EntryCommand.allCases.map(\.rawValue))
        let willGo = Self.block("components", "schemas", "Entry", "properties", "willGo").filter { $0.hasPrefix("enum:") }
        #expect(Self.list(willGo) == WillGo.allCases.map(\.rawValue))
        let rehearsal = Self.block("components", "schemas", "Rehearsal", "properties")
        #expect(Self.list(rehearsal.filter { $0.hasPrefix("fault:") }) == RehearsalFault.allCases.map(\.rawValue))
        let failure = Self.block("components", "schemas", "Failure", "properties")
        #expect(Self.list(failure.filter { $0.hasPrefix("phase:") }) == FailurePhase.allCases.map { "\($0)" })
    }

    private static let bodies: [(String, String, String, Bool)] = [
        ("POST", "/v1/pending/hold", "{\"all\":true}", true), ("POST", "/v1/pending/hold", "{\"all\":false}", false),
        ("POST", "/v1/pending/hold", "{\"all\":null,\"ids\":[]}", false), ("POST", "/v1/pending/hold", "{\"ids\":[]}", true),
        ("POST", "/v1/pending/hold", "{\"ids\":[],\"all\":true}", false),
        ("POST", "/v1/pending/hold", "{\"ids\":[],\"filter\":{\"q\":\"a\"}}", false),
        ("POST", "/v1/pending/hold", "{\"filter\":{\"q\":\"a\"},\"all\":true}", false),
        ("POST", "/v1/pending/hold", "{\"ids\":[],\"filter\":{\"q\":\"a\"},\"all\":true}", false),
        ("POST", "/v1/pending/hold", "{}", false), ("POST", "/v1/pending/hold", "{\"dryRun\":true}", false),
        ("POST", "/v1/pending/hold", "{\"all\":true,\"dryRun\":null}", false),
        ("POST", "/v1/pending/hold", "{\"all\":true,\"reason\":null}", true), ("POST", "/v1/pending/hold", "{\"filter\":{}}", false),
        ("POST", "/v1/pending/hold", "{\"filter\":{\"host\":null}}", false),
        ("POST", "/v1/pending/hold", "{\"filter\":{\"q\":\"\"}}", true),
        ("POST", "/v1/pending/hold", "{\"filter\":{\"parkedBefore\":\"2026-01-01T00:00:00Z\"}}", true),
        ("POST", "/v1/pending/hold", "{\"filter\":{\"parkedBefore\":\"yesterday\"}}", false),
        ("POST", "/v1/pending/hold", "{\"filter\":{\"state\":[]}}", true),
        ("POST", "/v1/pending/hold", "{\"filter\":{\"state\":\"\"}}", false),
        ("POST", "/v1/pending/hold", "{\"filter\":{\"state\":\"waiting, held\"}}", true),
        ("POST", "/v1/pending/hold", "{\"filter\":{\"state\":\"waiting,attempting,held,undecided\"}}", true),
        ("POST", "/v1/pending/hold", "{\"filter\":{\"state\":\"waiting,\"}}", false),
        ("POST", "/v1/pending/hold", "{\"filter\":{\"state\":[\"waiting\",1]}}", false),
        ("POST", "/v1/pending/{id}/hold", "{\"reason\":null,\"acknowledge\":null}", true),
        ("POST", "/v1/pending/{id}/hold", "{\"reason\":\"\(String(repeating: "e\u{301}", count: 250))\"}", true),
        ("POST", "/v1/pending/{id}/hold", "{\"reason\":\"\(String(repeating: "e\u{301}", count: 251))\"}", false),
        ("POST", "/v1/pending/{id}/settle", "{\"status\":null,\"note\":null,\"reason\":null}", true),
        ("POST", "/v1/pending/{id}/settle", "{\"status\":599}", true), ("POST", "/v1/pending/{id}/settle", "{\"status\":199}", false),
        ("POST", "/v1/pending/{id}/settle", "{\"status\":\"201\"}", false),
        ("POST", "/v1/pending/{id}/settle", "{\"acknowledge\":\"x\"}", false),
        ("PATCH", "/v1/pending/{id}", "{\"expiresAt\":\"9999-12-31T23:59:59Z\"}", true),
        ("PATCH", "/v1/pending/{id}", "{\"lane\":null}", true), ("PATCH", "/v1/pending/{id}", "{}", false),
        ("PATCH", "/v1/pending/{id}", "{\"lane\":\"\(String(repeating: "ü", count: 200))\"}", true),
        ("PATCH", "/v1/pending/{id}", "{\"lane\":\"\(String(repeating: "ü", count: 201))\"}", false),
        ("PATCH", "/v1/pending/{id}", "{\"lane\":\"\\u0085\"}", false), ("PATCH", "/v1/pending/{id}", "{\"priority\":7.0}", true),
        ("PUT", "/v1/reachability", "{\"mode\":\"auto\",\"reason\":null}", true),
        ("PUT", "/v1/reachability", "{\"hint\":\"changed\",\"reason\":\"a\"}", true),
        ("PUT", "/v1/reachability", "{\"mode\":\"offline\",\"tunnels\":\"cut\"}", true),
        ("PUT", "/v1/reachability", "{\"mode\":\"offline\",\"tunnels\":\"thaw\"}", false),
        ("PUT", "/v1/reachability", "{\"mode\":\"auto\",\"tunnels\":\"keep\"}", false),
        ("PUT", "/v1/reachability", "{\"mode\":\"auto\",\"hint\":null}", false), ("PUT", "/v1/reachability", "{\"mode\":null}", false),
        ("POST", "/v1/cache/purge", "{\"all\":true,\"host\":null}", false), ("POST", "/v1/cache/purge", "{\"host\":\"a.example\"}", true),
        ("POST", "/v1/cache/purge", "{\"host\":\"a.example:80\"}", false), ("POST", "/v1/cache/purge", "{\"url\":\"a.example\"}", false),
        ("POST", "/v1/cache/purge", "{\"url\":\"https://a.example/?b\"}", true),
    ]

    /// A body that the description allows is not refused as malformed; a body that it forbids gets a 400.
    @Test(arguments: bodies)
    func bodiesAreAcceptedExactlyWhereDescribed(method: String, path: String, body: String, isAllowed: Bool) async throws {
        let harness = AdminHarness(sources: { $0.cache = { MemoryCache() } })
        let id = harness.park(1).id
        let response = try await harness.send(
            method, path.replacing("{id}", with: id.description), fields: ["Content-Type": "application/json"], body: body)
        #expect(response.status == (isAllowed ? 200 : 400), "\(response.text)")
    }

    private static let paths: [(String, Bool)] = [
        ("/v1/pending?sort=-requestBytes", true), ("/v1/pending?sort=client", false), ("/v1/pending?sort=--id", false),
        ("/v1/pending?sort=", false),
        ("/v1/pending?state=waiting,%20held", true), ("/v1/pending?state=waiting,,held", false),
        ("/v1/pending?limit=1000", true), ("/v1/pending?limit=", false), ("/v1/pending?limit=1001", false), ("/v1/cache?limit=", false),
        ("/v1/pending?cursor=parkedAt.n0.0", true), ("/v1/pending?cursor=x", false), ("/dashboard/snapshot?tab=all", false),
        ("/v1/pending?incident=00000000000000000000000000000002", true), ("/v1/pending?incident=1", false),
        ("/v1/pending?ticket=true", true), ("/v1/pending?ticket=yes", false),
        ("/v1/cache?url=https://api.example.com/cart?page=3", true), ("/v1/cache?url=cart", false),
        ("/v1/cache?url=ftp://a.example/", false), ("/v1/cache?host=a&url=http://a/", false), ("/v1/cache?cursor=1000000", true),
    ]

    @Test(arguments: paths)
    func parametersAreAcceptedExactlyWhereDescribed(path: String, isAllowed: Bool) async throws {
        let harness = AdminHarness(sources: { $0.cache = { MemoryCache() } })
        let response = try await harness.send("GET", path)
        #expect(response.status == (isAllowed ? 200 : 400), "\(response.text)")
    }

    // MARK: What it gives

    @Test func responsesHaveExactlyTheDescribedKeys() async throws {
        let harness = AdminHarness(store: MemoryStore(on: MemoryDisk()))
        let parent = try await harness.accept(1)
        let child = try await harness.accept(2, parents: [parent])
        harness.park(3)
        func expect(_ schema: String, _ document: [String: Any]?, optional: Set<String> = []) throws {
            let document = try #require(document)
            let block = Self.block("components", "schemas", schema)
            let properties = Self.keys(Self.block("components", "schemas", schema, "properties"))
            #expect(Set(document.keys).union(optional) == properties, "\(schema)")
            let required = Set(Self.list(Array(block.drop { !$0.hasPrefix("required:") })))
            #expect(required == properties.subtracting(optional), "\(schema)")
        }
        let held = try await harness.send("GET", "/v1/pending/\(AdminHarness.id(3))").json
        let optional: Set = [
            "parents", "supersededBy", "response", "willGo", "waitingOn", "lastCommand", "settledBy", "attempt", "endedAt", "resume",
        ]
        try expect("Entry", held, optional: optional)
        try expect("Failure", held["lastFailure"] as? [String: Any])
        let entry = try await harness.send("GET", "/v1/pending/\(child)").json
        try expect("Entry", entry, optional: optional)
        try expect(
            "Timeline", try await harness.send("GET", "/v1/pending/\(child)/explain").json,
            optional: ["lastCommand", "parentProxy", "serverName"])
        let commanded = try await harness.post("/v1/pending/\(AdminHarness.id(3))/hold", "{\"reason\":\"lunch\"}").json
        try expect("Command", commanded["lastCommand"] as? [String: Any])
        try expect("AuditRecord", try await harness.send("GET", "/v1/audit").data.first)
        try expect("Status", try await harness.send("GET", "/v1/status").json)
        try expect("Reachability", try await harness.send("GET", "/v1/reachability").json)
        try expect("Incident", try await harness.send("GET", "/v1/incidents").data.first)
        _ = try await harness.post("/v1/rehearsals", #"{"host":"a.example","fault":"refuse"}"#)
        try expect("Rehearsal", try await harness.send("GET", "/v1/rehearsals").data.first)
    }

    @Test func examplesOfIDsHaveTheRightForm() async throws {
        let harness = AdminHarness()
        let empty = try await harness.send("GET", "/openapi.yaml").text
        #expect(empty.contains("example: \"00000000000000000000000000000001\""))
        let id = harness.park(0xABC).id
        let incident = try #require(try await harness.send("GET", "/v1/incidents").ids.first)
        let text = try await harness.send("GET", "/openapi.yaml").text
        #expect(text.contains("      example: \"\(id)\"\n") && text.contains("example: { ids: [\"\(id)\"]"))
        #expect(text.contains("      example: \"\(incident)\"\n"))
        #expect(!text.contains("00000000000000000000000000000002"))
    }
}
