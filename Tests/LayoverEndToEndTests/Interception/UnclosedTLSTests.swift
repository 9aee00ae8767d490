import Foundation
import LayoverTestSupport
import Testing

extension EndToEnd {
    /// Responses without a length whose origin ends TLS with or without close_notify (RFC 8446 section 6.1, RFC 9112 section 9.8).
    @Suite struct UnclosedTLS {
        /// One run of `tls_origin.py`.
        private final class OddOrigin {
            let process: RunningProcess
            let port: Int
            private let folder: TemporaryFolder

            /// - Parameter what: The end of each connection.
            init(_ what: String, _ authority: TestAuthority) async throws {
                let folder = try TemporaryFolder()
                let process = try Command(
                    "/usr/bin/python3",
                    ["-B", Fixtures.path("tls_origin.py"), what, authority.identity.certificate, authority.identity.key, ""]
                ).start(in: folder)
                port = try await FolderWatch(folder.url).first("the origin listens") {
                    if process.hasEnded { throw ProcessError("The origin ended: \(process.errors)") }
                    return process.output.split(separator: "\n").first.flatMap { Int($0) }
                }
                (self.process, self.folder) = (process, folder)
            }
        }

        /// Python's `ssl` servers end so, and it was cut off 60 times of 60.
        @Test(arguments: [("endsWell", "close_notify"), ("isCutOff", "SSLError")])
        func clientByHTTP1SeesTheEndingOfTheOrigin(what: String, end: String) async throws {
            let test = try await InterceptionScene()
            let origin = try await OddOrigin(what, test.authority)
            for _ in 0..<10 {
                let client = try await test.tunnelClient(["--name", "localhost", "--get", "/"], to: "localhost:\(origin.port)")
                #expect(client.status == 200 && client.body == "all of it" && client.end == end, "\(client)")
            }
        }

        /// Programs that accept it do so through the proxy too, and those that do not say the same.
        @Test(arguments: ["endsWell", "isCutOff"]) func programsGetTheSameResultAsWithoutAProxy(what: String) async throws {
            let test = try await InterceptionScene()
            let origin = try await OddOrigin(what, test.authority)
            let program = """
                import ssl, sys, urllib.request
                port, authority, proxy = sys.argv[1:]
                context = ssl.create_default_context(cafile=authority)
                handlers = [urllib.request.HTTPSHandler(context=context), urllib.request.ProxyHandler({"https": proxy} if proxy else {})]
                print(urllib.request.build_opener(*handlers).open(f"https://localhost:{port}/", timeout=20).read())
                """
            var statuses: Set<Int32> = []
            for (authority, proxy) in [(test.authority.certificate, ""), (test.ownAuthority, test.scene.layover.proxyURL)] {
                let result = try await Command("/usr/bin/python3", ["-c", program, "\(origin.port)", authority, proxy]).run()
                #expect(result.output == "b'all of it'\n", "by \(proxy): \(result)")
                var curl = ["--silent", "--http1.1", "--cacert", authority, "https://localhost:\(origin.port)/"]
                if !proxy.isEmpty { curl += ["--proxy", proxy] }
                let fetched = try await Command("curl", curl).run()
                #expect(fetched.output == "all of it", "by \(proxy): \(fetched)")
                statuses.insert(fetched.status)
            }
            #expect(statuses.count == 1, "curl says the same by both ways: \(statuses)")
        }

        @Test(arguments: [("cut", "isCutOff", false), ("accept", "isCutOff", true), ("cut", "endsWell", true)])
        func routeDecidesForClientsByHTTP2(rule: String, what: String, isWhole: Bool) async throws {
            let root = try TemporaryFolder()
            let authority = try await TestAuthority(in: root)
            let layover = try await RunningLayover.start(
                """
                {"tls": {"caFile": "\(authority.certificate)", "folder": "authority"},
                 "routes": {"seen": {"host": "localhost", "intercept": true, "unclosedTLS": "\(rule)"}}}
                """)
            let origin = try await OddOrigin(what, authority)
            let result = try await layover.client(
                "curl", "--silent", "--http2", "--cacert", layover.folder.file("authority/ca.pem").path, "--write-out", " %{http_version}",
                "https://localhost:\(origin.port)/"
            ).run()
            #expect(result.output == "all of it 2" && (result.status == 0) == isWhole, "\(result)")
        }
    }
}
