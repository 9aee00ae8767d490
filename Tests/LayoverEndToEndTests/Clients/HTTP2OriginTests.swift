import Foundation
import LayoverTestSupport
import Testing

extension EndToEnd {
    /// Routes with `http2`: libcurl offers HTTP/2 to the origin (RFC 9113).
    @Suite struct HTTP2Origins {
        private let scene: HTTP2Scene

        init() async throws { scene = try await HTTP2Scene() }

        /// One run of `Tests/Fixtures/http2_origin.py`, and a Layover with a route to it.
        private final class HTTP2Scene: Sendable {
            struct Record: Decodable {
                var path: String
                var what: String?
                var method: String?
                var connection: Int?
                var bytes: Int?
                var fields: [[String]]?
                var range: String?
                var condition: String?
            }

            let layover: RunningLayover
            private let origin: RunningProcess
            private let files: TemporaryFolder

            init() async throws {
                let tools = try await Command(Fixtures.script("python-tools.sh"), ["http2"]).run(within: .seconds(120))
                try #require(tools.status == 0, "h2 is not installed: \(tools.errors)")
                let python = tools.output.trimmingCharacters(in: .whitespacesAndNewlines) + "/bin/python"
                let files = try TemporaryFolder()
                let authority = try await TestAuthority(in: files)
                let output = try TemporaryFolder()
                let process = try Command(
                    python, ["-B", Fixtures.path("http2_origin.py"), authority.identity.certificate, authority.identity.key]
                ).start(in: output)
                let port = try await FolderWatch(output.url).first("the origin listens") {
                    if process.hasEnded { throw ProcessError("The origin ended: \(process.errors)") }
                    return process.output.split(separator: "\n").first.flatMap { Int($0) }
                }
                origin = process
                self.files = files
                layover = try await RunningLayover.start(
                    """
                    {"tls": {"caFile": "\(authority.certificate)"},
                     "policies": {"default": {"delay": {"type": "constant", "every": "50ms", "jitter": "none"}}},
                     "routes": {"two": {"upstream": "https://localhost:\(port)", "http2": true},
                                "one": {"upstream": "https://localhost:\(port)"}}}
                    """)
            }

            func url(_ path: String, route: String = "two") -> String { "\(layover.proxyURL)/.layover/route/\(route)\(path)" }

            func curl(_ arguments: String...) async throws -> CommandResult {
                try await Command("curl", ["--silent", "--show-error"] + arguments).run()
            }

            var records: [Record] {
                origin.output.split(separator: "\n").compactMap { try? JSONDecoder().decode(Record.self, from: Data($0.utf8)) }
            }
        }

        @Test(arguments: ["/echo", "/length/echo"])
        func bodiesPassBothWaysByteForByte(path: String) async throws {
            let folder = try TemporaryFolder()
            // Beyond all windows and buffers.
            let body = Data((0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 13) })
            try body.write(to: folder.file("body"))
            for framing in ["Expect:", "Transfer-Encoding: chunked"] {
                let result = try await scene.curl(
                    "--fail", "--header", framing, "--data-binary", "@\(folder.file("body").path)", "--output", folder.file("back").path,
                    scene.url(path))
                #expect(result.status == 0, "\(framing): \(result)")
                #expect(try Data(contentsOf: folder.file("back")) == body, "\(framing)")
            }
            let fields = try #require(scene.records.first?.fields)
            #expect(fields.contains([":scheme", "https"]))
            #expect(!fields.contains { $0[0] == "transfer-encoding" || $0[0] == "connection" }, "\(fields)")
        }

        @Test func getsFollowEachOtherOnOneConnection() async throws {
            for _ in 0..<5 {
                let result = try await scene.curl("--fail", scene.url("/echo"))
                #expect(result.status == 0, "\(result)")
            }
            #expect(scene.records.count == 5)
            // A loop has connections of its own.
            #expect(Set(scene.records.compactMap(\.connection)).count <= 2)
            let head = try await scene.curl("--fail", "--head", scene.url("/length/echo"))
            #expect(head.status == 0, "\(head)")
            #expect(head.output.lowercased().contains("etag: \"one\""), "\(head.output)")
        }

