import LayoverCore
import LayoverEngine
import LayoverTestSupport
import Testing

@testable import LayoverAdmin

/// `/metrics` in the format of OpenMetrics 1.0.0, for those who ask for it.
struct OpenMetricsTests {
    private static let asked = ["Accept": "application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5"]

    @Test func countersAreDescribedWithoutTheirSuffixAndTheTextHasAnEnd() async throws {
        let harness = AdminHarness(store: MemoryStore(on: MemoryDisk()))
        let response = try await harness.send("GET", "/metrics", fields: Self.asked)
        #expect(response["Content-Type"] == "application/openmetrics-text; version=1.0.0; charset=utf-8")
        #expect(response.text.hasSuffix("\n# EOF\n"))
        #expect(response.text.contains("# TYPE layover_requests counter\n") && response.text.contains("\nlayover_requests_total 0\n"))
        let lines = response.text.split(separator: "\n").map(String.init)
        let counters = lines.filter { $0.hasPrefix("# TYPE ") && $0.hasSuffix(" counter") }.compactMap { $0.split(separator: " ").dropFirst(2).first }
        #expect(counters.count > 10 && counters.allSatisfy { !$0.hasSuffix("_total") })
        for counter in counters { #expect(!response.text.contains("\n\(counter) "), "\(counter) has a sample without _total") }
    }

    @Test func otherCallersGetTheFormatOfPrometheus() async throws {
        let harness = AdminHarness()
        let response = try await harness.send("GET", "/metrics", fields: ["Accept": "text/plain"])
        #expect(response["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8")
        #expect(response.text.contains("# TYPE layover_requests_total counter\n") && !response.text.contains("# EOF"))
    }
}
