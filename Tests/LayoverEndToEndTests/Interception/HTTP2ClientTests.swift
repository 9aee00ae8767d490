import Foundation
import LayoverTestSupport
import Testing

extension EndToEnd {
    /// Clients that speak HTTP/2 to an intercepted host. The client is Node's.
    @Suite struct HTTP2ClientTests {
        private struct HTTP2Scene {
            let scene: Scene
            let authority: TestAuthority

            init(_ more: String = "") async throws {
                let root = try TemporaryFolder()
                authority = try await TestAuthority(in: root)
                let layover = try await RunningLayover.start(
                    """
                    {"tls": {"caFile": "\(authority.certificate)", "folder": "authority"}, "log": {"access": "combined"},
                     "policies": {"default": {"delay": {"type": "constant", "every": "100ms", "jitter": "none"}}},
                     "routes": {"seen": {"host": "localhost", "intercept": true}}\(more)}
                    """)
                scene = Scene(layover: layover, root: root, port: try ReservedPort())
            }

            /// The same, and an origin that is there from the start.
            static func withOrigin(_ more: String = "") async throws -> (HTTP2Scene, RunningOrigin) {
                let test = try await HTTP2Scene(more)
                return (test, try await test.scene.startOrigin(test.authority.identity))
            }

            var ownAuthority: String { scene.layover.folder.file("authority/ca.pem").path }

            func client(_ name: String) -> Command {
                Command(
                    "node",
                    [Fixtures.path("http2_client.mjs"), "\(scene.layover.proxyPort)", "\(scene.port.number)", ownAuthority, name])
            }

            /// The object that the client prints in the end.
            func result<Value: Decodable>(_ type: Value.Type, of output: String) throws -> Value {
                let line = output.split(separator: "\n").last.map(String.init) ?? ""
                return try JSONDecoder().decode(type, from: Data(line.utf8))
            }

            /// Until so many requests wait.
            func waitForWaiting(_ isEnough: (Int) -> Bool) async throws {
                struct Counts: Decodable {
                    var counts: [String: Int]
                }

                let deadline = ContinuousClock.now + .seconds(60)
                while true {
                    let response = try await scene.layover.call("GET", "/v1/pending?limit=1")
                    let count = try JSONDecoder().decode(Counts.self, from: response.body).counts["waiting"] ?? 0
                    if isEnough(count) { return }
                    guard ContinuousClock.now < deadline else { throw ProcessError("\(count) wait") }
                }
            }
        }

        @Test func curlSpeaksHTTP2WhereItsRequestWaits() async throws {
            let test = try await HTTP2Scene()
            let (result, records) = try await test.scene.run(
                test.scene.layover.curl(
                    "--fail", "--http2", "--cacert", test.ownAuthority, "--data", "one order", "--output", "/dev/null", "--write-out",
                    "%{http_version}",
                    test.scene.secureURL("/echo")),
                origin: .later, identity: test.authority.identity)
            #expect(result.status == 0 && result.output == "2", "\(result)")
            #expect(records.map(\.target) == ["/echo"], "it arrived once")
            // The log lines are written at the stop at the latest.
            await test.scene.layover.stop()
            #expect(test.scene.layover.process.output.contains("/echo HTTP/2\" 200"))
        }

        @Test func bodiesPassUnchangedWhileOthersAreCancelled() async throws {
            struct Result: Decodable {
                var good: Int
                var all: Int
            }

            let (test, origin) = try await HTTP2Scene.withOrigin()
            let result = try test.result(Result.self, of: try await test.client("bodies").succeed().output)
            #expect(result.good == result.all && result.all == 60, "\(result)")
            withExtendedLifetime(origin) {}
        }

        @Test func fieldsMeanTheSameInBothVersions() async throws {
            struct Echo: Decodable {
                var fields: [[String]]
            }
            struct Result: Decodable {
                var echo: Echo
                var post: Echo
                var foreign: Int
                var hasConnectionFields: Bool
                var offersExtendedConnect: Bool
            }

            let (test, origin) = try await HTTP2Scene.withOrigin()
            let output = try await test.client("fields").succeed().output
            let result = try test.result(Result.self, of: output)
            #expect(result.echo.fields.contains(["cookie", "a=1; b=2"]))
            #expect(result.echo.fields.contains { $0[0].lowercased() == "te" && $0[1] == "trailers" })
            #expect(result.echo.fields.contains { $0[0].lowercased() == "via" && $0[1].hasPrefix("2 layover-") })
            #expect(result.post.fields.contains { $0[0].lowercased() == "content-length" && $0[1] == "0" })
            #expect(output.contains(#""head":[200,0,"1000"]"#), "\(output)")
            #expect(result.foreign == 421)
            #expect(!result.hasConnectionFields)
            #expect(!result.offersExtendedConnect, "browsers would open WebSockets on it")
            withExtendedLifetime(origin) {}
        }

