import LayoverEngine
import LayoverTestSupport
import Testing

/// How answers are framed for the client, whatever the upstream did.
struct OwnFramingTests {
    @Test func closeDelimitedResponseBecomesChunked() async throws {
        try await withAttempt { proxy, client, attempt in
            attempt.respond(200, [], body: "abc", version: "1.0")
            let response = try await client.answer()
            #expect(response.end == .chunked && response.body == "abc")
            try await client.send(.get("/2"))
            try await proxy.nextAttempt().respond(200, ["Content-Length: 0"])
            #expect(try await client.answer().status == 200)
        }
    }

    @Test(arguments: [(["Transfer-Encoding: chunked"], .close), ([], .close), (["Content-Length: 3"], .length)] as [([String], Answer.End)])
    func responseToAnHTTP10ClientEndsWithTheConnection(fields: [String], end: Answer.End) async throws {
        try await withProxy { proxy in
            let asks = end == .close ? "Connection: keep-alive\r\n" : ""
            let client = try await proxy.client(sending: "GET http://o.test/ HTTP/1.0\r\n\(asks)\r\n")
            try await proxy.nextAttempt().respond(200, fields, body: "abc", trailers: end == .close ? ["X: 1"] : [])
            let response = try await client.answer()
            #expect(response.end == end && response.body == "abc")
            #expect(response["Transfer-Encoding"] == nil)
            if end == .length { #expect(response["Connection"] == "close") }
            #expect(try await client.ending() == (.closed, ""))
        }
    }

    @Test(arguments: [
        ("HEAD", 200, ["Content-Length: 5"], "5", ""), ("HEAD", 200, ["Transfer-Encoding: chunked"], nil, ""), ("HEAD", 404, [], nil, ""),
        ("GET", 304, ["Content-Length: 5", "ETag: x"], "5", ""), ("GET", 204, [], nil, ""),
        ("HEAD", 200, ["Content-Length: 17"], "17", "HTTP/1.1 200 OK\r\n"),
    ] as [(String, Int, [String], String?, String)])
    func responseThatCannotHaveABodyIsSentWithoutOne(
        method: String, status: Int, fields: [String], length: String?, body: String
    ) async throws {
        try await withAttempt(of: "\(method) http://o.test/ HTTP/1.1\r\nHost: o.test\r\n\r\n") { proxy, client, attempt in
            attempt.sendHead(status, fields)
            if !body.isEmpty { attempt.sendBody(body) }
            attempt.finish()
            let response = try await client.answer(toHead: true).expectStatus(status)
            #expect(response["Content-Length"] == length)
            #expect(response["Transfer-Encoding"] == nil)
            try await client.send(.get("/2"))
            try await proxy.nextAttempt().respond(200, ["Content-Length: 2"], body: "ok")
            #expect(try await client.answer().body == "ok", "the connection is still in step")
        }
    }

    @Test func interimResponsesPassOnlyToHTTP11Clients() async throws {
        try await withAttempt { proxy, client, attempt in
            attempt.deliver([attempt.head(103, ["Link: </a.css>"]), attempt.head(102, []), attempt.head(100, [])])
            attempt.respond(200, ["Content-Length: 0"])
            #expect(try await client.answer()["Link"] == "</a.css>")
            #expect(try await client.answer().status == 102)
            #expect(try await client.answer().status == 200, "a 100 that nobody waits for is not passed on")
            let old = try await proxy.client(sending: "GET http://o.test/ HTTP/1.0\r\n\r\n")
            let second = try await proxy.nextAttempt()
            second.deliver([second.head(103, ["Link: </a.css>"])])
            second.respond(200, ["Content-Length: 0"])
            #expect(try await old.answer().status == 200)
        }
    }

    @Test(arguments: [1, 100, 4095, 4096, 4097, 100_000])
    func chunksOfEverySizeArriveComplete(size: Int) async throws {
        try await withAttempt { _, client, attempt async throws in
            attempt.sendHead(200, ["Transfer-Encoding: chunked"])
            let text = String((0..<size).map { Character(Unicode.Scalar(UInt8(97 + $0 % 26))) })
            for _ in 0..<3 { attempt.sendBody(text) }
            attempt.finish()
            #expect(try await client.answer().body == text + text + text)
        }
    }

    // MARK: Broken answers

    /// No last chunk, no other end, and past the head nothing is parked.
    @Test(arguments: [
        (String.get("/"), ["Content-Length: 10"], "\r\n\r\nabc"), (.get("/"), ["Transfer-Encoding: chunked"], "3\r\nabc\r\n"),
        ("GET http://o.test/ HTTP/1.0\r\n\r\n", [], nil),
    ] as [(String, [String], String?)])
    func brokenResponseIsBrokenForItsClient(request: String, fields: [String], end: String?) async throws {
        try await withAttempt(of: request) { proxy, client, attempt in
            attempt.sendHead(200, fields)
            attempt.sendBody("abc")
            attempt.fail(.connectionTerminated, phase: .receiving, evidence: .answered)
            let (ending, rest) = try await client.ending()
            if let end { #expect(rest.hasSuffix(end)) } else { #expect(ending == .reset, "a close would be an end") }
            #expect(await proxy.engine.liveEntries().isEmpty)
        }
    }
}
