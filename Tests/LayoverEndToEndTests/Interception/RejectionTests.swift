import Foundation
import LayoverTestSupport
import Testing

extension EndToEnd {
    /// Clients that do not accept the certificate of an intercepted host.
    @Suite struct RejectionTests {
        private struct RejectingScene {
            let scene: Scene
            let authority: TestAuthority

            init(fallback: Bool) async throws {
                let root = try TemporaryFolder()
                authority = try await TestAuthority(in: root)
                let layover = try await RunningLayover.start(
                    """
                    {"tls": {"caFile": "\(authority.certificate)", "folder": "authority"},
                     "policies": {"default": {"delay": {"type": "constant", "every": "100ms", "jitter": "none"}}},
                     "routes": {"seen": {"host": "localhost", "intercept": true, "interceptFallback": \(fallback)}}}
                    """)
                scene = Scene(layover: layover, root: root, port: try ReservedPort())
            }

            var ownAuthority: String { scene.layover.folder.file("authority/ca.pem").path }

            /// A client that trusts the origin's authority only, as one that pins it does.
            func pinned(from address: String = "127.0.0.1") async throws -> CommandResult {
                try await fetch(trusting: authority.certificate, from: address)
            }

            func trusting(from address: String = "127.0.0.1") async throws -> CommandResult {
                try await fetch(trusting: ownAuthority, from: address)
            }

            private func fetch(trusting file: String, from address: String) async throws -> CommandResult {
                try await scene.layover.curl("--fail", "--interface", address, "--cacert", file, scene.secureURL("/echo")).run()
            }

            struct Status: Decodable {
                struct Interception: Decodable {
                    var authority: String
                    var connections: Int
                    var rejections: Int
                    var fallbacks: Int
                    var rejectingHosts: [String]
                }

                var interception: Interception
            }

            func status() async throws -> Status.Interception {
                let response = try await scene.layover.call("GET", "/v1/status")
                return try JSONDecoder().decode(Status.self, from: response.body).interception
            }

            /// Fetches as a client that pins, until so many rejections are counted. Where the reset of a closed client overtakes its alert,
            /// which happens on a busy machine, the alert is lost.
            ///
            /// - Returns: The number of connections that it took.
            func beRejected(_ count: Int) async throws -> Int {
                for tries in 1...40 {
                    #expect(try await pinned().status == 60, "curl does not accept the certificate")
                    try await waitUntilNoneIsOpen()
                    if try await status().rejections >= count { return tries }
                }
                throw ProcessError("\(count) rejections did not come: \(try await status())")
            }

            /// Ends connections without an alert, until the host is said to be rejected: three of them within ten seconds count together.
            /// A busy machine may take longer for three, and a reset may overtake an end. But the third one that was counted is the last one
            /// if the three began within ten seconds.
            ///
            /// - Returns: The number of rejections that it took.
            func beLeft(_ leave: () async throws -> Void) async throws -> Int {
                // When the turn before began, of each that was counted: it may be counted a turn late.
                var counted: [ContinuousClock.Instant] = []
                var began = ContinuousClock.now
                for _ in 1...40 {
                    let earlier = began
                    began = ContinuousClock.now
                    try await leave()
                    try await waitUntilNoneIsOpen()
                    let status = try await status()
                    if status.rejectingHosts == ["localhost"] { return status.rejections }
                    #expect(status.rejectingHosts == [])
                    while counted.count < status.rejections { counted.append(earlier) }
                    if counted.count >= 3 {
                        #expect(counted[counted.count - 3].duration(to: .now) > .seconds(10), "three within ten seconds count together")
                    }
                }
                throw ProcessError("the host does not count as rejected: \(try await status())")
            }

            /// The log once it has a line with these words: it is written by a thread of its own.
            func log(with words: String) async throws -> String {
                let process = scene.layover.process
                return try await FolderWatch(scene.layover.folder.url).first("the line of the log") {
                    let log = process.errors
                    let lines = log.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
                    return lines.contains { $0.contains(words) } ? log : nil
                }
            }

            /// Until the loop has seen the end of all connections.
            func waitUntilNoneIsOpen() async throws {
                let deadline = ContinuousClock.now + .seconds(45)
                while !(try await scene.layover.call("GET", "/metrics").text).contains("\nlayover_open_connections 0\n") {
                    guard ContinuousClock.now < deadline else { throw ProcessError("connections stay open") }
                }
            }
        }

