import Foundation
import LayoverTestSupport
import Testing

extension EndToEnd {
    /// Clients that give up on a server that hangs, by every way: what they leave behind ends, and no other request suffers.
    @Suite(.bothPaths) struct LeavingClients {
        private struct Report: Decodable {
            /// Seconds from the last departure until no connection of the kind was left at the server.
            var gone: [String: Double]
            var sent: [String: Int]
            var unattendedMost: Int
            var uses: Int
            var failures: [String]
            var streamsMost: Int
        }

        private static let unattendedMax = 60
        private static let kinds = [
            "get-before-fin", "get-before-rst", "get-after-fin", "post-before-fin", "post-before-rst", "post-after-fin", "post-after-rst",
        ]
        private static let unattended = ["post-before-fin", "post-before-rst", "post-before-stream"]

        @Test func clientsThatGiveUpLeaveNothingBehind() async throws {
            let hung = try ReservedPort()
            let layover = try await RunningLayover.start(
                """
                {"tls": {"folder": "authority"}, "limits": {"unattended": \(Self.unattendedMax)}, "timeouts": {"unattended": "10s"},
                 "routes": {"seen": {"host": "localhost", "intercept": true, "upstream": "http://127.0.0.1:\(hung.number)"}}}
                """)
            let before = layover.descriptorCount
            let script = [
                "-B", Fixtures.path("leaving_clients.py"), "\(layover.proxyPort)", "\(layover.admin.port)", "\(hung.number)",
                layover.folder.file("authority/ca.pem").path,
            ]
            let result = try await Command("/usr/bin/python3", script).succeed(within: .seconds(170))
            let report = try JSONDecoder().decode(Report.self, from: Data(result.output.utf8))

            #expect(report.failures == [] && report.uses > 20, "\(report.uses) uses of another server")
            for kind in Self.kinds { #expect(report.sent[kind] == 200, "\(kind)") }
            for kind in ["get-before-stream", "post-before-stream"] { #expect(report.sent[kind] == 300, "\(kind)") }
            #expect(report.gone.count == 9)
            for (kind, seconds) in report.gone where !Self.unattended.contains(kind) { #expect(seconds < 35, "\(kind) took \(seconds) s") }
            // One second until a FIN is looked at; the rest is for a slow machine.
            for kind in Self.unattended { #expect(report.gone[kind, default: .infinity] < 10 + 25, "\(kind): \(report.gone)") }
            #expect(report.unattendedMost > 0 && report.unattendedMost <= Self.unattendedMax)
            #expect(report.streamsMost >= 100, "what is open is counted")
            #expect(try await layover.call("GET", "/v1/status").text.contains(#""streams":0}"#))
            #expect(try await layover.call("GET", "/v1/pending").text.contains(#""data":[]"#))
            let after = try await settledDescriptorCount(of: layover, atMost: before + 12)
            #expect(after <= before + 12, "\(before) before, \(after) after")
        }

        private func settledDescriptorCount(of layover: RunningLayover, atMost wanted: Int) async throws -> Int {
            let deadline = Deadline(in: .seconds(35))
            var count = layover.descriptorCount
            while count > wanted, !deadline.hasPassed {
                _ = try await layover.call("GET", "/livez")
                count = layover.descriptorCount
            }
            return count
        }
    }
}
