import Foundation
import LayoverTestSupport
import Testing

extension EndToEnd {
    /// Squid and tinyproxy as parent proxies.
    @Suite(.bothPaths) struct RealParentProxies {
        enum Program: String, CaseIterable, Sendable {
            case squid
            case tinyproxy

            /// Starts it on a port, and does not wait until it listens.
            func start(on port: ReservedPort) throws -> RunningProcess {
                let folder = try TemporaryFolder()
                // Squid gives up the rights of root.
                try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: folder.url.path)
                let file = try folder.write(configuration(port.number, folder.url.path), to: "parent.conf")
                switch self {
                case .squid: return try Command("squid", ["-N", "-f", file]).start(in: folder)
                case .tinyproxy: return try Command("tinyproxy", ["-d", "-c", file]).start(in: folder)
                }
            }

            private func configuration(_ port: Int, _ folder: String) -> String {
                switch self {
                case .squid:
                    """
                    http_port 127.0.0.1:\(port)
                    http_access allow all
                    cache deny all
                    access_log none
                    cache_log \(folder)/cache.log
                    cache_store_log none
                    pid_filename \(folder)/squid.pid
                    coredump_dir \(folder)
                    netdb_filename none
                    pinger_enable off
                    shutdown_lifetime 1 seconds
                    visible_hostname parent

                    """
                case .tinyproxy:
                    """
                    Port \(port)
                    Listen 127.0.0.1
                    Timeout 600
                    MaxClients 100
                    LogLevel Critical
                    LogFile "\(folder)/log"

                    """
                }
            }
        }

        /// A request by every way, each before its parent proxy is there.
        @Test(arguments: Program.allCases)
        func requestsWaitForTheParentProxyAndArriveUnchanged(program: Program) async throws {
            let (root, parentProxyPort) = (try TemporaryFolder(), try ReservedPort())
            let (port, securePort) = (try ReservedPort(), try ReservedPort())
            let authority = try await TestAuthority(in: root)
            let layover = try await RunningLayover.start(
                """
                {"policies": {"default": {"delay": {"type": "constant", "every": "100ms", "jitter": "none"}}},
                 "tls": {"caFile": "\(authority.certificate)"}, "upstreamProxy": {"url": "http://127.0.0.1:\(parentProxyPort.number)"},
                 "routes": {"r": {"upstream": "https://localhost:\(securePort.number)"}}}
                """)
            let origin = try await RunningOrigin.start(in: root, port: port)
            let secure = try await RunningOrigin.start(in: root, port: securePort, identity: authority.identity)
            let body = Data((0..<3_000_000).map { _ in UInt8.random(in: .min ... .max) })
            try body.write(to: root.file("body"))
            let digest = try await Command("sha256sum", [root.file("body").path]).succeed().output.prefix(64)
            func send(_ url: String, _ more: String...) throws -> RunningProcess {
                var client = layover.curl("--fail", "--max-time", "60", "--data-binary", "@\(root.file("body").path)", url)
                client.arguments += more
                return try client.start()
            }

            let clients = [
                try send("http://127.0.0.1:\(port.number)/echo?plain"),
                try send("http://127.0.0.1:\(port.number)/echo?tunnel", "--proxytunnel"),
                try send("http://127.0.0.1:\(layover.proxyPort)/.layover/route/r/echo?route", "--noproxy", "*"),
            ]
            try await layover.waitForPending("all wait") { $0.data.count == clients.count }
            let parentProxy = try program.start(on: parentProxyPort)
            for client in clients {
                let result = await client.result()
                #expect(result.status == 0 && result.output.contains(digest), "\(result.errors)")
            }
            #expect(Set(origin.records.filter { $0.event == "request" }.map(\.target)) == ["/echo?plain", "/echo?tunnel"])
            #expect(origin.records.count == 2 && secure.records.map(\.target) == ["/echo?route"])

            // The parent proxy is there and its origin is not: a tunnel waits as it does without a parent proxy.
            await origin.kill()
            let client = try send("http://127.0.0.1:\(port.number)/echo?later", "--proxytunnel")
            let pending = try await layover.waitForPending("the tunnel waits") { $0.data.contains { $0.method == "CONNECT" } }
            #expect(pending.data.count == 1)
            let again = try await RunningOrigin.start(in: root, port: port)
            let result = await client.result()
            #expect(result.status == 0 && result.output.contains(digest), "\(result.errors)")
            #expect(again.records.map(\.target) == ["/echo?later"])
            parentProxy.signal(SIGKILL)
            _ = await parentProxy.result()
        }
    }
}
