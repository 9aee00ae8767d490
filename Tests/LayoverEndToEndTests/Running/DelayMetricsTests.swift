import Foundation
import LayoverTestSupport
import Testing

extension EndToEnd {
    /// How late the parts of the process are, in the metrics of a real run.
    @Suite struct DelayMetrics {
        @Test func loopsWorkersAndCommitsAreMeasured() async throws {
            let scene = try await Scene(RunningLayover.noTimedRetries)
            _ = try await scene.submit("/echo")
            // The workers are asked every ten seconds. The stream says nothing meanwhile but its heartbeat, every 15 s.
            let metrics = try await onOwnThread { [admin = scene.layover.admin] in
                let events = try admin.events()
                let deadline = Deadline(in: .seconds(60))
                while true {
                    let text = try admin.call("GET", "/metrics").text
                    if ["worker_lag", "loop_lag", "store_commit"].allSatisfy({ Self.count($0, in: text) > 0 }) { return text }
                    _ = try? events.next(by: Deadline(in: .seconds(1)))
                    guard !deadline.hasPassed else { throw ProcessError("a part was not asked: \(text)") }
                }
            }
            #expect(Self.count("loop_lag", in: metrics) > 0)
            #expect(Self.count("store_commit", in: metrics) > 0)
            #expect(metrics.contains(#"layover_loop_lag_seconds_bucket{le="+Inf"}"#))
            #expect(await scene.layover.stop().status == 0)
        }

        private static func count(_ name: String, in metrics: String) -> Int {
            let line = metrics.split(separator: "\n").first { $0.hasPrefix("layover_\(name)_seconds_count ") }
            return line.flatMap { Int($0.split(separator: " ").last ?? "") } ?? 0
        }
    }
}
