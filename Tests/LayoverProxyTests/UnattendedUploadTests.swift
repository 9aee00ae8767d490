import LayoverCore
import LayoverEngine
import LayoverTestSupport
import Testing

@testable import LayoverProxy

/// Attempts that go on although their clients are gone, and whose origins answer before they have taken the request.
struct UnattendedUploadTests {
    /// An attempt that goes on without its client, and whose origin has taken two of six bytes and answers.
    private func withAbandoned(_ test: (TestProxy, ScriptedAttempt) async throws -> Void) async throws {
        try await withAttempt(of: .post("/", length: 6, body: "abcdef")) { proxy, client, attempt in
            attempt.readBody(atMost: 2)
            try await attempt.seen.wait("a part of the body") { $0.sent.count == 2 }
            try await client.reset()
            try await ConnectionTests.waitForNoConnection(proxy)
            _ = try await proxy.entry(.attempting)
            attempt.sendHead(200, ["Transfer-Encoding: chunked"])
            attempt.sendBody("ok")
            try await proxy.settle()
            #expect(!attempt.seen.value.isCancelled)
            try await test(proxy, attempt)
        }
    }

    /// An early response does not end the sending (decision 68).
    @Test func restOfTheRequestIsSentAfterTheHead() async throws {
        try await withAbandoned { proxy, attempt in
            #expect(try await attempt.wholeBody() == "abcdef")
            attempt.finish()
            let ended = try await proxy.entry(.cancelled)
            #expect(ended.attempts.records.map(\.status) == [200] && !ended.mayHaveBeenApplied)
        }
    }

    /// The response may be endless.
    @Test func responseEndsSoonAfterTheRequestIsSent() async throws {
        try await withAbandoned { proxy, attempt in
            #expect(try await attempt.wholeBody() == "abcdef")
            attempt.sendBody(String(repeating: "x", count: 2 << 20))
            try await attempt.seen.wait("the end of the attempt") { $0.isCancelled }
            #expect(try await proxy.entry(.cancelled).attempts.records.map(\.status) == [200])
        }
    }
}
