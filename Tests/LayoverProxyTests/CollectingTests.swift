import LayoverEngine
import LayoverTestSupport
import Testing

@testable import LayoverProxy

/// Repeatable requests whose attempt breaks while their clients are still sending.
struct CollectingTests {
    private static let put = "PUT http://o.test/ HTTP/1.1\r\nHost: o.test\r\nContent-Length: 6\r\n\r\nabc"

    /// The attempt has sent three bytes of six and breaks.
    private static func broken(_ proxy: TestProxy, _ request: String = Self.put) async throws -> RawClient {
        let client = try await proxy.client(sending: request)
        let attempt = try await proxy.nextAttempt()
        attempt.readBody()
        try await attempt.seen.wait("the first bytes") { $0.sent.count == 3 }
        attempt.fail(.connectionTerminated, phase: .sending, evidence: .maybeApplied)
        try await attempt.seen.wait("the end of the attempt") { $0.isOver }
        try await proxy.settle()
        return client
    }

    /// Before, its client got a 502 at once.
    @Test func requestIsRepeatedOnceAllOfItHasCome() async throws {
        try await withProxy { proxy in
            let client = try await Self.broken(proxy)
            #expect(client.received.value.totalCount == 0)
            try await client.send("def")
            let entry = try await proxy.entry()
            #expect(entry.isBodyReplayable)
            _ = await proxy.engine.command(.retry, entry.id)
            let second = try await proxy.nextAttempt()
            #expect(try await second.wholeBody() == "abcdef")
            second.respond(201, ["Content-Length: 0"])
            #expect(try await client.answer().status == 201)
        }
    }

    @Test func unrepeatableRequestFailsAtOnce() async throws {
        try await withProxy { proxy in
            let client = try await Self.broken(proxy, .post("/", length: 6, body: "abc"))
            let response = try await client.answer()
            #expect(response.status == 502 && response.member("evidence") == "maybeApplied")
        }
    }

    @Test func requestThatIsNeverCompleteIsNotRepeated() async throws {
        try await withProxy { proxy in
            let client = try await Self.broken(proxy)
            client.close()
            try await ConnectionTests.waitForNoConnection(proxy)
            #expect(proxy.upstream.startedCount == 1)
            #expect(await proxy.engine.liveEntries().isEmpty)
        }
    }

    @Test func requestOverTheLimitFailsAndNamesTheLimit() async throws {
        try await withProxy(configuration: {
            $0.body.byteCountMax = 1000
            $0.body.inMemoryMax = 500
        }) { proxy in
            let request = "PUT http://o.test/ HTTP/1.1\r\nHost: o.test\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n"
            let client = try await Self.broken(proxy, request)
            try await client.send("7d0\r\n" + String(repeating: "d", count: 2000) + "\r\n")
            let response = try await client.answer()
            #expect(response.status == 502)
            #expect(response.member("detail")?.hasSuffix("because its body exceeds limits.bodyMax (1000 bytes).") == true)
            #expect(response.member("evidence") == "maybeApplied")
        }
    }
}