        @Test func rejectedHostBecomesATunnelForTheNextConnectionWhereTheRouteSaysSo() async throws {
            let test = try await RejectingScene(fallback: true)
            let origin = try await test.scene.startOrigin(test.authority.identity)
            let connections = try await test.beRejected(1)
            let second = try await test.pinned()
            #expect(second.status == 0, "\(second)")
            let status = try await test.status()
            #expect(status.rejectingHosts == ["localhost"])
            #expect(status.fallbacks == 1)
            #expect(try await test.scene.layover.command("status").run().output.contains("clients reject the certificate for localhost"))
            let metrics = try await test.scene.layover.call("GET", "/metrics").text
            #expect(metrics.contains("layover_intercepted_connections_total \(connections)\n"))
            #expect(metrics.contains("layover_interception_rejections_total 1\n"))
            #expect(metrics.contains("layover_interception_fallbacks_total 1\n"))
            let log = try await test.log(with: "a client rejects the certificate of an intercepted host")
            let line = try #require(
                log.split(separator: "\n").first { $0.contains("a client rejects the certificate of an intercepted host") })
            for word in ["localhost", "127.0.0.1", "interceptFallback"] { #expect(line.contains(word), "\(line)") }
            // Clients at other addresses are served as before.
            #expect(try await test.trusting(from: "127.0.0.2").status == 0)
            #expect(try await test.status().fallbacks == 1)
            // With another authority its clients may be willing.
            let folder = test.scene.layover.folder.file("authority")
            let before = status.authority
            for name in ["ca.pem", "ca.key"] { try FileManager.default.removeItem(at: folder.appendingPathComponent(name)) }
            try await Command(RunningLayover.binary, ["ca", "init", "--config", test.scene.layover.folder.file("config.json").path])
                .with(["STATE_DIRECTORY": test.scene.layover.folder.url.path]).succeed()
            #expect(try await test.scene.layover.command("reload").run().status == 0)
            let after = try await test.status()
            #expect(after.rejectingHosts == [] && after.authority != before)
            #expect(try await test.trusting().status == 0)
            withExtendedLifetime(origin) {}
        }

        @Test func rejectedHostStaysInterceptedByDefault() async throws {
            let test = try await RejectingScene(fallback: false)
            let origin = try await test.scene.startOrigin(test.authority.identity)
            _ = try await test.beRejected(2)
            #expect(try await test.status().fallbacks == 0)
            #expect(try await test.trusting().status == 0, "others are served as before")
            let log = try await test.log(with: "a client rejects the certificate")
            #expect(log.components(separatedBy: "a client rejects the certificate").count == 2, "said once")
            #expect(log.contains("layover ca trust"))
            withExtendedLifetime(origin) {}
        }

        /// Clients close connections for many reasons: only three at once count.
        @Test func silentClosesCountWhenTheyAreRepeated() async throws {
            let test = try await RejectingScene(fallback: true)
            let origin = try await test.scene.startOrigin(test.authority.identity)
            #expect(try await test.trusting().status == 0)
            let line = """
                openssl s_client -proxy 127.0.0.1:\(test.scene.layover.proxyPort) -connect localhost:\(test.scene.port.number) \
                -CAfile \(test.ownAuthority) </dev/null
                """
            let count = try await test.beLeft { try await Command("sh", ["-c", line]).succeed() }
            #expect(count >= 3)
            withExtendedLifetime(origin) {}
        }

        @Test func resetsNeverCountAndAnEndWithoutAnAlertCountsWhenRepeated() async throws {
            let test = try await RejectingScene(fallback: true)
            func leave(behind what: String, _ more: String...) async throws {
                let fixed = [
                    "-B", Fixtures.path("tunnel_client.py"), "--proxy", "\(test.scene.layover.proxyPort)", "--ca", test.ownAuthority,
                    "--connect", "localhost:\(test.scene.port.number)", "--name", "localhost", "--leave", what,
                ]
                try await Command("/usr/bin/python3", fixed + more).succeed()
            }
            for what in ["flight", "handshake"] { for _ in 1...3 { try await leave(behind: what, "--reset") } }
            try await test.waitUntilNoneIsOpen()
            let status = try await test.status()
            #expect(status.connections == 6 && status.rejections == 0 && status.rejectingHosts == [])
            let count = try await test.beLeft { try await leave(behind: "flight") }
            #expect(count >= 3)
        }

        /// The request goes to the host of CONNECT, and people are told of the other name.
        @Test func serverNameOtherThanTheHostOfConnectIsReported() async throws {
            let test = try await RejectingScene(fallback: false)
            let port = test.scene.port.number
            let script = """
                import socket, ssl, sys
                context = ssl.create_default_context(cafile=sys.argv[1])
                raw = socket.create_connection(("127.0.0.1", int(sys.argv[2])))
                raw.sendall(b"CONNECT localhost:\(port) HTTP/1.1\\r\\nHost: localhost:\(port)\\r\\n\\r\\n")
                assert b" 200 " in raw.recv(4096)
                inside = context.wrap_socket(raw, server_hostname="other.example")
                inside.sendall(b"GET /echo HTTP/1.1\\r\\nHost: localhost:\(port)\\r\\nConnection: close\\r\\n\\r\\n")
                print(inside.recv(4096).split(b"\\r\\n")[0].decode())
                """
            // The authority is made with the first intercepted connection at the latest.
            let client = try Command("python3", ["-c", script, test.ownAuthority, "\(test.scene.layover.proxyPort)"]).start()
            let pending = try await test.scene.layover.waitForPending { !$0.data.isEmpty }
            let id = try #require(pending.data.first?.id)
            #expect(try await test.scene.layover.call("GET", "/v1/pending/\(id)/explain").text.contains(#""serverName":"other.example""#))
            #expect(try await test.scene.layover.command("explain", id).run().output.contains("the client asked for other.example"))
            let origin = try await test.scene.startOrigin(test.authority.identity)
            #expect(await client.result().output.contains("200"))
            withExtendedLifetime(origin) {}
        }
    }
}
