import LayoverCore
import LayoverEngine
import LayoverTestSupport
import Testing

@testable import LayoverAdmin

/// Every list is given as JSON lines too.
struct ListLinesTests {
    /// Operations that `openapi.yaml` describes as lists, with `data`.
    private static let lists = DescribedOperation.all(in: String(decoding: PackageResources.openapi_yaml, as: UTF8.self))
        .filter { $0.method == "GET" && $0.lines.contains { $0.contains("required: [") && $0.contains("data") } }

    @Test func listsAreFound() {
        #expect(
            Set(Self.lists.map(\.path)).isSuperset(of: [
                "/v1/pending", "/v1/incidents", "/v1/origins", "/v1/lanes", "/v1/series", "/v1/cache", "/v1/config", "/v1/audit",
            ]))
    }

    @Test(arguments: lists)
    func listIsDescribedAndGivenAsLines(operation: DescribedOperation) async throws {
        #expect(operation.lines.contains { $0.contains("application/jsonl:") }, "\(operation.path) is not described as lines")
        let harness = AdminHarness(sources: { sources in
            sources.cache = { MemoryCache() }
            sources.configuration = { [ConfigurationValue(key: "a.b", value: "1", source: "default")] }
        })
        harness.park(1)
        _ = try await harness.post("/v1/pending/\(AdminHarness.id(1))/hold")
        let document = try await harness.send("GET", operation.path)
        let lines = try await harness.send("GET", operation.path, fields: ["Accept": "application/jsonl"])
        #expect(lines.status == 200 && lines["Content-Type"] == "application/jsonl", "\(operation.path)")
        let texts = lines.text.split(separator: "\n")
        #expect(texts.count == document.data.count, "\(operation.path)")
        #expect(texts.allSatisfy { $0.hasPrefix("{") && $0.hasSuffix("}") })
    }
}
