import Foundation
import LayoverCore
import LayoverEngine
import LayoverTestSupport
import Testing

@testable import LayoverAdmin

/// The alert rules and the Grafana dashboard name metrics that exist.
struct PackagedMetricsTests {
    private static var root: URL {
        URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
    }

    @Test(arguments: ["packaging/prometheus/alerts.yaml", "packaging/grafana/dashboard.json"])
    func namedMetricsExist(path: String) async throws {
        let text = try String(contentsOf: Self.root.appendingPathComponent(path), encoding: .utf8)
        let harness = AdminHarness(store: MemoryStore(on: MemoryDisk()))
        await harness.engine.reloaded(ReloadReport(at: harness.engine.clock.now()))
        let metrics = try await harness.send("GET", "/metrics").text
        let names = Set(text.matches(of: #/layover_[a-z_]+/#).map { String($0.output) })
        #expect(names.count > 5)
        for name in names {
            // A metric with labels may have no sample yet, but its type is declared.
            let metric = name.hasSuffix("_bucket") ? String(name.dropLast("_bucket".count)) : name
            #expect(metrics.contains("# TYPE \(metric) "), "\(name) is in \(path), and not in /metrics")
        }
    }
}
