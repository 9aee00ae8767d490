import LayoverEngine
import LayoverTestSupport
import Testing

/// How answers are framed for the client, whatever the upstream did.
struct OwnFramingTests {
    @Test func responseWithALengthKeepsIt() async throws {
        try await withProxy { proxy in
            let client = try await proxy.client(sending: .get("/"))
            try await proxy.nextAttempt().respond(200, ["Content-Length: 3"], body: "abc")
            let response = try await client.answer()
            #expect(response.end == .length && response.body == "abc")
            #expect(response["Connection"] == nil)
        }
    }

    @Test func closeDelimitedResponseBecomesChunked() async throws {
        try await withProxy { proxy in
            let client = try await proxy.client(sending: .get("/"))
            try await proxy.nextAttempt().respond(200, [], body: "abc", version: "1.0")
            let response = try await client.answer()
            #expect(response.end == .chunked && response.body == "abc")
            try await client.send(.get("/2"))
            try await proxy.nextAttempt().respond(200, ["Content-Length: 0"])
            #expect(try await client.answer().status == 200)
        }
    }

    @Test(arguments: [["Transfer-Encoding: chunked"], []])
    func responseToAnHTTP10ClientEndsWithTheConnection(fields: [String]) async throws {
        try await withProxy { proxy in
            let client = try await proxy.client(sending: "GET http://o.test/ HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
            try await proxy.nextAttempt().respond(200, fields, body: "abc", trailers: ["X: 1"])
            let response = try await client.answer()
            #expect(response.end == .close && response.body == "abc")
            #expect(response["Transfer-Encoding"] == nil)
            #expect(try await client.ending().0 == .closed)
        }
    }

    @Test func connectionOfAnHTTP10ClientIsClosedAfterALength() async throws {
        try await withProxy { proxy in
            let client = try await proxy.client(sending: "GET http://o.test/ HTTP/1.0\r\n\r\n")
            try await proxy.nextAttempt().respond(200, ["Content-Length: 3"], body: "abc")
            let response = try await client.answer()
            #expect(response.body == "abc")
            #expect(response["Connection"] == "close")
            #expect(try await client.ending().rest == "")
        }
    }

    @Test(arguments: [
        ("HEAD", 200, ["Content-Length: 5"], "5"), ("HEAD", 200, ["Transfer-Encoding: chunked"], nil),
        ("GET", 304, ["Content-Length: 5", "ETag: x"], "5"), ("GET", 204, [], nil), ("HEAD", 404, [], nil),
    ] as [(String, Int, [String], String?)])
    func responseThatCannotHaveABodyIsSentWithoutOne(method: String, status: Int, fields: [String], length: String?) async throws {
        try await withProxy { proxy in
            let client = try await proxy.client(sending: "\(method) http://o.test/ HTTP/1.1\r\nHost: o.test\r\n\r\n")
            try await proxy.nextAttempt().respond(status, fields)
            let response = try await client.answer(toHead: true)
            #expect(response.status == status)
            #expect(response["Content-Length"] == length)
            #expect(response["Transfer-Encoding"] == nil)
            try await client.send(.get("/2"))
            try await proxy.nextAttempt().respond(200, ["Content-Length: 2"], body: "ok")
            #expect(try await client.answer().body == "ok", "the connection is still in step")
        }
    }

    @Test func bodyOfAResponseToHeadIsDropped() async throws {
        try await withProxy { proxy in
            let client = try await proxy.client(sending: "HEAD http://o.test/ HTTP/1.1\r\nHost: o.test\r\n\r\n")
            let attempt = try await proxy.nextAttempt()
            attempt.sendHead(200, ["Content-Length: 17"])
            attempt.sendBody("HTTP/1.1 200 OK\r\n")
            attempt.finish()
            _ = try await client.answer(toHead: true)
            try await client.send(.get("/2"))
            try await proxy.nextAttempt().respond(200, ["Content-Length: 2"], body: "ok")
            #expect(try await client.answer().body == "ok")
        }
    }

    @Test func interimResponsesPassOnlyToHTTP11Clients() async throws {
        try await withProxy { proxy in
            let client = try await proxy.client(sending: .get("/"))
            let attempt = try await proxy.nextAttempt()
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
        try await withProxy { proxy in
            let client = try await proxy.client(sending: .get("/"))
            let attempt = try await proxy.nextAttempt()
            attempt.sendHead(200, ["Transfer-Encoding: chunked"])
            let text = String((0..<size).map { Character(Unicode.Scalar(UInt8(97 + $0 % 26))) })
            for _ in 0..<3 { attempt.sendBody(text) }
            attempt.finish()
            #expect(try await client.answer().body == text + text + text)
        }
    }

    // MARK: Broken answers

    @Test func brokenResponseWithALengthClosesTheConnection() async throws {
        try await withProxy { proxy in
            let client = try await proxy.client(sending: .get("/"))
            let attempt = try await proxy.nextAttempt()
            attempt.sendHead(200, ["Content-Length: 10"])
            attempt.sendBody("abc")
            attempt.fail(.connectionTerminated, phase: .receiving, evidence: .answered)
            let (_, rest) = try await client.ending()
            #expect(rest.hasSuffix("\r\n\r\nabc"))
            #expect(await proxy.engine.liveEntries().isEmpty, "past the head nothing is parked")
        }
    }

    @Test func brokenChunkedResponseHasNoLastChunk() async throws {
        try await withProxy { proxy in
            let client = try await proxy.client(sending: .get("/"))
            let attempt = try await proxy.nextAttempt()
            attempt.sendHead(200, ["Transfer-Encoding: chunked"])
            attempt.sendBody("abc")
            attempt.fail(.httpResponseIncomplete, phase: .receiving, evidence: .answered)
            let (_, rest) = try await client.ending()
            #expect(rest.hasSuffix("3\r\nabc\r\n"))
        }
    }

    @Test func brokenCloseDelimitedResponseIsReset() async throws {
        try await withProxy { proxy in
            let client = try await proxy.client(sending: "GET http://o.test/ HTTP/1.0\r\n\r\n")
            let attempt = try await proxy.nextAttempt()
            attempt.sendHead(200, [])
            attempt.sendBody("abc")
            attempt.fail(.connectionTerminated, phase: .receiving, evidence: .answered)
            #expect(try await client.ending().0 == .reset)
        }
    }
}
