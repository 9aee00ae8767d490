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
            /// Descriptors of the proxy by kind of client: while a batch of 100 was there, and the slowest seconds until what it had opened
            /// was closed. If it was not, the script fails.
            var descriptorsMost: [String: Int]
            var closedWithin: [String: Double]
        }

        private static let unattendedMax = 60
        /// An unattended attempt keeps its connection to the server. The other 30 are for clients that use the proxy
        /// at the same time.
        private static let descriptorsLeftMax = unattendedMax + 30
        /// A limit that many systems have once had: 100 clients at a time with their attempts fit, and what the first 2 000 leave does not.
        private static let descriptorLimit = 400
        private static let kinds = [
            "get-before-fin", "get-before-rst", "get-after-fin", "get-after-rst", "post-before-fin", "post-before-rst", "post-after-fin",
            "post-after-rst",
        ]
        private static let streamKinds = ["get-before-stream", "get-after-stream", "post-before-stream", "post-after-stream"]
        private static let unattended = ["post-before-fin", "post-before-rst", "post-before-stream"]

        @Test func clientsThatGiveUpLeaveNothingBehind() async throws {
            let hung = try ReservedPort()
            let layover = try await RunningLayover.start(
                """
                {"tls": {"folder": "authority"}, "limits": {"unattended": \(Self.unattendedMax)}, "timeouts": {"unattended": "10s"},
                 "routes": {"seen": {"host": "localhost", "intercept": true, "upstream": "http://127.0.0.1:\(hung.number)"}}}
                """)
            // The least of some readings: a file of the start, or the connection of the reader, may be open at one of them.
            var least = layover.descriptorCount
            for _ in 0..<20 {
                _ = try await layover.call("GET", "/livez")
                least = min(least, layover.descriptorCount)
            }
            let before = least
            try layover.process.setDescriptorLimit(Self.descriptorLimit)
            let leftMax = before + Self.descriptorsLeftMax
            let script = [
                "-B", Fixtures.path("leaving_clients.py"), "\(layover.proxyPort)", "\(layover.admin.port)", "\(hung.number)",
                layover.folder.file("authority/ca.pem").path, "\(layover.process.pid)", "\(leftMax)",
            ]
            let result = try await Command("/usr/bin/python3", script).succeed(within: .seconds(240))
            let report = try JSONDecoder().decode(Report.self, from: Data(result.output.utf8))

            #expect(report.failures == [] && report.uses > 20, "\(report.uses) uses of another server")
            for kind in Self.kinds { #expect(report.sent[kind] == 200, "\(kind)") }
            for kind in Self.streamKinds { #expect(report.sent[kind] == 300, "\(kind)") }
            let kindCount = Self.kinds.count + Self.streamKinds.count
            #expect(report.gone.count == kindCount && report.closedWithin.count == kindCount)
            for (kind, seconds) in report.closedWithin { #expect(seconds < 35, "descriptors of \(kind) took \(seconds) s") }
            for (kind, most) in report.descriptorsMost { #expect(most > before + 100, "\(kind) had \(most) of \(before) at least") }
            for (kind, seconds) in report.gone where !Self.unattended.contains(kind) { #expect(seconds < 35, "\(kind) took \(seconds) s") }
            // One second until a FIN is looked at; the rest is for a slow machine.
            for kind in Self.unattended { #expect(report.gone[kind, default: .infinity] < 10 + 25, "\(kind): \(report.gone)") }
            #expect(report.unattendedMost > 0 && report.unattendedMost <= Self.unattendedMax)
            #expect(report.streamsMost >= 100, "what is open is counted")
            try await eventually("no stream is left") { try await layover.call("GET", "/v1/status").text.contains(#""streams":0}"#) }
            try await layover.waitForPending("no entry is left") { $0.data.isEmpty }
            let after = try await layover.settledDescriptorCount(atMost: before + 12)
            #expect(after <= before + 12, "\(before) before, \(after) after")
        }
    }
}