        /// RFC 9113 section 8.7: a refused stream was not processed, so even a POST is sent again, by the policy and as a second attempt.
        @Test(arguments: ["POST", "PUT", "GET"])
        func refusedStreamIsSentAgainAsNeverSent(method: String) async throws {
            var arguments = ["--fail", "--request", method, "--include"]
            if method != "GET" { arguments += ["--data", "one order"] }
            let result = try await Command("curl", ["--silent", "--show-error"] + arguments + [scene.url("/refused")]).run()
            #expect(result.status == 0, "\(result)")
            #expect(scene.records.map(\.what) == ["refused", nil])
            #expect(result.output.contains("attempts=2"), "\(result.output)")
            // The request ends a moment after its response.
            let history = try await firstValue("the request has ended") {
                let text = try await scene.layover.call("GET", "/v1/pending?state=delivered").text
                return text.contains(#""data":[]"#) ? nil : text
            }
            #expect(history.contains(#""evidence":"neverSent""#), "\(history)")
        }

        @Test func aConnectionThatDiesBehindAPostIsMaybeApplied() async throws {
            let result = try await scene.curl("--data", "one order", scene.url("/dies/post"))
            #expect(result.output.contains(#""evidence":"maybeApplied""#), "\(result)")
            #expect(scene.records.count == 1, "it was sent once")
        }

        @Test func aConnectionThatDiesBehindAGetIsNotSeenByItsClient() async throws {
            let result = try await scene.curl("--fail", scene.url("/dies/get"))
            #expect(result.status == 0, "\(result)")
            #expect(scene.records.count == 2)
        }

        @Test func aResponseThatBreaksOffIsBrokenForTheClientToo() async throws {
            let result = try await scene.curl("--data", String(repeating: "x", count: 100_000), "--output", "/dev/null", scene.url("/broken"))
            #expect(result.status == 18, "curl has half of the body: \(result)")
        }

        /// An origin without a word about protocols in its handshake, which then speaks HTTP/2.
        /// The rest is asked for on a stream of its own; the connection stays unless it was the one that ended.
        @Test(arguments: [("/breaks/120000", 1), ("/ends/120000", 8)])
        func aDownloadGoesOnWhereItsStreamEnded(path: String, connectionCount: Int) async throws {
            let folder = try TemporaryFolder()
            let file = folder.file("download")
            let result = try await scene.curl("--fail", "--output", file.path, scene.url(path))
            #expect(result.status == 0, "\(result)")
            #expect(try Data(contentsOf: file) == Data((0..<120_000).map { UInt8($0 * 7 % 251) }))
            let records = scene.records
            let firsts = [60_000, 90_000, 105_000, 112_500, 116_250, 118_125, 119_062]
            #expect(records.map(\.range) == [nil] + firsts.map { "bytes=\($0)-" })
            #expect(records.dropFirst().allSatisfy { $0.condition == "\"one\"" })
            #expect(Set(records.map(\.connection)).count == connectionCount)
        }

        @Test(.bothPaths) func anOriginThatAnswersInHTTP2NeedsTheKey() async throws {
            let result = try await scene.curl(scene.url("/echo", route: "one"))
            #expect(result.output.contains("http_protocol_error") && result.output.contains("set http2 on its route"), "\(result)")
        }

        /// An origin that ends the handshake because it has no protocol in common: the response names the key.
        @Test(.bothPaths) func anOriginWithHTTP2OnlyNeedsTheKey() async throws {
            let files = try TemporaryFolder()
            let authority = try await TestAuthority(in: files)
            let port = try ReservedPort()
            let server = try Command(
                "openssl",
                ["s_server", "-accept", "127.0.0.1:\(port.number)", "-cert", authority.identity.certificate, "-key", authority.identity.key,
                 "-alpn", "h2", "-quiet"]
            ).start(in: files)
            let layover = try await RunningLayover.start(
                """
                {"tls": {"caFile": "\(authority.certificate)"}, "policies": {"default": {"retryOn": ["connection_refused"]}},
                 "routes": {"one": {"upstream": "https://localhost:\(port.number)"}}}
                """)
            let result = try await Command("curl", ["--silent", "\(layover.proxyURL)/.layover/route/one/"]).run()
            #expect(result.output.contains("http2"), "\(result)")
            #expect(result.output.contains("tls_alert_received"), "\(result)")
            withExtendedLifetime(server) {}
        }
    }
}
