import LayoverCore
import LayoverEngine
import LayoverTestSupport
import Testing

@testable import LayoverUpstream

/// Responses of every legal shape.
@Suite(.bothPaths)
struct ReceivingTests {
    private func facts(_ answer: String, method: String = "GET") async throws -> AttemptRecord.Facts {
        let origin = try MisbehavingOrigin.writing(answer, once: true)
        let rig = try UpstreamRig()
        return await rig.send(rig.request(method, port: origin.port))
    }

    @Test func interimHeadsComeBeforeTheFinalOne() async throws {
        let facts = try await facts(
            "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
        )
        #expect(facts.interims == [103, 102])
        #expect(facts.events == ["interim", "interim", "head", "body", "end"])
        #expect(facts.bodyText == "ok")
    }

    @Test func chunksAreDecodedAndTrailersComeWithTheEnd() async throws {
        let facts = try await facts(
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;a=b\r\nabc\r\n4\r\ndefg\r\n0\r\nX-Sum: 1\r\nx-sum:  2\r\n\r\n"
        )
        #expect(facts.events == ["head", "body", "end"])
        #expect(facts.bodyText == "abcdefg")
        #expect(facts.trailers == "X-Sum: 1\r\nx-sum:  2\r\n")
    }

    @Test func contentCodingIsNotDecoded() async throws {
        let facts = try await facts(
            "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n\r\nabc")
        #expect(facts.events == ["head", "body", "end"])
        #expect(facts.bodyText == "abc")
        #expect(facts.head.contains("Content-Encoding: gzip\r\n"))
    }

    @Test func redirectsAndErrorsAreResponses() async throws {
        let redirect = try await facts(
            "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n")
        #expect(redirect.status == 302)
        let error = try await facts("HTTP/1.1 503 Busy\r\nRetry-After: 1\r\nContent-Length: 2\r\n\r\nno")
        #expect(error.status == 503)
        #expect(error.bodyText == "no")
    }

    @Test(arguments: [
        ("HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n"),
        ("HEAD", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"),
        ("HEAD", "HTTP/1.1 200 OK\r\n\r\n"),
        ("GET", "HTTP/1.1 204 No Content\r\n\r\n"),
        ("GET", "HTTP/1.1 304 Not Modified\r\nContent-Length: 500\r\nETag: \"a\"\r\n\r\n"),
        ("GET", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"),
        ("POST", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
        ("GET", "HTTP/1.0 200 OK\r\n\r\n"),
    ])
    func responseWithoutABodyEndsAtOnce(method: String, answer: String) async throws {
        let facts = try await facts(answer, method: method)
        #expect(facts.events == ["head", "end"])
    }

    @Test func bodyWithoutALengthEndsWithTheConnection() async throws {
        let facts = try await facts("HTTP/1.0 200 OK\r\n\r\nall of it")
        #expect(facts.events == ["head", "body", "end"])
        #expect(facts.bodyText == "all of it")
    }

    @Test func responseByteByByteIsComplete() async throws {
        let origin = try MisbehavingOrigin { connection in
            guard connection.readRequest() != nil else { return }
            for byte
                in "HTTP/1.1 200 OK\r\nX-One: 1\r\nx-ONE: 2\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nT: u\r\n\r\n"
                .utf8
            {
                connection.write([byte])
            }
        }
        let rig = try UpstreamRig()
        let facts = await rig.send(rig.request("GET", port: origin.port))
        #expect(facts.events == ["head", "body", "end"])
        #expect(facts.head == "HTTP/1.1 200 OK\r\nX-One: 1\r\nx-ONE: 2\r\n")
        #expect(facts.bodyText == "abc")
        #expect(facts.trailers == "T: u\r\n")
    }
}
