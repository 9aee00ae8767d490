import LayoverCore
import LayoverEngine
import LayoverHTTP
import LayoverTestSupport
import LayoverText
import Testing

#if canImport(Glibc)
import Glibc
#endif

/// Bytes and fields that pass unchanged, and those that do not.
struct TransparencyTests {
    @Test func methodTargetAndFieldsPassByteForByteInOrder() async throws {
        let request =
            "get http://Origin.Test:8000/a%2Fb/../%c3?q=1&&x=%00|{} HTTP/1.1\r\nHost: other\r\n"
            + "X-One: first\r\nx-ONE: second\r\nAccept:text/html\r\nX-Empty:\r\nX-Bytes: \u{e9}\u{ff}\r\nCookie: a=1;  b=2\r\n\r\n"
        try await withAttempt(of: request) { _, client, attempt async throws in
            #expect(attempt.request.method == "get")
            #expect(attempt.request.target == "/a%2Fb/../%c3?q=1&&x=%00|{}")
            #expect(attempt.request.host == "origin.test:8000")
            #expect(attempt.request.origin.description == "http://origin.test:8000")
            #expect(attempt.request.framing == .none)
            let bytes = Array(attempt.request.fields.lines.readableBytesView)
            #expect(
                bytes
                    == ("X-One: first\0x-ONE: second\0Accept: text/html\0X-Empty: \0X-Bytes: \u{e9}\u{ff}\0Cookie: a=1;  b=2\0"
                    + "Via: 1.1 layover-0a1b2c3d\0").latin1)
            attempt.respond(body: "ok")
            #expect(try await client.answer().status == 200)
        }
    }

    @Test func responsePassesUnchanged() async throws {
        try await withAttempt { _, client, attempt in
            attempt.respond(
                404,
                [
                    "Server: x", "Set-Cookie: a=1", "Set-Cookie: b=2", "X-Empty:", "Via: 1.0 other", "Content-Length: 4",
                    "Location: /elsewhere",
                ],
                body: "\u{1}\u{2}ab")
            let response = try await client.answer()
            #expect(response.statusLine == "HTTP/1.1 404 Scripted")
            #expect(response.values("Set-Cookie") == ["a=1", "b=2"])
            #expect(response.values("Via") == ["1.0 other", "1.1 layover-0a1b2c3d"])
            #expect(response["X-Empty"] == "")
            #expect(response["Location"] == "/elsewhere")
            #expect(response["Content-Length"] == "4" && response["Connection"] == nil)
            #expect(response["Proxy-Status"] == nil, "nothing of ours when all is well")
            #expect(response.body == "\u{1}\u{2}ab")
        }
    }

    @Test func userinfoOfTheTargetReachesNobodyAndAuthorizationIsKept() async throws {
        let request = "GET http://me:hush@o.test/x HTTP/1.1\r\nHost: o.test\r\nAuthorization: Basic bWU6aHVzaA==\r\n\r\n"
        try await withAttempt(of: request) { proxy, client, attempt in
            #expect(attempt.request.target == "/x" && attempt.request.host == "o.test")
            #expect(attempt.request.origin.description == "http://o.test")
            #expect(attempt.fields == ["Authorization: Basic bWU6aHVzaA==", "Via: 1.1 layover-0a1b2c3d"])
            attempt.respond()
            #expect(try await client.answer().status == 200)
            // Without the field nothing is made of it, as without a proxy: wget waits for a challenge.
            _ = try await proxy.client(sending: "GET http://me:hush@o.test/y HTTP/1.1\r\nHost: o.test\r\n\r\n")
            let bare = try await proxy.nextAttempt()
            #expect(bare.fields == ["Via: 1.1 layover-0a1b2c3d"])
            bare.fail()
            #expect(try await proxy.entry().url == "http://o.test/y", "nor is it shown")
        }
    }

    @Test func fieldsOfAResponseKeepTheirOrder() async throws {
        try await withAttempt { proxy, client, attempt in
            attempt.respond(
                200, ["Server: x", "Content-Length: 2", "Date: Sun, 06 Nov 1994 08:49:37 GMT", "ETag: y"], body: "ok")
            let response = try await client.answer()
            #expect(response.fields.prefix(4) == ["Server: x", "Content-Length: 2", "Date: Sun, 06 Nov 1994 08:49:37 GMT", "ETag: y"])
            #expect(response.body == "ok")
            try await client.send(.get("/"))
            try await proxy.nextAttempt().respond(200, ["A: 1", "Transfer-Encoding: chunked", "B: 2"], body: "ok")
            let chunked = try await client.answer()
            #expect(chunked.fields.prefix(3) == ["A: 1", "Transfer-Encoding: chunked", "B: 2"])
            #expect(chunked.body == "ok")
        }
    }

    @Test func responseWithoutDateGetsOne() async throws {
        try await withAttempt { proxy, client, attempt in
            attempt.respond(200, ["A: 1", "Content-Length: 2"], body: "ok")
            let response = try await client.answer()
            #expect(response.values("Date").count == 1)
            let date = try #require(HTTPDate.seconds(response["Date"] ?? "", now: time(nil)))
            #expect(abs(date - time(nil)) < 60)
            #expect(try await proxy.answer(to: "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").values("Date").count == 1, "of our own")
            #expect(try await proxy.answer(to: "GET http:// HTTP/1.1\r\nHost: a\r\n\r\n").values("Date").count == 1, "a refusal")
        }
    }

    @Test func interimResponseGetsNoDate() async throws {
        try await withAttempt { _, client, attempt async throws in
            attempt.deliver([attempt.head(103, ["Link: a"])])
            #expect(try await client.answer().values("Date").isEmpty)
            attempt.respond(200, ["Content-Length: 0"])
            #expect(try await client.answer().values("Date").count == 1)
        }
    }

    @Test func hopByHopFieldsOfARequestAreRemoved() async throws {
        let request: String = .get(
            "/", "Connection: X-Mine, close", "X-Mine: 1", "x-mine: 2", "Keep-Alive: timeout=5",
            "Proxy-Connection: keep-alive", "TE: gzip", "Upgrade: h2c", "HTTP2-Settings: AAA",
            "Proxy-Authorization: Basic c2VjcmV0", "Authorization: Bearer t", "X-Kept: yes", "LAYOVER-mode: pass",
            "Transfer-Encodings: not the field", "Prefer: respond-async, wait=10", "Idempotency-Key: k", "Priority: u=1",
            "Via: 1.0 a", "Layover-Policy: default")
        try await withAttempt(of: request) { _, _, attempt in
            #expect(
                attempt.fields == [
                    "Authorization: Bearer t", "X-Kept: yes", "Transfer-Encodings: not the field", "Prefer: respond-async, wait=10",
                    "Idempotency-Key: k", "Priority: u=1", "Via: 1.0 a, 1.1 layover-0a1b2c3d",
                ])
            attempt.respond()
        }
    }

    @Test func fieldTEIsForwardedAndTrailersAreReturned() async throws {
        try await withAttempt(of: .get("/", "TE: trailers, gzip", "Connection: TE", "X-Kept: 1")) { _, client, attempt in
            #expect(attempt.fields == ["X-Kept: 1", "TE: trailers", "Connection: TE", "Via: 1.1 layover-0a1b2c3d"])
            attempt.respond(200, ["Transfer-Encoding: chunked", "Trailer: X-Sum"], body: "ok", trailers: ["X-Sum: 1"])
            let response = try await client.answer()
            #expect(response.body == "ok")
            #expect(response.trailers == ["X-Sum: 1"])
        }
    }

    @Test func hopByHopFieldsOfAResponseAreRemoved() async throws {
        try await withAttempt { _, client, attempt in
            attempt.respond(
                200,
                [
                    "Connection: X-Mine, keep-alive", "X-Mine: 1", "Keep-Alive: timeout=5", "Proxy-Authenticate: Basic", "X-Kept: 1",
                    "Content-Length: 0",
                ])
            let response = try await client.answer()
            let others = response.fields.map { $0.lowercased() }.filter { !$0.hasPrefix("date: ") }
            #expect(others.sorted() == ["content-length: 0", "via: 1.1 layover-0a1b2c3d", "x-kept: 1"])
        }
    }

    @Test(arguments: [("POST", 5), ("GET", 5), ("DELETE", 5), ("OPTIONS", 5), ("PUT", 0), ("BREW", 5)])
    func bodiesAreFramedByTheFieldsOnly(method: String, count: Int) async throws {
        let request: String =
            "\(method) http://o.test/x HTTP/1.1\r\nHost: o.test\r\nContent-Length: \(count)\r\n\r\n" + "hello".prefix(count)
        try await withAttempt(of: request) { _, client, attempt async throws in
            #expect(attempt.request.framing == .length(count))
            #expect(try await attempt.wholeBody() == "hello".prefix(count))
            #expect(attempt.values("Content-Length").isEmpty, "framing belongs to the sender of the next message")
            attempt.respond(body: "done")
            #expect(try await client.answer().body == "done")
        }
    }

    @Test func chunksAndTrailersPass() async throws {
        let request =
            "POST http://o.test/x HTTP/1.1\r\nHost: o.test\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n"
            + "3;a=b\r\nabc\r\n1\r\nd\r\n0\r\nX-Sum: 42\r\nAuthorization: no\r\n\r\n"
        try await withAttempt(of: request) { _, client, attempt in
            #expect(attempt.request.framing == .chunked)
            #expect(try await attempt.wholeBody() == "abcd")
            #expect(attempt.seen.value.trailers == ["X-Sum: 42"])
            #expect(attempt.values("Trailer") == ["X-Sum"])
            attempt.respond(200, ["Transfer-Encoding: chunked", "Trailer: X-Out"], body: "back", trailers: ["X-Out: 1"])
            let response = try await client.answer()
            #expect(response.body == "back")
            #expect(response.trailers == ["X-Out: 1"])
        }
    }
}

extension String {
    /// A GET for `o.test` with more fields.
    static func get(_ path: String, _ fields: String...) -> String {
        "GET http://o.test\(path) HTTP/1.1\r\nHost: o.test\r\n" + fields.map { $0 + "\r\n" }.joined() + "\r\n"
    }

    /// A POST for `o.test` with a length and, perhaps, not all of its body.
    static func post(_ path: String, length: Int, body: String = "", _ fields: String...) -> String {
        "POST http://o.test\(path) HTTP/1.1\r\nHost: o.test\r\nContent-Length: \(length)\r\n"
            + fields.map { $0 + "\r\n" }.joined() + "\r\n" + body
    }
}
