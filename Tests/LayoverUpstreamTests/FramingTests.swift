import LayoverCore
import LayoverHTTP
import LayoverTestSupport
import Testing

@testable import LayoverUpstream

/// Responses that break the rules of HTTP/1: none is passed on as if it were whole, and none leaves a
/// connection that is used again.
@Suite(.bothPaths)
struct FramingTests {
    private let rig: UpstreamRig

    init() throws { rig = try UpstreamRig() }

    struct Example: Sendable, CustomTestStringConvertible {
        var answer: String
        var kind = FailureKind.httpProtocolError
        var method = "GET"
        var testDescription: String { String(answer.prefix(70)) }
    }

    static let brokenHeads: [Example] = [
        Example(answer: "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nabc"),
        Example(
            answer: "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
        Example(answer: "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n"),
        Example(answer: "HTTP/1.1 200 OK\r\nContent-Length: 1x\r\n\r\nab"),
        Example(answer: "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\nab"),
        Example(answer: "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n"),
        Example(
            answer:
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
        ),
        Example(answer: "HTTP/1.1 200 OK\r\nX z: y\r\nContent-Length: 0\r\n\r\n"),
        Example(answer: "HTTP/1.1 200 OK\r\nno colon\r\nContent-Length: 0\r\n\r\n"),
        Example(answer: "HTTP/1.1 200 OK\r\nX: y\r\n folded\r\nContent-Length: 0\r\n\r\n"),
        Example(answer: "HTTP/1.1 200 OK\nContent-Length: 0\n\n"),
        Example(answer: "HTTP/1.1 100 Continue\r\nContent-Length: 5\r\n\r\nhello"),
        Example(answer: "HTTP/1.1 99 Low\r\nContent-Length: 0\r\n\r\n"),
        Example(answer: "HTTP/1.1 099 Low\r\nContent-Length: 0\r\n\r\n"),
        Example(answer: "HTTP/1.1 1000 High\r\nContent-Length: 0\r\n\r\n"),
        Example(answer: "HTTP/1.1 2x0 OK\r\nContent-Length: 0\r\n\r\n"),
        Example(answer: "HTTP/2 200\r\nContent-Length: 0\r\n\r\n"),
        Example(answer: "HTTP/3.1 200 OK\r\nContent-Length: 0\r\n\r\n"),
        Example(answer: "ICY 200 OK\r\n\r\nmusic"),
        Example(answer: "just some text\r\n\r\n"),
        Example(answer: "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n"),
        Example(
            answer: "HTTP/1.1 200 OK\r\nX: " + String(repeating: "y", count: 70_000) + "\r\n\r\n",
            kind: .httpResponseHeaderSectionSize),
        Example(
            answer: "HTTP/1.1 200 OK\r\n" + String(repeating: "X: y\r\n", count: 20_000) + "\r\n",
            kind: .httpResponseHeaderSectionSize),
        // More than libcurl takes as one line.
        Example(
            answer: "HTTP/1.1 200 OK\r\nX: " + String(repeating: "y", count: 150_000) + "\r\n\r\n",
            kind: .httpResponseHeaderSectionSize),
        Example(
            answer: "HTTP/1.1 200 " + String(repeating: "y", count: 150_000) + "\r\n\r\n", kind: .httpResponseHeaderSectionSize),
        Example(answer: String(repeating: "HTTP/1.1 103 Early\r\n\r\n", count: 100)),
    ]

    @Test(arguments: brokenHeads)
    func brokenHeadIsNotAResponseAndItsConnectionIsClosed(_ example: Example) async throws {
        let origin = try MisbehavingOrigin.writing(example.answer)
        for number in 1...2 {
            let facts = await rig.send(rig.request(example.method, port: origin.port))
            #expect(facts.events.filter { $0 != "interim" } == ["failed"])
            facts.failure.expect(kind: example.kind, evidence: .maybeApplied, shutsGate: false)
            #expect(origin.connections.count == number)
        }
    }

    static let bodilessAnswers: [Example] = [
        Example(answer: "HTTP/1.1 204 No Content\r\n\r\nhello"),
        Example(answer: "HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\nhello"),
        Example(answer: "HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"),
        Example(answer: "HTTP/1.1 204 No Content\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison"),
        Example(answer: "HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\nhello"),
        Example(answer: "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", method: "HEAD"),
        Example(answer: "HTTP/1.1 404 Not Found\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nno\r\n0\r\n\r\n", method: "HEAD"),
        Example(answer: "HTTP/1.1 200 OK\r\n\r\nx", method: "HEAD"),
        Example(answer: "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\nx"),
        Example(answer: "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison"),
    ]

    /// RFC 9112 section 6.3: nothing follows their heads, whatever the fields say. Bytes that follow belong to no
    /// response.
    @Test(arguments: bodilessAnswers, [false, true])
    func bytesAfterAResponseWithoutABodyAreDroppedWithTheConnection(_ example: Example, hasBody: Bool) async throws {
        let origin = try MisbehavingOrigin.writing(example.answer)
        for number in 1...3 {
            let facts = await rig.send(
                rig.request(
                    example.method, port: origin.port, framing: hasBody ? .length(3) : .none,
                    body: hasBody ? rig.body("abc", mayBeSentTwice: true) : nil, mayBeSentTwice: true))
            #expect(facts.events == ["head", "end"])
            #expect(facts.failure == nil)
            #expect(facts.status == Int(example.answer.dropFirst(9).prefix(3)))
            #expect(facts.sendings == 1)
            #expect(origin.connections.count == number)
        }
    }

    /// The length is there, the bytes are not, or not yet: they must not meet the next request.
    @Test func responseWithAForbiddenBodyEndsItsConnection() async throws {
        let origin = try MisbehavingOrigin.writing("HTTP/1.1 204 No Content\r\nContent-Length: 5\r\nX-A: 1\r\n\r\n")
        for number in 1...2 {
            let facts = await rig.send(rig.request("GET", port: origin.port))
            #expect(facts.head == "HTTP/1.1 204 No Content\r\nX-A: 1\r\n")
            #expect(origin.connections.count == number)
        }
    }

    @Test(arguments: ["600", "601", "699", "700", "850", "999"])
    func statusBeyondTheKnownClassesIsPassedOn(status: String) async throws {
        let origin = try MisbehavingOrigin { connection in
            while connection.readRequest() != nil { connection.answer("why", status: "\(status) Own Invention") }
        }
        for method in ["GET", "GET", "PUT"] {
            let body = method == "PUT" ? rig.body("abc", mayBeSentTwice: true) : nil
            let facts = await rig.send(
                rig.request(method, port: origin.port, framing: body == nil ? .none : .length(3), body: body))
            #expect(facts.events == ["head", "body", "end"])
            #expect(facts.status == Int(status))
            #expect(facts.head.hasPrefix("HTTP/1.1 \(status) Own Invention\r\n"))
            #expect(facts.bodyText == "why")
        }
        #expect(origin.connections.count == 1)
    }

    @Test(arguments: [
        "zz\r\nab\r\n", "\r\n", "-1\r\nab\r\n", "2\r\nabXY0\r\n\r\n", "ffffffffffffffffff\r\nab",
    ])
    func brokenChunksEndTheResponse(chunks: String) async throws {
        let origin = try MisbehavingOrigin.writing("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks)
        for number in 1...2 {
            let facts = await rig.send(rig.request("GET", port: origin.port))
            #expect(facts.events.last == "failed")
            facts.failure.expect(kind: .httpResponseTransferCoding, evidence: .answered)
            #expect(origin.connections.count == number)
        }
    }

    /// libcurl alone takes no head of 300 KB, and no line of 100 KB.
    @Test(arguments: [(290_000, true), (320_000, false)])
    func limitOnHeadsIsThatOfTheOptions(byteCount: Int, isWithinLibcurl: Bool) async throws {
        let fields = String(repeating: "X: " + String(repeating: "y", count: 995) + "\r\n", count: byteCount / 1_000)
        let origin = try MisbehavingOrigin.writing("HTTP/1.1 200 OK\r\n\(fields)Content-Length: 2\r\n\r\nok")
        let rig = try UpstreamRig { $0.responseLimits.headByteCountMax = 512 << 10 }
        let facts = await rig.send(rig.request("GET", port: origin.port))
        if isWithinLibcurl || Path.current == .direct {
            #expect(facts.status == 200 && facts.bodyText == "ok")
        } else {
            #expect(facts.failure?.kind == .httpResponseHeaderSectionSize && facts.failure?.evidence == .maybeApplied)
        }
    }

    @Test(arguments: ["no colon\r\n", "Content-Length: 5\r\n", "X z: y\r\n", " folded\r\n"])
    func brokenTrailersEndTheResponse(line: String) async throws {
        let origin = try MisbehavingOrigin.writing("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\(line)\r\n")
        let facts = await rig.send(rig.request("GET", port: origin.port))
        #expect(facts.events == ["head", "body", "failed"])
        #expect(facts.failure?.evidence == .answered)
    }
}
