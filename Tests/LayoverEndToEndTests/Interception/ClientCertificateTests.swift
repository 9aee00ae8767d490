import Foundation
import LayoverTestSupport
import Testing

extension EndToEnd {
    /// Origins that want a certificate of the client, which Layover has none of. That does not change, so nothing waits.
    @Suite struct ClientCertificateTests {
        /// Under TLS 1.3 the refusal may come before the request is written, behind it, or together with a reset, so there are many
        /// requests. The origin has read none of them.
        @Test(arguments: ["-tls1_2", "-tls1_3"])
        func upgradeToAnOriginThatWantsACertificateFails(version: String) async throws {
            let certificates = try TestCertificates()
            let folder = try TemporaryFolder()
            let origin = try Command(
                "/usr/bin/python3",
                ["-B", Fixtures.path("tls_origin.py"), "wantsACertificate", certificates.serverFile, certificates.serverKeyFile, version]
            ).start(in: folder)
            let port = try await FolderWatch(folder.url).first("the origin listens") {
                if origin.hasEnded { throw ProcessError("The origin ended: \(origin.errors)") }
                return origin.output.split(separator: "\n").first.flatMap { Int($0) }
            }
            let layover = try await RunningLayover.start(
                """
                {"tls": {"caFile": "\(certificates.caFile)"}, "routes": {"own": {"upstream": "https://127.0.0.1:\(port)"}}}
                """)
            let count = 40
            let result = try await Command(
                "curl",
                [
                    "--silent", "--show-error", "--parallel", "--parallel-max", "4", "--write-out", " [%{http_code}]", "-H",
                    "Connection: Upgrade", "-H", "Upgrade: websocket", "-H", "Sec-WebSocket-Version: 13", "-H",
                    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
                    "http://127.0.0.1:\(layover.proxyPort)/.layover/route/own/chat[1-\(count)]",
                ]
            ).run()
            let expected = [
                "[502]", #""kind":"tls_alert_received""#, #""evidence":"neverSent""#, "It requires a client certificate",
            ]
            for part in expected {
                #expect(result.output.components(separatedBy: part).count - 1 == count, "\(part): \(result.output)")
            }
            try await layover.waitForPending("nothing waits") { $0.data.isEmpty }
        }
    }
}
