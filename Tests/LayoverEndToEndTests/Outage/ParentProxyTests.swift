import Foundation
import LayoverTestSupport
import Testing

extension EndToEnd {
    /// Requests that go through a parent proxy, in a process of its own.
    @Suite(.bothPaths) struct ParentProxies {
        private static let credentials = "me:p@ss:word"
        private static let userinfo = "me:p%40ss%3Aword"
        private static let basic = "Basic " + Data(credentials.utf8).base64EncodedString()

        private struct Bench {
            let scene: Scene
            let authority: TestAuthority

            func route(_ path: String) -> String { "http://127.0.0.1:\(scene.layover.proxyPort)/.layover/route/r\(path)" }
            /// A name that only the parent proxy knows.
            func plain(_ path: String) -> String { "http://origin.behind:\(scene.port.number)\(path)" }
        }

        private static func bench(_ parentProxy: String, noProxy: String = "[]") async throws -> Bench {
            let (root, port) = (try TemporaryFolder(), try ReservedPort())
            let authority = try await TestAuthority(in: root)
            let layover = try await RunningLayover.start(
                """
                {"policies": {"default": {"delay": {"type": "constant", "every": "100ms", "jitter": "none"}}},
                 "tls": {"caFile": "\(authority.certificate)"}, "upstreamProxy": {"url": "\(parentProxy)", "noProxy": \(noProxy)},
                 "routes": {"r": {"upstream": "https://localhost:\(port.number)"}}}
                """)
            return Bench(scene: Scene(layover: layover, root: root, port: port), authority: authority)
        }

        private static func url(_ scheme: String, _ port: Int) -> String { "\(scheme)://\(userinfo)@localhost:\(port)" }

        @Test(arguments: ["http", "https", "socks5h"])
        func plainTLSAndTunnelGoThroughAParentProxyWithCredentials(scheme: String) async throws {
            let folder = try TemporaryFolder()
            let identity = scheme == "https" ? try await TestAuthority(in: folder) : nil
            let parentProxy = try await RunningParentProxy.start(
                scheme, credentials: Self.credentials, identity: identity?.identity)
            let bench = try await Self.bench(Self.url(scheme, parentProxy.port))
            guard let identity else { return try await expectAllWays(bench, parentProxy, scheme) }
            // Layover trusts the certificate of the parent proxy only if it is told to.
            let untrusted = try await bench.scene.layover.curl("--max-time", "50", bench.plain("/echo")).run()
            #expect(untrusted.output.contains("tls_certificate_error"))
            let trusting = try await Self.trusting(identity, bench, Self.url(scheme, parentProxy.port))
            try await expectAllWays(trusting, parentProxy, scheme)
        }

        private static func trusting(_ other: TestAuthority, _ bench: Bench, _ parentProxy: String) async throws -> Bench {
            let both =
                try String(contentsOfFile: other.certificate, encoding: .utf8)
                + String(contentsOfFile: bench.authority.certificate, encoding: .utf8)
            let file = try bench.scene.root.write(both, to: "both.pem")
            let layover = try await RunningLayover.start(
                """
                {"tls": {"caFile": "\(file)"}, "upstreamProxy": {"url": "\(parentProxy)"},
                 "routes": {"r": {"upstream": "https://localhost:\(bench.scene.port.number)"}}}
                """)
            return Bench(scene: Scene(layover: layover, root: bench.scene.root, port: bench.scene.port), authority: bench.authority)
        }

        private func expectAllWays(_ bench: Bench, _ parentProxy: RunningParentProxy, _ scheme: String) async throws {
            let layover = bench.scene.layover
            let origin = try await bench.scene.startOrigin()
            try await layover.curl("--fail", bench.plain("/echo?1")).succeed()
            try await layover.curl("--fail", bench.plain("/echo?2")).succeed()
            let tunnel = layover.curl("--fail", "--proxytunnel", bench.plain("/echo?3"))
            try await tunnel.succeed()
            #expect(origin.records.map(\.target) == ["/echo?1", "/echo?2", "/echo?3"])
            let name = "origin.behind:\(bench.scene.port.number)"
            let asked = parentProxy.records.map { "\($0.method) \($0.target)" }
            #expect(asked.contains(scheme == "socks5h" ? "SOCKS \(name)" : "GET http://\(name)/echo?1"))
            await origin.kill()
            let secure = try await bench.scene.startOrigin(bench.authority.identity)
            try await Command("curl", ["--silent", "--fail", "--max-time", "50", bench.route("/echo?4")]).succeed()
            #expect(secure.records.map(\.target) == ["/echo?4"])
            #expect(parentProxy.records.last?.target == "localhost:\(bench.scene.port.number)")
            #expect(parentProxy.records.allSatisfy { $0.authorization == (scheme == "socks5h" ? Self.credentials : Self.basic) })
        }

