import LayoverCore
import LayoverEngine
import LayoverHTTP
import LayoverTestSupport
import NIOCore
import Testing

@testable import LayoverUpstream

/// Requests as the origin receives them.
@Suite(.bothPaths)
struct SendingTests {
    /// Sends one request and returns all that the origin received.
    private func received(
        adjust: (inout UpstreamRequest, UpstreamRig) -> Void
    ) async throws -> (String, AttemptRecord.Facts) {
        let origin = try MisbehavingOrigin { connection in
            guard connection.readRequest() != nil else { return }
            connection.answer("", fields: "Connection: close\r\n")
        }
        let rig = try UpstreamRig()
        var request = rig.request("GET", port: origin.port)
        request.host = "h"
        adjust(&request, rig)
        let facts = await rig.send(request)
        try await rig.stop()
        #expect(facts.terminalCount == 1)
        return (origin.received.joined(), facts)
    }

    @Test(arguments: [
        ("GET", "*"), ("get", "/"), ("GET", "/a/../b?q=%41"), ("OPTIONS", "*"), ("DELETE", "/%2e%2e/a//b?x=%00&y=\u{e9}"),
        ("POST", "/"), ("PROPFIND", "/../.."), ("HEAD", "/"), ("M-SEARCH", "/#frag"),
    ])
    func methodAndTargetPassUntouched(method: String, target: String) async throws {
        let (text, facts) = try await received { request, _ in
            request.method = method
            request.target = target
        }
        #expect(text == "\(method) \(target) HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect(facts.events == ["head", "end"])
    }

    @Test func fieldsPassInTheirOrderAndNoneIsAdded() async throws {
        let (text, _) = try await received { request, _ in
            request.fields = [
                "User-Agent": "me", "Accept": "a/b", "accept": "c", "X-Empty": "", "Cookie": "a=b", "Authorization": "Basic xx",
                "Range": "bytes=1-", "Expect": "x",
            ]
            request.fields.append("X-Raw", ByteBuffer(bytes: [0xE9, 0xFF, 0x80]))
            let rest: RequestFields = ["Accept-Encoding": "br", "TE": "trailers", "Content-Type": "text/x", "Last": "1"]
            for field in rest { request.fields.append(field) }
        }
        let expected =
            Array(
                """
                GET /x HTTP/1.1\r\nHost: h\r\nUser-Agent: me\r\nAccept: a/b\r\naccept: c\r\nX-Empty:\r\n\
                Cookie: a=b\r\nAuthorization: Basic xx\r\nRange: bytes=1-\r\nX-Raw:
                """.utf8) + [0x20, 0xE9, 0xFF, 0x80]
            + Array("\r\nAccept-Encoding: br\r\nTE: trailers\r\nContent-Type: text/x\r\nLast: 1\r\n\r\n".utf8)
        #expect(text == String(decoding: expected, as: UTF8.self))
    }

    @Test func hundredsOfFieldsPass() async throws {
        let names = (1...900).map { "X-\($0): \(String(repeating: "v", count: 1 + $0 % 50))" }
        let (text, _) = try await received { request, _ in
            request.fields = RequestFields(names)
        }
        #expect(text == "GET /x HTTP/1.1\r\nHost: h\r\n" + names.map { $0 + "\r\n" }.joined() + "\r\n")
    }

    @Test(arguments: ["GET", "DELETE", "POST", "PUT", "OPTIONS", "HEAD"])
    func bodyIsFramedAsTheClientFramedIt(method: String) async throws {
        let (withLength, facts) = try await received { request, rig in
            request.method = method
            request.framing = .length(3)
            request.body = rig.body("abc")
        }
        #expect(withLength == "\(method) /x HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc")
        #expect(facts.events == ["head", "end"])
        let (empty, _) = try await received { request, rig in
            request.method = method
            request.framing = .length(0)
            request.body = rig.body("")
        }
        #expect(empty == "\(method) /x HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n")
        let (chunked, _) = try await received { request, rig in
            request.method = method
            request.framing = .chunked
            request.body = rig.body("abc", chunked: true)
        }
        #expect(
            chunked
                == "\(method) /x HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"
        )
    }

    @Test func trailersFollowTheLastChunk() async throws {
        let (text, _) = try await received { request, rig in
            let body = rig.emptyBody(length: nil)
            _ = body.append(ByteBuffer(string: "abc"))
            body.finish(trailers: ["X-Sum": "1", "X-Empty": ""])
            request.method = "POST"
            request.framing = .chunked
            request.body = body
        }
        #expect(text.hasSuffix("\r\n\r\n3\r\nabc\r\n0\r\nX-Sum: 1\r\nX-Empty:\r\n\r\n"))
    }

    @Test func bodyThatComesLaterIsWaitedFor() async throws {
        let headCame = Signal()
        let origin = try MisbehavingOrigin { connection in
            _ = connection.readHead()
            headCame.fire()
            guard let body = connection.read(6) else { return }
            connection.answer(String(decoding: body, as: UTF8.self))
        }
        let rig = try UpstreamRig()
        let body = rig.emptyBody(length: 6)
        let record = rig.start(
            rig.request("POST", port: origin.port, framing: .length(6), body: body))
        #expect(await headCame.happened())
        _ = body.append(ByteBuffer(string: "abc"))
        _ = body.append(ByteBuffer(string: "def"))
        body.finish()
        let facts = await record.ended()
        #expect(facts.bodyText == "abcdef")
        // No 100 was expected, so nobody had to be told.
        #expect(!facts.events.contains("bodyWanted"))
    }

    @Test(arguments: [BodyFraming.length(6), .chunked])
    func bodyThatIsBrokenOffEndsTheAttempt(framing: BodyFraming) async throws {
        let headCame = Signal()
        let origin = try MisbehavingOrigin.silent(headCame) { $0.readHead() != nil }
        let rig = try UpstreamRig()
        let body = rig.emptyBody(length: nil)
        _ = body.append(ByteBuffer(string: "abc"))
        let record = rig.start(
            rig.request("POST", port: origin.port, framing: framing, body: body))
        #expect(await headCame.happened())
        body.breakOff()
        let facts = await record.ended()
        #expect(facts.events == ["failed"])
        facts.failure.expect(kind: .httpRequestError, evidence: .maybeApplied)
        try await rig.stop()
        #expect(!origin.received.joined().contains("0\r\n\r\n"))
    }

    @Test func bodyShorterThanAnnouncedEndsTheAttempt() async throws {
        let origin = try MisbehavingOrigin { $0.readToEnd() }
        let rig = try UpstreamRig()
        let facts = await rig.send(
            rig.request("POST", port: origin.port, framing: .length(5), body: rig.body("abc")))
        #expect(facts.failure?.kind == .httpRequestError)
    }

    @Test func bodyLongerThanAnnouncedIsCut() async throws {
        let (text, _) = try await received { request, rig in
            request.method = "POST"
            request.framing = .length(2)
            request.body = rig.body("abc")
        }
        #expect(text.hasSuffix("Content-Length: 2\r\n\r\nab"))
    }

    @Test func ipv6LiteralIsReached() async throws {
        let origin = try MisbehavingOrigin(usingIPv6: true) { connection in
            guard connection.readRequest() != nil else { return }
            connection.answer()
        }
        let rig = try UpstreamRig()
        let facts = await rig.send(rig.request("GET", port: origin.port, host: "::1"))
        #expect(facts.status == 200)
        #expect(origin.received.first?.contains("Host: [::1]:\(origin.port)\r\n") == true)
    }
}
