import LayoverTestSupport
import NIOCore
import Testing

@testable import LayoverProxy

/// Connections whose last response is written while their clients are still sending.
struct LingeringTests {
    /// When the client is to have done something.
    private static func deadline(_ proxy: TestProxy) async throws -> NIODeadline? {
        try await proxy.loop.eventLoop.submit { proxy.loop.connections.inOrder.first?.deadline }.get()
    }

    /// Before, the connection was closed after 5 s in all, and the reset destroyed the response.
    @Test func connectionLingersWhileTheClientSends() async throws {
        try await withAttempt(of: .post("/", length: 50_000_000), ticks: false) { proxy, client, attempt in
            attempt.respond(413, ["Content-Length: 3"], body: "big")
            #expect(try await client.answer().status == 413)
            for second in stride(from: Int64(2), through: 26, by: 2) {
                try await proxy.moveTime(by: .seconds(2))
                let before = try await Self.deadline(proxy)
                try await client.send("more")
                try await eventually("the bytes to be read") { try await Self.deadline(proxy) != before }
                #expect(proxy.openConnectionCount() == 1, "after \(second) s")
            }
            // However much it sends, it is over then: 5 s after the last bytes would be later.
            try await proxy.moveTime(by: .milliseconds(4500))
            try await ConnectionTests.waitForNoConnection(proxy)
        }
    }

    @Test func connectionOfASilentClientLingersForFiveSeconds() async throws {
        try await withAttempt(of: .post("/", length: 50_000_000), ticks: false) { proxy, client, attempt in
            attempt.respond(413, ["Content-Length: 3"], body: "big")
            #expect(try await client.answer().status == 413)
            try await proxy.tick(in: .seconds(6))
            try await ConnectionTests.waitForNoConnection(proxy)
        }
    }
}
