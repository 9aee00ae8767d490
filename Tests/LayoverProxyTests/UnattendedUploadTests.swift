import LayoverCore
import LayoverEngine
import LayoverTestSupport
import Testing

@testable import LayoverProxy

/// Attempts that go on although their clients are gone, and whose origins answer before they have taken the request.
struct UnattendedUploadTests {
    /// An attempt that goes on without its client, and whose origin has taken two of six bytes and answers.
    private func abandonedInTheMiddle(_ proxy: TestProxy) async throws -> ScriptedAttempt {
        let client = try await proxy.client(sending: .post("/", length: 6, body: "abcdef"))
        let attempt = try await proxy.nextAttempt()
        attempt.readBody(atMost: 2)
        try await attempt.seen.wait("a part of the body") { $0.sent.count == 2 }
        try await client.reset()
        try await ConnectionTests.waitForNoConnection(proxy)
        _ = try await proxy.entry(.attempting)
        attempt.sendHead(200, ["Transfer-Encoding: chunked"])
        attempt.sendBody("ok")
        try await proxy.settle()
        #expect(!attempt.seen.value.isCancelled)
        return attempt
    }

    /// An early response does not end the sending (decision 68).
    @Test func restOfTheRequestIsSentAfterTheHead() async throws {
        try await withProxy { proxy in
            let attempt = try await abandonedInTheMiddle(proxy)
            #expect(try await attempt.wholeBody() == "abcdef")
            attempt.finish()
            let ended = try await proxy.entry(.cancelled)
            #expect(ended.attempts.records.map(\.status) == [200] && !ended.mayHaveBeenApplied)
        }
    }

    /// The response may be endless.
    @Test func responseEndsSoonAfterTheRequestIsSent() async throws {
        try await withProxy { proxy in
            let attempt = try await abandonedInTheMiddle(proxy)
            #expect(try await attempt.wholeBody() == "abcdef")
            attempt.sendBody(String(repeating: "x", count: 2 << 20))
            try await attempt.seen.wait("the end of the attempt") { $0.isCancelled }
            #expect(try await proxy.entry(.cancelled).attempts.records.map(\.status) == [200])
        }
    }

    /// A person or its time can end it before.
    @Test func restOfTheRequestEndsInItsTime() async throws {
        try await withProxy { proxy in
            let attempt = try await abandonedInTheMiddle(proxy)
            try await proxy.advance(by: .seconds(301))
            try await attempt.seen.wait("the end of the attempt") { $0.isCancelled }
            _ = try await proxy.entry(.cancelled)
        }
    }
}
