import LayoverTestSupport
import Testing

@testable import LayoverProxy

/// Clients that pause in the middle of a body.
struct BodyPauseTests {
    /// Before, `timeouts.clientIdle` ended it with a 408.
    @Test func bodyMayPauseForLongerThanClientIdle() async throws {
        try await withProxy(
            ticks: false,
            configuration: {
                $0.clientIdleTimeout = .seconds(60)
                $0.requestBodyTimeout = .seconds(600)
            }
        ) { proxy in
            let client = try await proxy.client(sending: .post("/", length: 6, body: "abc"))
            let attempt = try await proxy.nextAttempt()
            attempt.readBody()
            try await attempt.seen.wait("the first bytes") { $0.sent.count == 3 }
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
        try await withProxy(ticks: false, configuration: { $0.requestBodyTimeout = .seconds(600) }) { proxy in
            let client = try await proxy.client(sending: .post("/", length: 6, body: "abc"))
            let attempt = try await proxy.nextAttempt()
            attempt.readBody()
            try await attempt.seen.wait("the first bytes") { $0.sent.count == 3 }
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

    @Test func bodyThatPausesWithoutAResponseIsA408() async throws {
        try await withProxy(ticks: false, configuration: { $0.requestBodyTimeout = .seconds(600) }) { proxy in
            let client = try await proxy.client(sending: .post("/", length: 6, body: "abc"))
            let attempt = try await proxy.nextAttempt()
            attempt.readBody()
            try await attempt.seen.wait("the first bytes") { $0.sent.count == 3 }
            try await proxy.tick(in: .seconds(610))
            let response = try await client.answer()
            #expect(response.status == 408)
            #expect(response.member("detail")?.contains("timeouts.requestBody") == true)
        }
    }
}
