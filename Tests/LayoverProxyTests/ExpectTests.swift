import LayoverEngine
import LayoverTestSupport
import Testing

/// `Expect: 100-continue` (RFC 9110 section 10.1.1).
struct ExpectTests {
    private static let request = String.post("/", length: 3, "Expect: 100-continue")

    @Test func theUpstreams100IsPassedOn() async throws {
        try await withAttempt(of: Self.request) { proxy, client, attempt in
            #expect(attempt.request.expectsContinue)
            try await proxy.settle()
            #expect(client.received.value.totalCount == 0, "the upstream decides")
            attempt.deliver([attempt.head(100, [])])
            #expect(try await client.answer().status == 100)
            try await client.send("abc")
            #expect(try await attempt.wholeBody() == "abc")
            attempt.respond(200, ["Content-Length: 2"], body: "ok")
            #expect(try await client.answer().body == "ok")
        }
    }

    @Test func expectWithoutABodyAndIts100ArePassedOn() async throws {
        try await withAttempt(of: .get("/", "X: 1", "Expect: 100-continue")) { _, client, attempt async throws in
            #expect(!attempt.request.expectsContinue, "there is no body that could wait")
            #expect(attempt.fields == ["X: 1", "Expect: 100-continue", "Via: 1.1 layover-0a1b2c3d"])
            attempt.deliver([attempt.head(100, [])])
            #expect(try await client.answer().status == 100)
            attempt.respond(200, ["Content-Length: 2"], body: "ok")
            #expect(try await client.answer().body == "ok")
        }
    }

    @Test func proxySendsOne100WhenTheUpstreamReadsTheBody() async throws {
        try await withAttempt(of: Self.request) { _, client, attempt in
            attempt.deliver([.bodyWanted, .bodyWanted, attempt.head(100, [])])
            #expect(try await client.answer().status == 100)
            try await client.send("abc")
            #expect(try await attempt.wholeBody() == "abc")
            attempt.respond(200, ["Content-Length: 2"], body: "ok")
            #expect(try await client.answer().status == 200)
        }
    }

    @Test func finalResponseReplacesThe100() async throws {
        try await withAttempt(of: Self.request) { _, client, attempt in
            attempt.deliver([.bodyUnwanted])
            attempt.respond(417, ["Content-Length: 2"], body: "no")
            let response = try await client.answer().expectStatus(417)
            #expect(response["Connection"] == "close", "nobody knows whether the body will come")
            #expect(try await client.ending().0 == .closed)
        }
    }

    @Test func parkingSends100SoThatTheBodyIsCaptured() async throws {
        try await withProxy { proxy in
            let client = try await proxy.client(sending: Self.request)
            try await proxy.nextAttempt().fail()
            #expect(try await client.answer().status == 100)
            let entry = try await proxy.entry()
            try await client.send("abc")
            try await proxy.settle()
            let attempt = try await proxy.retry(entry.id)
            attempt.deliver([.bodyWanted])
            #expect(try await attempt.wholeBody() == "abc")
            attempt.respond(201, ["Content-Length: 0"])
            #expect(try await client.answer().status == 201, "and there is no second 100")
        }
    }

    @Test func clientThatDoesNotExpectItGetsNo100() async throws {
        try await withAttempt(of: Self.request + "abc") { proxy, client, attempt in
            try await proxy.settle()
            attempt.deliver([.bodyWanted, attempt.head(100, [])])
            attempt.respond(200, ["Content-Length: 0"])
            #expect(try await client.answer().status == 200)
        }
    }

    @Test(arguments: ["200-ok", "100-continue, other", "100-continue;q=1"])
    func otherExpectationsAreA417(value: String) async throws {
        try await withProxy { proxy async throws in
            #expect(try await proxy.answer(to: .post("/", length: 3, "Expect: \(value)")).status == 417)
            #expect(proxy.upstream.startedCount == 0)
        }
    }
}
