import LayoverCore
import LayoverEngine
import LayoverTestSupport
import Testing

@testable import LayoverAdmin

/// `/metrics` in the format of OpenMetrics 1.0.0, for those who ask for it.
struct OpenMetricsTests {
    private static let asked = ["Accept": "application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5"]

    @Test func countersAreDescribedWithoutTheirSuffixAndTheTextHasAnEnd() async throws {
        try await AdminHarness.with(store: MemoryStore(on: MemoryDisk())) { harness in
            let answer = try await harness.send("GET", "/metrics", fields: Self.asked)
            #expect(answer["Content-Type"] == "application/openmetrics-text; version=1.0.0; charset=utf-8")
            #expect(answer.text.hasSuffix("\n# EOF\n"))
            #expect(answer.text.contains("# TYPE layover_requests counter\n") && answer.text.contains("\nlayover_requests_total 0\n"))
            let lines = answer.text.split(separator: "\n").map(String.init)
            let counters = lines.filter { $0.hasPrefix("# TYPE ") && $0.hasSuffix(" counter") }.compactMap { $0.split(separator: " ").dropFirst(2).first }
            #expect(counters.count > 10 && counters.allSatisfy { !$0.hasSuffix("_total") })
            for counter in counters { #expect(!answer.text.contains("\n\(counter) "), "\(counter) has a sample without _total") }
        }
    }

    @Test func otherCallersGetTheFormatOfPrometheus() async throws {
        try await AdminHarness.with { harness in
            let answer = try await harness.send("GET", "/metrics", fields: ["Accept": "text/plain"])
            #expect(answer["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8")
            #expect(answer.text.contains("# TYPE layover_requests_total counter\n") && !answer.text.contains("# EOF"))
        }
    }
}
