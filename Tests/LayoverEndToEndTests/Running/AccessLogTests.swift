import Foundation
import LayoverTestSupport
import Testing

extension EndToEnd {
    /// One line for each exchange on standard output, whatever becomes of it.
    @Suite struct AccessLogs {
        private struct Line: Decodable {
            var method: String?
            var url: String?
            var status: Int?
            var received: Int
            var sent: Int
            var attempts: Int
            var waited: Double
            var seconds: Double
            var upstream: Double?
            var upstreamHead: Double?
            var evidence: String?
            var failure: String?
            var source: String?
            var outcome: String
            var entry: String?
            var traceparent: String?
            var userAgent: String?
        }

        private static let configuration =
            #"{"log":{"access":"json"},"policies":{"default":{"delay":{"type":"constant","every":"1h","jitter":"none"}}}}"#

        private func trace(_ number: Int) -> String { "00-4bf92f3577b34da6a3ce929d0e0e473\(number)-00f067aa0ba902b7-01" }

        private func lines(_ scene: Scene) throws -> [Line] {
            let lines = scene.layover.process.output.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
            return try lines.map { try JSONDecoder().decode(Line.self, from: Data($0.utf8)) }
        }

        private func line(_ scene: Scene, _ what: String, _ isWanted: @escaping @Sendable (Line) -> Bool) async throws -> Line {
            try await FolderWatch(scene.layover.folder.url).first("the line of \(what)") { try? lines(scene).first(where: isWanted) }
        }

        @Test func everyExchangeHasALine() async throws {
            let scene = try await Scene(Self.configuration)
            // Parked, and delivered.
            async let parked = scene.send("GET", "/echo?parked&token=hush", ["traceparent: \(trace(1))"], body: "")
            try await scene.layover.waitForPending { $0.data.count == 1 }
            // A client that leaves while it waits.
            var client: RawConnection? = try RawConnection(port: scene.layover.proxyPort)
            try client?.send("GET \(scene.url("/echo?left")) HTTP/1.1\r\nHost: x\r\n\r\n")
            try await scene.layover.waitForPending { $0.data.count == 2 }
            client = nil
            let left = try await line(scene, "the one that left") { $0.url?.hasSuffix("?left") == true }
            #expect(left.outcome == "client_gone" && left.status == nil && left.entry != nil)
            // A ticket.
            let ticket = try await scene.submit("/echo?ticket", "traceparent: \(trace(2))")
            let accepted = try await line(scene, "the ticket") { $0.status == 202 }
            #expect(accepted.source == "layover" && accepted.outcome == "done" && accepted.entry != nil)
            #expect(accepted.received == 1 && accepted.traceparent == trace(2))

            // First: a change of the network ends an attempt that is connecting, which is another failure.
            try await scene.networkAppears()
            let origin = try await scene.startOrigin()
            defer { withExtendedLifetime(origin) {} }
            let echo = try await parked
            #expect(echo.status == 200 && echo.text.contains(trace(1)), "the field passes unchanged, in a replay too: \(echo.text)")
            #expect(try await scene.layover.ticket(ticket, wait: 20).state == "delivered")
            #expect(try await scene.layover.ticketResponse(ticket).text.contains(trace(2)))
            let late = try await line(scene, "the one that waited") { $0.url?.hasSuffix("?parked&token=***") == true }
            #expect(late.status == 200 && late.source == "origin" && late.outcome == "done" && late.attempts >= 2)
            #expect(late.waited > 0 && late.seconds >= late.waited && late.entry != nil && late.traceparent == trace(1))
            #expect(late.evidence == "neverSent" && late.failure == "connection_refused")
            let read = try await line(scene, "the reading of the response") { $0.url?.hasSuffix("/.layover/tickets/***/response") == true }
            #expect(read.status == 200 && read.source == "layover" && read.attempts == 0)

            // At once, and as a tunnel.
            let now = try await scene.send("GET", "/echo?now", ["traceparent: \(trace(3))"], body: "")
            #expect(now.text.contains(trace(3)))
            let quick = try await line(scene, "the quick one") { $0.url?.hasSuffix("?now") == true }
            #expect(quick.attempts == 1 && quick.waited == 0 && quick.entry == nil && quick.evidence == nil && quick.sent > 0)
            #expect((quick.upstreamHead ?? -1) >= 0 && (quick.upstream ?? -1) >= (quick.upstreamHead ?? 0))
            let tunnel = try await scene.layover.exchange(
                "CONNECT 127.0.0.1:\(scene.port.number) HTTP/1.1\r\nHost: x\r\n\r\nGET /echo HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
            )
            #expect(tunnel.status == 200)
            let connect = try await line(scene, "the tunnel") { $0.method == "CONNECT" }
            #expect(connect.url == "127.0.0.1:\(scene.port.number)" && connect.status == 200 && connect.outcome == "done")
            #expect(connect.received > 40 && connect.sent > 60)
            // No request at all.
            #expect(try await scene.layover.exchange("GET /\u{1} HTTP/1.1\r\n\r\n").status == 400)
            let malformed = try await line(scene, "the malformed request") { $0.status == 400 }
            #expect(malformed.source == "layover" && malformed.method == "GET" && malformed.url == "/\u{1}")
            #expect(try await scene.layover.exchange("GET / HTTP/1.1\r\nUser-Agent: old/1\r\n\r\n").status == 400)
            let hostless = try await line(scene, "the request without Host") { $0.userAgent == "old/1" }
            #expect(hostless.status == 400 && hostless.method == "GET" && hostless.url == "/")

            #expect(await scene.layover.stop().status == 0)
            for path in ["?parked", "?left", "?ticket", "?now"] {
                #expect(try lines(scene).count { $0.url?.contains(path) == true } == 1, "\(path)")
            }
            for secret in ["hush", ticket] { #expect(!scene.layover.process.output.contains(secret)) }
        }

        @Test func accessLogIsOffByDefault() async throws {
            let (scene, origin) = try await Scene.withOrigin()
            defer { withExtendedLifetime(origin) {} }
            #expect(try await scene.send("GET", "/echo", [], body: "").status == 200)
            #expect(await scene.layover.stop().status == 0)
            #expect(!scene.layover.process.output.contains("/echo"))
        }
    }
}