        @Test func aThousandHeldStreamsBlockNoOther() async throws {
            struct Result: Decodable {
                var fresh: Int
                var delivered: Int
            }

            let test = try await HTTP2Scene()
            let client = try test.client("held").start()
            try await client.prints("waiting")
            try await test.waitForWaiting { $0 == 1000 }
            let origin = try await test.scene.startOrigin(test.authority.identity)
            let result = try test.result(Result.self, of: await client.result().output)
            #expect(result.fresh == 421, "it was answered while the others waited")
            #expect(result.delivered == 1000)
            #expect(Set(origin.records.map(\.target)).count == 1000 && origin.records.count == 1000, "each once")
        }

        @Test func threeHundredResetsAtOnceKeepTheConnection() async throws {
            struct Result: Decodable {
                var after: Int
            }

            let test = try await HTTP2Scene()
            let fifo = test.scene.root.file("go").path
            try await Command("mkfifo", [fifo]).succeed()
            var command = test.client("resets")
            command.arguments = ["-c", "exec node \"$@\" < \(fifo)", "sh"] + command.arguments
            command.executable = "sh"
            let client = try command.start()
            // Opening it waits for the reader.
            let go = try await Task.detached { try FileHandle(forWritingTo: URL(fileURLWithPath: fifo)) }.value
            try await client.prints("waiting")
            try await test.waitForWaiting { $0 == 300 }
            try go.write(contentsOf: Data("go\n".utf8))
            try await client.prints("reset")
            // An attempt of a request that was reset may be under way: it counts too.
            let last = test.scene.secureURL("/echo")
            try await test.scene.layover.waitForPending("only the last request waits") { $0.data.map(\.url) == [last] }
            let origin = try await test.scene.startOrigin(test.authority.identity)
            let result = try test.result(Result.self, of: await client.result().output)
            #expect(result.after == 200)
            #expect(origin.records.map(\.target) == ["/echo"], "the reset requests are not sent")
        }

        @Test func slowReaderGetsEveryByteAndMemoryStaysBounded() async throws {
            struct Result: Decodable {
                var length: Int
                var isRight: Bool
            }

            let (test, origin) = try await HTTP2Scene.withOrigin()
            try await test.client("fields").succeed()
            let idle = test.scene.layover.residentByteCount
            try test.scene.layover.resetPeak()
            let result = try test.result(Result.self, of: try await test.client("slow").succeed().output)
            #expect(result.length == 200 << 20 && result.isRight)
            let growth = test.scene.layover.peakByteCount - idle
            print("the proxy grew by \(growth / 1024) KiB above its \(idle / 1024) KiB at rest")
            #expect(growth < 24 << 20)
            withExtendedLifetime(origin) {}
        }

        private static let hasGo = FileManager.default.isExecutableFile(atPath: "/usr/bin/go")

        /// The byte test of the same is `HTTP2SessionTests`.
        @Test(.enabled(if: hasGo, "Go is not installed")) func clientOfGoSendsAProcessedPOSTOnceWhenItsConnectionIsEnded() async throws {
            struct Result: Decodable {
                var orders: Int
                var told: String
            }

            let test = try await HTTP2Scene()
            let client = Command(
                "go",
                [
                    "run", Fixtures.path("goaway.go"), "\(test.scene.layover.proxyPort)", test.ownAuthority,
                    test.authority.identity.certificate,
                    test.authority.identity.key,
                ])
            let result = try test.result(Result.self, of: try await client.succeed(within: .seconds(240)).output)
            #expect(result.orders == 1 && result.told.contains("GOAWAY"), "\(result)")
        }

