import Foundation
import LayoverTestSupport
import Testing

extension EndToEnd {
    /// An app with a kept-alive https connection in a tunnel, while a person runs `layover offline`.
    @Suite struct OfflineTunnels {
        private struct Status: Decodable {
            struct Tunnels: Decodable, Equatable {
                var open: Int
                var frozen: Int
            }
            struct Limit: Decodable {
                var used: Int?
            }
            var tunnels: Tunnels
            var limits: [String: Limit]
        }

        /// Asks once, and on the same connection again when a byte comes through the named pipe `ask`. A line for each answer, and one for
        /// half a second of silence before it.
        private static let app = #"""
            import http.client, os, ssl, sys
            proxy, port, authority = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
            app = http.client.HTTPSConnection("127.0.0.1", proxy, context=ssl.create_default_context(cafile=authority), timeout=90)
            app.set_tunnel("localhost", port)
            app.request("GET", "/large/1000")
            answer = app.getresponse()
            os.mkfifo("ask")
            ask = os.open("ask", os.O_RDWR)
            print(answer.status, len(answer.read()), flush=True)
            os.read(ask, 1)
            try:
                app.sock.sendall(b"GET /large/1000 HTTP/1.1\r\nHost: localhost\r\n\r\n")
                app.sock.settimeout(0.5)
                first = b""
                try:
                    first = app.sock.recv(1)
                except TimeoutError:
                    print("silence", flush=True)
                    app.sock.settimeout(90)
                    first = app.sock.recv(1)
                print("the second answer" if first == b"H" else "broken", flush=True)
            except (ConnectionError, ssl.SSLError):
                print("broken", flush=True)
            """#

        private struct Stage {
            var layover: RunningLayover
            var origin: RunningOrigin
            var app: RunningProcess
            var root: TemporaryFolder

            func ask() throws {
                // For reading too: opening a pipe only for writing waits for its reader, for ever if the app has ended.
                let pipe = try FileHandle(forUpdating: app.folder.file("ask"))
                try pipe.write(contentsOf: Data("\n".utf8))
                try pipe.close()
            }

            func waitForOutput(_ what: String, _ text: String) async throws {
                _ = try await FolderWatch(app.folder.url).first(what) { app.output.contains(text) ? true : nil }
            }

            func status() async throws -> Status {
                let text = try await layover.command("status", "--json").succeed().output
                return try JSONDecoder().decode(Status.self, from: Data(text.utf8))
            }

            func tunnels() async throws -> Status.Tunnels { try await status().tunnels }
        }

        private static func stage() async throws -> Stage {
            let root = try TemporaryFolder()
            let authority = try await TestAuthority(in: root)
            let origin = try await RunningOrigin.start(in: root, identity: authority.identity)
            let layover = try await RunningLayover.start("{}")
            let app = try Command(
                "/usr/bin/python3", ["-c", Self.app, "\(layover.proxyPort)", "\(origin.port)", authority.certificate]
            ).start()
            let stage = Stage(layover: layover, origin: origin, app: app, root: root)
            try await stage.waitForOutput("the first answer", "200 1000\n")
            return stage
        }

        /// An app on an open tunnel stayed online.
        @Test func frozenTunnelGoesOnWhenTheModeEnds() async throws {
            let stage = try await Self.stage()
            #expect(try await stage.tunnels() == .init(open: 1, frozen: 0))
            try await stage.layover.command("offline").succeed()
            #expect(try await stage.tunnels() == .init(open: 1, frozen: 1))
            let limits = try await stage.status().limits
            #expect(limits["connections"]?.used == 1 && limits["unsentTotal"]?.used == 0, "a tunnel counts as a connection")
            try stage.ask()
            try await stage.waitForOutput("nothing comes", "silence")
            #expect(stage.origin.records.count == 1, "nothing reached the origin")
            try await stage.layover.command("auto").succeed()
            try await stage.waitForOutput("the answer comes on the same connection", "the second answer")
            #expect(stage.origin.records.count == 2)
        }

        @Test func cutTunnelBreaks() async throws {
            let stage = try await Self.stage()
            try await stage.layover.command("offline", "--tunnels", "cut").succeed()
            try await eventually("it is closed") { try await stage.tunnels() == .init(open: 0, frozen: 0) }
            try stage.ask()
            try await stage.waitForOutput("the connection is reset", "broken")
            #expect(stage.origin.records.count == 1)
        }

        @Test func hangFreezesTheTunnelUntilTheRehearsalStops() async throws {
            let stage = try await Self.stage()
            try await stage.layover.command("rehearse", "localhost", "hang").succeed()
            try stage.ask()
            try await stage.waitForOutput("nothing comes", "silence")
            #expect(stage.origin.records.count == 1)
            try await stage.layover.command("rehearse", "--stop", "--all").succeed()
            try await stage.waitForOutput("the answer comes on the same connection", "the second answer")
        }
    }
}
