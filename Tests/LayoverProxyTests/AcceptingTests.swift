import LayoverCore
import LayoverEngine
import LayoverTestSupport
import Testing

@testable import LayoverProxy

/// The port is ours before anything is ready; the first request is taken when all of it is.
struct AcceptingTests {
    @Test func aConnectionWaitsUntilTheProxyIsReady() async throws {
        try await withProxy(accepts: false) { proxy in
            let client = try await proxy.client(sending: .submission("/"))
            // The loop sees new connections of the kernel in its next round at the latest.
            for _ in 0..<20 { try await proxy.settle() }
            #expect(proxy.loop.metrics.connectionCount.current == 0)
            try await proxy.server.accept()
            try await proxy.nextAttempt().answerWell(201)
            #expect(try await client.answer().status == 201)
        }
    }
}