        /// 1.3 to 1.5 MiB a stream before there was `limits.unsentTotal`: 2.96 GiB with 2 000. So many connections at once with TLS keep this
        /// origin busy for longer than `timeouts.connect`, so there are fewer here.
        @Test func manyStreamsWithoutAWindowKeepMemoryBounded() async throws {
            struct Result: Decodable {
                var heads: Int
                var fresh: Bool
                var whole: Int
            }

            let (test, origin) = try await HTTP2Scene.withOrigin(#", "limits": {"unsentTotal": "16MiB"}"#)
            try await test.client("fields").succeed()
            let idle = test.scene.layover.residentByteCount
            try test.scene.layover.resetPeak()
            let run = try await test.client("windowless").succeed(within: .seconds(90))
            let growth = test.scene.layover.peakByteCount - idle
            print("400 streams with window 0: the proxy grew by \(growth >> 20) MiB above its \(idle >> 20) MiB at rest\n\(run.errors)")
            let result = try test.result(Result.self, of: run.output)
            #expect(result.heads == 400, "each has its head: \(result)")
            #expect(result.fresh, "another client gets all of its download meanwhile")
            #expect(result.whole == 20, "what waited is complete in the end")
            // 16 MiB of bodies, and what 400 requests and connections to the origin take.
            #expect(growth < 160 << 20)
            withExtendedLifetime(origin) {}
        }

        @Test func stoppingSaysGoawayAndGivesHeldStreamsTheirResponse() async throws {
            struct Result: Decodable {
                var status: Int
                var kind: String
                var goaway: Bool
            }

            let test = try await HTTP2Scene(#", "timeouts": {"drain": "20s"}"#)
            let client = try test.client("stopped").start()
            try await client.prints("waiting")
            try await test.waitForWaiting { $0 == 1 }
            #expect(await test.scene.layover.stop().status == 0)
            let result = try test.result(Result.self, of: await client.result().output)
            #expect(result.status == 503 && result.kind == "draining" && result.goaway, "\(result)")
        }

        @Test func trailersInterimResponsesLongFieldsAndManyRefusedStreams() async throws {
            struct Result: Decodable {
                var status: Int
                var text: String
                var informational: [Int]
                var trailer: String?
                var tooLong: Int
                var codes: [Int]
                var after: Int
            }

            let (test, origin) = try await HTTP2Scene.withOrigin()
            let result = try test.result(Result.self, of: try await test.client("semantics").succeed().output)
            #expect(result.status == 200 && result.text == "hello" && result.informational == [103], "\(result)")
            #expect(result.trailer == "6 40000 x-sum: 7", "\(result)")
            #expect(result.tooLong == 431 && result.codes == [1] && result.after == 200, "\(result)")
            #expect(origin.records.filter { $0.event == "request" }.map(\.target) == ["/trailers", "/echo"])
        }

        /// Three times what NIO's own settings bear of each, and more than the 32 reset streams that it remembers.
        @Test func manyStreamErrorsAndLateFramesKeepTheConnection() async throws {
            struct Result: Decodable {
                var resets: Int
                var status: Int
                var wasOpen: Bool
                var goaway: Int?
            }

            let tools = try await Command(Fixtures.script("python-tools.sh"), ["http2"]).run(within: .seconds(120))
            try #require(tools.status == 0, "h2 is not installed: \(tools.errors)")
            let (test, origin) = try await HTTP2Scene.withOrigin()
            let client = Command(
                tools.output.trimmingCharacters(in: .whitespacesAndNewlines) + "/bin/python",
                [
                    "-B", Fixtures.path("http2_frames.py"), "\(test.scene.layover.proxyPort)", "\(test.scene.port.number)",
                    test.ownAuthority, "600",
                ])
            let result = try test.result(Result.self, of: try await client.succeed().output)
            #expect(result.resets == 1200 && result.status == 200 && result.wasOpen, "\(result)")
            #expect(result.goaway == 6, "FRAME_SIZE_ERROR, and then the connection ends")
            withExtendedLifetime(origin) {}
        }

        @Test func malformedRequestsResetTheirStreamsOnly() async throws {
            struct Result: Decodable {
                var codes: [Int]
                var after: Int
            }

            let (test, origin) = try await HTTP2Scene.withOrigin()
            let result = try test.result(Result.self, of: try await test.client("malformed").succeed().output)
            #expect(result.codes == [1, 1, 1, 1, 1], "PROTOCOL_ERROR")
            // The log is written by a thread of its own.
            let layover = test.scene.layover
            _ = try await FolderWatch(layover.folder.url).first("the lines of the log, of the WebSocket too") {
                let log = layover.process.errors
                return log.contains("a malformed request by HTTP/2 was refused") && log.contains(":protocol") ? true : nil
            }
            #expect(result.after == 200)
            #expect(origin.records.filter { $0.event == "request" }.map(\.target) == ["/echo"])
        }
    }
}