        @Test func aRequestWaitsForItsParentProxyAndIsDeliveredOnce() async throws {
            let port = try ReservedPort()
            let bench = try await Self.bench("http://127.0.0.1:\(port.number)")
            let origin = try await bench.scene.startOrigin()
            let client = try bench.scene.layover.curl("--fail", "--data", "x=1", bench.plain("/echo?post")).start()
            try await bench.scene.layover.waitForPending("the request waits") { !$0.data.isEmpty }
            let incidents = try await bench.scene.layover.call("GET", "/v1/incidents").text
            #expect(incidents.contains("parentProxy") && incidents.contains("parent_proxy_unreachable"))
            let parentProxy = try await RunningParentProxy.start(port: port)
            let result = await client.result()
            #expect(result.status == 0)
            #expect(origin.records.map(\.target) == ["/echo?post"])
            #expect(parentProxy.records.count == 1)
        }

        /// Two Layovers name each other. The first one gets its own CONNECT back.
        @Test func tunnelThatComesRoundFailsAtOnce() async throws {
            let folder = try TemporaryFolder()
            try folder.write("{}", to: "config.json")
            let first = try await RunningLayover.start(in: folder)
            let second = try await RunningLayover.start(#"{"upstreamProxy": {"url": "http://127.0.0.1:\#(first.proxyPort)"}}"#)
            try folder.write(#"{"upstreamProxy": {"url": "http://127.0.0.1:\#(second.proxyPort)"}}"#, to: "config.json")
            try await first.command("reload").succeed()
            for layover in [first, second] {
                let result = try await layover.exchange("CONNECT origin.behind:443 HTTP/1.1\r\nHost: origin.behind:443\r\n\r\n")
                #expect(result.text.contains(#""kind":"proxy_loop_detected""#), "\(result.text)")
                #expect(result.text.contains(#""evidence":"neverSent""#))
            }
        }

        /// The parent proxy accepts the connection and does not answer the ClientHello.
        @Test(arguments: ["plain", "tls", "tunnel"])
        func aParentProxyThatDoesNotAnswerTheHandshakeCountsAsAway(way: String) async throws {
            let silent = try await RunningParentProxy.start("http")
            let layover = try await RunningLayover.start(
                """
                {"policies": {"default": {"mode": "pass"}}, "timeouts": {"connect": "500ms"},
                 "upstreamProxy": {"url": "https://127.0.0.1:\(silent.port)"}, "routes": {"r": {"upstream": "https://origin.behind"}}}
                """)
            let request =
                switch way {
                case "plain": "GET http://origin.behind/ HTTP/1.1\r\nHost: origin.behind\r\nConnection: close\r\n\r\n"
                case "tls": "GET /.layover/route/r/ HTTP/1.1\r\nHost: 127.0.0.1:\(layover.proxyPort)\r\nConnection: close\r\n\r\n"
                default: "CONNECT origin.behind:443 HTTP/1.1\r\nHost: origin.behind:443\r\n\r\n"
                }
            let result = try await layover.exchange(request)
            #expect(result.text.contains(#""kind":"parent_proxy_unreachable""#), "\(result.text)")
            #expect(result.text.contains(#""evidence":"neverSent""#))
            #expect(silent.records.isEmpty)
        }

        @Test func aTunnelWaitsForItsSecureParentProxy() async throws {
            let (root, port) = (try TemporaryFolder(), try ReservedPort())
            let authority = try await TestAuthority(in: root)
            let layover = try await RunningLayover.start(
                """
                {"policies": {"default": {"delay": {"type": "constant", "every": "100ms", "jitter": "none"}}},
                 "tls": {"caFile": "\(authority.certificate)"}, "upstreamProxy": {"url": "https://localhost:\(port.number)"}}
                """)
            let scene = Scene(layover: layover, root: root, port: try ReservedPort())
            let origin = try await scene.startOrigin()
            let client = try layover.curl("--fail", "--proxytunnel", "http://origin.behind:\(scene.port.number)/echo").start()
            try await layover.waitForPending("the tunnel waits") { !$0.data.isEmpty }
            #expect(try await layover.call("GET", "/v1/incidents").text.contains("parent_proxy_unreachable"))
            let parentProxy = try await RunningParentProxy.start("https", port: port, identity: authority.identity)
            #expect(await client.result().status == 0)
            #expect(origin.records.map(\.target) == ["/echo"])
            withExtendedLifetime(parentProxy) {}
        }

        @Test func a407ForAPlainRequestIsNotPassedOn() async throws {
            let parentProxy = try await RunningParentProxy.start(credentials: Self.credentials)
            let bench = try await Self.bench("http://other:one@127.0.0.1:\(parentProxy.port)")
            let result = try await bench.scene.layover.curl("--include", "--max-time", "50", bench.plain("/echo")).run()
            #expect(result.output.contains("HTTP/1.1 502") && result.output.contains("parent_proxy_misconfigured"))
            #expect(!result.output.lowercased().contains("proxy-authenticate"))
        }

        @Test func anExceptionGoesWithoutTheParentProxy() async throws {
            let parentProxy = try await RunningParentProxy.start()
            let bench = try await Self.bench("http://127.0.0.1:\(parentProxy.port)", noProxy: #"["127.0.0.0/8"]"#)
            let origin = try await bench.scene.startOrigin()
            try await bench.scene.layover.curl("--fail", bench.scene.url("/echo")).succeed()
            #expect(origin.records.count == 1)
            #expect(parentProxy.records.isEmpty)
        }
    }
}
