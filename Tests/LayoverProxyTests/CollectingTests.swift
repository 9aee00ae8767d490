import LayoverEngine
import LayoverTestSupport
import Testing

@testable import LayoverProxy

/// Repeatable requests whose attempt breaks while their clients are still sending.
struct CollectingTests {
    private static let put = "PUT http://o.test/ HTTP/1.1\r\nHost: o.test\r\nContent-Length: 6\r\n\r\nabc"

    /// The attempt has sent three bytes of six and breaks.
    private static func withBroken(
        _ request: String = put, configuration: (inout ProxyConfiguration) -> Void = { _ in },
        _ test: (TestProxy, RawClient) async throws -> Void
    ) async throws {
        try await withHalfSent(request, configuration: configuration) { proxy, client, attempt in
            attempt.fail(.connectionTerminated, phase: .sending, evidence: .maybeApplied)
            try await attempt.seen.wait("the end of the attempt") { $0.isOver }
            try await proxy.settle()
            try await test(proxy, client)
        }
    }

    /// Before, its client got a 502 at once.
    @Test func requestIsRepeatedOnceAllOfItHasCome() async throws {
        try await Self.withBroken { proxy, client in
            #expect(client.received.value.totalCount == 0)
            try await client.send("def")
            let entry = try await proxy.entry()
            #expect(entry.isBodyReplayable)
            let second = try await proxy.retry(entry.id)
            #expect(try await second.wholeBody() == "abcdef")
            second.respond(201, ["Content-Length: 0"])
            #expect(try await client.answer().status == 201)
        }
    }

    @Test func requestThatIsNeverCompleteIsNotRepeated() async throws {
        try await Self.withBroken { proxy, client in
            client.close()
            try await ConnectionTests.waitForNoConnection(proxy)
            #expect(proxy.upstream.startedCount == 1)
            #expect(await proxy.engine.liveEntries().isEmpty)
        }
    }

    @Test func requestOverTheLimitFailsAndNamesTheLimit() async throws {
        let request = "PUT http://o.test/ HTTP/1.1\r\nHost: o.test\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n"
        try await Self.withBroken(request, configuration: { ($0.body.byteCountMax, $0.body.inMemoryMax) = (1000, 500) }) { _, client in
            try await client.send("7d0\r\n" + String(repeating: "d", count: 2000) + "\r\n")
            let response = try await client.answer().expectProblem(502, evidence: .maybeApplied)
            #expect(response.member("detail")?.hasSuffix("because its body exceeds limits.bodyMax (1000 bytes).") == true)
        }
    }
}
