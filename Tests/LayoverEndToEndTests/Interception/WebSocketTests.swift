import Foundation
import LayoverTestSupport
import Testing

extension EndToEnd {
    /// WebSockets to origins with TLS: a real client and a real server that send to each other at the same time and compare every byte.
    @Suite(.bothPaths) struct SecureWebSockets {
        private static func python() async throws -> String {
            let tools = try await Command(Fixtures.script("python-tools.sh"), ["websocket"]).run(within: .seconds(120))
            try #require(tools.status == 0, "websockets is not installed: \(tools.errors)")
            return tools.output.trimmingCharacters(in: .whitespacesAndNewlines) + "/bin/python"
        }

        private static func startServer(_ port: ReservedPort, _ identity: TestAuthority.Identity) async throws -> RunningProcess {
            let output = try TemporaryFolder()
            let server = try await Command(
                python(), ["-B", Fixtures.path("websocket_peers.py"), "server", "\(port.number)", identity.certificate, identity.key]
            ).start(in: output)
            _ = try await FolderWatch(output.url).first("the server listens") {
                if server.hasEnded { throw ProcessError("The server ended: \(server.errors)") }
                return server.output.contains("listens") ? true : nil
            }
            return server
        }

        private static func client(_ url: String, proxy: String = "none", trusting authority: String = "none") async throws -> Command {
            try await Command(python(), ["-B", Fixtures.path("websocket_peers.py"), "client", url, proxy, authority])
        }

        /// By which way the client comes, and where it then connects to.
        enum Way: String, CaseIterable { case intercepted, route }

        private static func scene(trusts: Bool = true) async throws -> (scene: Scene, authority: TestAuthority) {
            let (root, port) = (try TemporaryFolder(), try ReservedPort())
            let authority = try await TestAuthority(in: root)
            let trust = trusts ? #""caFile": "\#(authority.certificate)", "# : ""
            let layover = try await RunningLayover.start(
                """
                {"tls": {\(trust)"folder": "authority"},
                 "policies": {"default": {"delay": {"type": "constant", "every": "100ms", "jitter": "none"}}},
                 "routes": {"seen": {"host": "localhost", "intercept": true}, "shop": {"upstream": "https://localhost:\(port.number)"}}}
                """)
            return (Scene(layover: layover, root: root, port: port), authority)
        }

        private static func client(_ way: Way, _ scene: Scene) async throws -> Command {
            switch way {
            case .route: try await client("ws://127.0.0.1:\(scene.layover.proxyPort)/.layover/route/shop/chat")
            case .intercepted:
                try await client(
                    "wss://localhost:\(scene.port.number)/chat", proxy: scene.layover.proxyURL,
                    trusting: scene.layover.folder.file("authority/ca.pem").path)
            }
        }

        @Test(arguments: Way.allCases, OriginTiming.allCases)
        func messagesPassBothWaysAtOnce(way: Way, timing: OriginTiming) async throws {
            let (scene, authority) = try await Self.scene()
            var server = timing == .already ? try await Self.startServer(scene.port, authority.identity) : nil
            let client = try await Self.client(way, scene).start()
            if server == nil {
                let pending = try await scene.layover.waitForPending("the upgrade waits") { !$0.data.isEmpty }
                #expect(pending.data.first?.url == scene.secureURL("/chat"))
                server = try await Self.startServer(scene.port, authority.identity)
            }
            let result = await client.result()
            #expect(result.output == "ok 1000\n", "\(result)")
            let running = try #require(server)
            _ = try await FolderWatch(running.folder.url).first("the server is done") { running.output.hasSuffix("ok 1000\n") ? true : nil }
        }

        @Test(arguments: Way.allCases) func badCertificateIsA502(way: Way) async throws {
            let (scene, authority) = try await Self.scene(trusts: false)
            let server = try await Self.startServer(scene.port, authority.identity)
            let result = try await Self.client(way, scene).run()
            #expect(result.output.hasPrefix("502 ") && result.output.contains(#""kind":"tls_certificate_error""#), "\(result)")
            #expect(try await scene.layover.waitForPending { _ in true }.data.isEmpty)
            withExtendedLifetime(server) {}
        }

        /// TLS with the parent proxy, CONNECT inside, and TLS with the origin inside of that.
        @Test(arguments: ["http", "https", "socks5h"]) func messagesPassThroughAParentProxy(scheme: String) async throws {
            let (root, port) = (try TemporaryFolder(), try ReservedPort())
            let authority = try await TestAuthority(in: root)
            let server = try await Self.startServer(port, authority.identity)
            let parentProxy = try await RunningParentProxy.start(scheme, credentials: "me:word", identity: authority.identity)
            let layover = try await RunningLayover.start(
                """
                {"tls": {"caFile": "\(authority.certificate)"}, "upstreamProxy": {"url": "\(scheme)://me:word@localhost:\(parentProxy.port)"},
                 "routes": {"shop": {"upstream": "https://localhost:\(port.number)"}}}
                """)
            let result = try await Self.client("ws://127.0.0.1:\(layover.proxyPort)/.layover/route/shop/chat").run()
            #expect(result.output == "ok 1000\n", "\(result)")
            #expect(parentProxy.records.map(\.target) == ["localhost:\(port.number)"])
            withExtendedLifetime(server) {}
        }
    }
}
