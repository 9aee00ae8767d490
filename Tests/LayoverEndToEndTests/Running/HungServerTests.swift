import Foundation
import LayoverTestSupport
import Testing

extension EndToEnd {
    /// A server that hangs stops a lane: a person ends the attempt, knows that the server has the order, and the lane goes on.
    @Suite(.bothPaths) struct HungServer {
        private struct Shown: Decodable {
            struct Attempt: Decodable {
                var phase: String
            }

            struct LastCommand: Decodable {
                var who: String
                var reason: String?
            }

            var state: String
            var why: String?
            var attempt: Attempt?
            var lastCommand: LastCommand?
        }

        private static func order(_ path: String, _ port: Int, _ layover: RunningLayover) async throws -> String {
            let lines = [
                "POST http://127.0.0.1:\(port)\(path) HTTP/1.1", "Host: x", "Connection: close", "Content-Length: 1",
                "Prefer: respond-async, wait=0", "Layover-Lane: till",
            ]
            return try #require(try await layover.exchange(lines.joined(separator: "\r\n") + "\r\n\r\nx").ticket)
        }

        private static func show(_ id: String, _ layover: RunningLayover) async throws -> Shown {
            let output = try await layover.command("show", id, "--json").succeed().output
            return try JSONDecoder().decode(Shown.self, from: Data(output.utf8))
        }

        @Test func hungOrderIsAbortedAndSettledAndItsLaneGoesOn() async throws {
            let origin = try MisbehavingOrigin { connection in
                guard let (head, _) = connection.readRequest() else { return }
                if head.contains("/hangs") { _ = connection.readToEnd() } else { connection.answer() }
            }
            defer { origin.stop() }
            let scene = try await Scene()
            let layover = scene.layover
            let tickets = [
                try await Self.order("/hangs", origin.port, layover), try await Self.order("/next", origin.port, layover),
            ]
            let listing = try await layover.waitForPending("one hangs") { $0.data.contains { $0.state == "attempting" } }
            let id = try #require(listing.data.first { $0.state == "attempting" }?.id)
            try await eventually("it awaits its response") { try await Self.show(id, layover).attempt?.phase == "awaitingResponse" }

            let aborted = try await layover.command("abort", id, "--reason", "hangs").succeed()
            #expect(aborted.output.contains("undecided: maybeApplied"))
            let shown = try await Self.show(id, layover)
            #expect(shown.attempt == nil && shown.lastCommand?.reason == "hangs" && shown.lastCommand?.who == "loopback")
            let settled = try await layover.command("settle", id, "--status", "201", "--note", "in the books").succeed()
            #expect(settled.output.contains("delivered"))
            _ = try await layover.waitForPending("all is done") { $0.data.isEmpty }
            #expect(origin.count(of: "/hangs") == 1 && origin.count(of: "/next") == 1)

            await layover.kill()
            let again = try await scene.restarted()
            let ticket = try await again.layover.exchange(
                "GET /.layover/tickets/\(tickets[0]) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            #expect(ticket.text.contains("\"state\":\"delivered\"") && ticket.text.contains("\"note\":\"in the books\""))
            let explained = try await again.layover.command("explain", id).succeed()
            #expect(explained.output.contains("Settled at") && explained.output.contains("A person aborted the attempt."))
        }
    }
}
