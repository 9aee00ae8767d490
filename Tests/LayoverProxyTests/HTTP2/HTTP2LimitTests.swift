import LayoverHTTP
import LayoverTestSupport
import NIOCore
import Testing

@testable import LayoverProxy

/// Limits of connections by HTTP/2 and of their streams.
struct HTTP2LimitTests {
    private typealias Kind = HTTP2RawClient.Kind

    /// Until the proxy has worked on all that was sent before.
    private func ping(_ client: HTTP2RawClient, behind bytes: [UInt8] = []) async throws {
        try await client.send(HTTP2RawClient.frame(Kind.ping, payload: [UInt8](repeating: 7, count: 8)) + bytes)
        while try await client.frame(Kind.ping).flags & 1 == 0 {}
    }

    // MARK: Time

    /// The closing PING is not acknowledged either.
    @Test(arguments: [true, false]) func connectionWithoutStreamsIsClosedAfterClientIdle(sendsPreface: Bool) async throws {
        try await withHTTP2Client(settings: sendsPreface ? [] : nil) { proxy, client in
            if sendsPreface { try await ping(client) } else { _ = try await client.frame(Kind.settings) }
            try await proxy.tick(in: .seconds(7100))
            try await proxy.tick(in: .seconds(7202))
            let goaway = try await client.frame(Kind.goaway)
            #expect(goaway.number(at: 4) == 0, "NO_ERROR")
            try await proxy.tick(in: .seconds(6))
            #expect(try await client.ending() == .closed)
        }
    }

    @Test func connectionIsIdleFromTheEndOfItsLastStream() async throws {
        try await withHTTP2Client { proxy, client in
            try await client.request(1)
            let attempt = try await proxy.nextAttempt()
            for hours in 1..<10 { try await proxy.tick(in: .hours(Int64(hours))) }
            attempt.respond(body: "late")
            #expect(try await client.responseFields(1)[":status"] == ["200"])
            #expect(try await client.body(1) == "late")
            try await ping(client)
            try await proxy.tick(in: .seconds(7202))
            #expect(try await client.frame(Kind.goaway).number(at: 4) == 0)
            try await proxy.tick(in: .seconds(6))
            #expect(try await client.ending() == .closed)
        }
    }

    private static let unfinished: [[UInt8]] = [
        HTTP2RawClient.frame(Kind.headers, flags: 1, stream: 3, payload: [0x82]),
        Array(HTTP2RawClient.frame(Kind.headers, flags: 5, stream: 3, payload: [0x82, 0x84, 0x87]).dropLast()),
        Array(HTTP2RawClient.frame(Kind.headers, flags: 5, stream: 3, payload: [0x82]).prefix(4)),
        Array(HTTP2RawClient.frame(Kind.settings, payload: [0, 3, 0, 0, 0, 1]).dropLast(2)),
    ]

    @Test(arguments: unfinished) func unfinishedHeadEndsTheConnectionAfterRequestHead(bytes: [UInt8]) async throws {
        try await withHTTP2Client { proxy, client in
            try await client.request(1)
            _ = try await proxy.nextAttempt()
            try await ping(client, behind: bytes)
            try await proxy.settle()
            try await proxy.tick(in: .seconds(3500))
            try await proxy.tick(in: .seconds(3602))
            let goaway = try await client.frame(Kind.goaway)
            #expect(goaway.number(at: 0) == 1 && goaway.number(at: 4) == 11, "ENHANCE_YOUR_CALM")
            #expect(try await client.ending() == .closed)
        }
    }

    /// The time of a body has other limits, and a stream that waits for its response has none.
    @Test func partOfABodyAndFinishedHeadsAreNotUnfinished() async throws {
        try await withHTTP2Client { proxy, client in
            let block = try client.head(1, "POST", endsStream: false)
            let payload = Array(block.dropFirst(9))
            // The same head in three frames.
            try await client.send(
                HTTP2RawClient.frame(Kind.headers, stream: 1, payload: Array(payload.prefix(2)))
                    + HTTP2RawClient.frame(9, stream: 1, payload: Array(payload[2..<4]))
                    + HTTP2RawClient.frame(9, flags: 4, stream: 1, payload: Array(payload[4...])))
            let attempt = try await proxy.nextAttempt()
            try await ping(client, behind: Array(HTTP2RawClient.frame(Kind.data, flags: 1, stream: 1, payload: [65, 66]).dropLast()))
            try await proxy.settle()
            try await proxy.tick(in: .seconds(3602))
            try await client.send([66])
            #expect(try await attempt.wholeBody() == "AB")
            attempt.respond()
            #expect(try await client.responseFields(1)[":status"] == ["200"])
        }
    }

    // MARK: Number

