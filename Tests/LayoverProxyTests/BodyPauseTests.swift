import LayoverTestSupport
import Testing

@testable import LayoverProxy

/// Clients that pause in the middle of a body.
struct BodyPauseTests {
    /// Before, `timeouts.clientIdle` ended it with a 408.
    @Test func bodyMayPauseForLongerThanClientIdle() async throws {
        try await withHalfSent(
            ticks: false, configuration: { ($0.clientIdleTimeout, $0.requestBodyTimeout) = (.seconds(60), .seconds(600)) }
        ) { proxy, client, attempt in
            try await proxy.tick(in: .seconds(300))
            try await client.send("def")
            try await attempt.seen.wait("the whole body") { $0.sendingEnd == .end }
            attempt.respond(200, ["Content-Length: 2"], body: "ok")
            #expect(try await client.answer().body == "ok")
            // Between requests the other limit holds.
            try await proxy.tick(in: .seconds(400))
            #expect(try await client.ending().0 == .closed)
        }
    }

    /// Before, a chunked request was cut while its response was flowing.
    @Test func bodyMayPauseWhileItsResponseFlows() async throws {
        try await withHalfSent(ticks: false, configuration: { $0.requestBodyTimeout = .seconds(600) }) { proxy, client, attempt in
            attempt.sendHead(200, ["Content-Length: 6"])
            for _ in 0..<6 {
                try await proxy.moveTime(by: .seconds(500))
                attempt.sendBody("x")
                try await proxy.settle()
            }
            try await client.send("def")
            try await attempt.seen.wait("the whole body") { $0.sendingEnd == .end }
            attempt.finish()
            #expect(try await client.answer().body == "xxxxxx")
        }
    }

    @Test func bodyThatPausesWithoutAResponseIsA408AndIsNeverFinishedUpstream() async throws {
        try await withHalfSent(ticks: false, configuration: { $0.requestBodyTimeout = .seconds(600) }) { proxy, client, attempt in
            try await proxy.tick(in: .seconds(610))
            let response = try await client.answer().expectStatus(408)
            #expect(response.member("detail")?.contains("timeouts.requestBody") == true)
            #expect(try await client.ending().0 == .closed)
            try await attempt.seen.wait("the end of the attempt") { $0.isOver }
            #expect(attempt.seen.value.sendingEnd != .end)
        }
    }
}