    @Test func streamsCountAsConnectionsAndGetTheRefusalByHTTP2() async throws {
        try await withHTTP2Client(connectionCountMax: 3) { proxy, client in
            try await client.request(1)
            try await client.request(3)
            let attempts = [try await proxy.nextAttempt(), try await proxy.nextAttempt()]
            try await client.request(5, "POST", "/more", endsStream: false)
            let fields = try await client.responseFields(5)
            #expect(fields[":status"] == ["503"] && fields["retry-after"] == ["1"])
            #expect(try await client.body(5).contains("limits.connections (3)"))
            #expect(try await client.frame(Kind.reset, of: 5).number(at: 0) == 0, "NO_ERROR: the response is complete")
            #expect(try await proxy.answer(to: .get("/")).status == 503, "streams take the places of connections too")
            #expect(proxy.upstream.startedCount == 2)
            for attempt in attempts { attempt.respond() }
            #expect(try await client.responseFields(1)[":status"] == ["200"])
            #expect(try await client.responseFields(3)[":status"] == ["200"])
            try await ping(client)
            try await client.request(7)
            try await proxy.nextAttempt().respond()
            #expect(try await client.responseFields(7)[":status"] == ["200"], "places are free again")
        }
    }

    // MARK: Heads

    /// A reference of one byte expands to a field of 3 900 bytes (RFC 7541 section 6.1).
    @Test func referencesCountAsTheFieldsThatTheyStandFor() async throws {
        try await withHTTP2Client { proxy, client in
            let field = ("x-long", String(repeating: "a", count: 3900))
            let head = try client.head(1, "GET", "/", [(String, String)](repeating: field, count: 30))
            #expect(head.count < 6000)
            try await client.send(head)
            #expect(try await client.responseFields(1)[":status"] == ["431"])
            try await client.request(3, "HEAD", "/", [(String, String)](repeating: field, count: 30))
            #expect(try await client.responseFields(3)[":status"] == ["431"])
            try await client.request(5)
            try await proxy.nextAttempt().respond()
            #expect(try await client.responseFields(5)[":status"] == ["200"])
            #expect(proxy.upstream.startedCount == 1)
        }
    }

    /// NIOHPACK has replaced such bytes by U+FFFD already.
    @Test func valueThatIsNotUTF8IsRefusedAndNotAltered() async throws {
        try await withHTTP2Client { proxy, client in
            try await client.request(1, "GET", "/", [("x-name", "Zoë")])
            let attempt = try await proxy.nextAttempt()
            #expect(attempt.values("x-name") == ["Zoë"])
            attempt.respond()
            #expect(try await client.responseFields(1)[":status"] == ["200"])
            let head = try client.head(3)
            // A literal field without indexing (RFC 7541 section 6.2.2): x-a with the byte E9.
            let payload = head.dropFirst(9) + [0, 3, 0x78, 0x2D, 0x61, 1, 0xE9]
            try await client.send(HTTP2RawClient.frame(Kind.headers, flags: 5, stream: 3, payload: Array(payload)))
            #expect(try await client.responseFields(3)[":status"] == ["400"])
            #expect(try await client.body(3).contains("UTF-8"))
            #expect(proxy.upstream.startedCount == 1)
        }
    }

    /// The stream was reset without a reason for the client; its bytes would have become U+FFFD.
    @Test(arguments: ["GET", "HEAD", "POST"]) func responseWhoseValueIsNotUTF8IsA502ThatNamesTheField(method: String) async throws {
        try await withHTTP2Client { proxy, client in
            // The body of the POST is still on its way.
            try await client.request(1, method, "/", endsStream: method != "POST")
            let attempt = try await proxy.nextAttempt()
            var bytes = ByteBuffer(string: "HTTP/1.1 200 OK\r\nX-Good: Zoë\r\nX-Name: Zo")
            bytes.writeBytes([0xEB, 0x0D, 0x0A])
            bytes.writeString("Content-Length: 2\r\n\r\n")
            var decoder = ResponseDecoder()
            decoder.reset(isHeadRequest: method == "HEAD")
            guard case .head(let head)? = try decoder.next(&bytes) else { throw ProcessError("it is no head") }
            attempt.beginSending()
            attempt.deliver([.head(head, sendings: 1)])
            let fields = try await client.responseFields(1)
            #expect(fields[":status"] == ["502"] && fields["x-name"] == [])
            if method != "HEAD" {
                let body = try await client.body(1)
                #expect(body.contains("x-name") && body.contains(#""receivedStatus":200"#) && body.contains("maybeApplied"), "\(body)")
            }
            try await attempt.seen.wait("the end of the attempt") { $0.isCancelled }
            // The connection goes on, and nothing was sent again.
            try await client.request(3)
            try await proxy.nextAttempt().respond(200, ["X-Name: Zoë"])
            let next = try await client.responseFields(3)
            #expect(next[":status"] == ["200"] && next["x-name"] == ["Zoë"])
            #expect(proxy.upstream.startedCount == 2)
        }
    }

    /// A connection that lives for days has more of them in all. NIOHTTP2 has the clock, and its defaults are counts for the whole life.
    @Test func odditiesAreCountedWithinThirtySecondsAndNotForTheLifeOfAConnection() {
        let limits = HTTP2Limits(headByteCountMax: 64 << 10)
        #expect(limits.connection.maximumConnectionGlitches == .max)
        let (control, reset, error) = (
            limits.connection.controlFrameRateLimit, limits.stream.streamResetFrameRateLimit, limits.stream.streamErrorRateLimit
        )
        #expect([control.windowLength, reset.windowLength, error.windowLength] == [.seconds(30), .seconds(30), .seconds(30)])
        #expect([control.maximumCount, reset.maximumCount, error.maximumCount] == [10_000, 10_000, 10_000])
    }
}
