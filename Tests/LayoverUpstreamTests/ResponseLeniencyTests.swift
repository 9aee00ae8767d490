import LayoverCore
import LayoverTestSupport
import Testing

@testable import LayoverUpstream

/// Responses whose form is not perfect, over a connection. Which forms there are is the matter of `LayoverHTTPTests`; here both paths must
/// agree about them.
@Suite(.bothPaths)
struct ResponseLeniencyTests {
    private let rig: UpstreamRig

    init() throws { rig = try UpstreamRig() }

    @Test(arguments: [
        ("HTTP/1.1 200 OK\r\nX-A : 1\r\nContent-Length: 2\r\n\r\nok", "HTTP/1.1 200 OK\r\nX-A: 1\r\n"),
        ("HTTP/1.1 200\r\nContent-Length: 2\r\n\r\nok", "HTTP/1.1 200 \r\n"),
        ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nok", "HTTP/1.1 200 OK\r\n"),
        ("HTTP/1.1 200 OK\r\nContent-Length: 2, 2\r\n\r\nok", "HTTP/1.1 200 OK\r\n"),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1  \r\no\r\n1 ; a = b\r\nk\r\n0  \r\n\r\n", "HTTP/1.1 200 OK\r\n"),
    ])
    func keptConnectionServesTheNextRequest(answer: String, head: String) async throws {
        let origin = try MisbehavingOrigin.writing(answer)
        for _ in 1...2 {
            let facts = await rig.send(rig.request("GET", port: origin.port))
            #expect(facts.failure == nil)
            #expect(facts.head == head)
            #expect(facts.bodyText == "ok")
        }
        #expect(origin.connections.count == 1)
    }

    @Test(arguments: ["HTTP/1.0 200 OK\nX: y\nContent-Length: 2\n\nok", "HTTP/1.0 200 OK\nX: y\n\nok", "HTTP/1.1 200 OK\r\nX: y\r\nTransfer-Encoding: identity\r\n\r\nok"])
    func responseThatEndsWithItsConnectionIsComplete(answer: String) async throws {
        let origin = try MisbehavingOrigin.writing(answer, once: true)
        let facts = await rig.send(rig.request("GET", port: origin.port))
        #expect(facts.failure == nil)
        #expect(facts.head == "HTTP/1.1 200 OK\r\nX: y\r\n")
        #expect(facts.bodyText == "ok")
    }

    /// The origin keeps the connection open. libcurl would wait for its end.
    @Test(arguments: ["GET", "HEAD"]) func lengthBesideTheCodingIdentityEndsTheResponse(method: String) async throws {
        let origin = try MisbehavingOrigin.writing(
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\nContent-Length: 2\r\n\r\n" + (method == "GET" ? "ok" : ""))
        let start = ContinuousClock.now
        for _ in 1...2 {
            let facts = await rig.send(rig.request(method, port: origin.port))
            #expect(facts.failure == nil)
            #expect(facts.bodyText == (method == "GET" ? "ok" : ""))
        }
        // An origin's connection is given up after 30 seconds.
        #expect(ContinuousClock.now - start < .seconds(25))
        if Path.current == .direct { #expect(origin.connections.count == 1) }
    }

    /// libcurl does not take such a version, and does not find the length behind white space.
    @Test(arguments: [
        "HTTP/1.2 200 OK\r\nContent-Length: 2\r\n\r\nok", "HTTP/1.1 200 OK\r\nContent-Length : 2\r\n\r\nok",
    ])
    func formThatLibcurlRefusesIsTakenOnTheDirectPath(answer: String) async throws {
        let origin = try MisbehavingOrigin.writing(answer)
        let facts = await rig.send(rig.request("GET", port: origin.port))
        if Path.current == .direct {
            #expect(facts.bodyText == "ok" && facts.failure == nil)
        } else {
            #expect(facts.events == ["failed"] && facts.failure?.kind == .httpProtocolError)
        }
    }

    /// The origin says no more and does not close: nothing but these bytes can end the attempt.
    @Test(arguments: [
        [0x53, 0x53, 0x48, 0x2D, 0x32], [0x15, 0x03, 0x01, 0x00, 0x02, 0x02, 0x46], [0x4A, 0, 0, 0, 0x0A, 0x38], [0x48, 0x45, 0x4C, 0x4F],
    ] as [[UInt8]])
    func bytesThatAreNoHTTPEndTheAttemptAtOnce(bytes: [UInt8]) async throws {
        let origin = try MisbehavingOrigin { connection in
            _ = connection.readRequest()
            connection.write(bytes)
            connection.readToEnd()
        }
        let facts = await rig.send(rig.request("GET", port: origin.port))
        #expect(facts.events == ["failed"])
        facts.failure.expect(kind: .httpProtocolError, evidence: .maybeApplied)
    }

    /// Closing right behind them does not make them a response that broke off, which would be tried again.
    @Test func bytesThatAreNoHTTPBeforeACloseAreNoBrokenResponse() async throws {
        let origin = try MisbehavingOrigin { connection in
            _ = connection.readRequest()
            connection.write([0x15, 0x03, 0x01, 0x00, 0x02, 0x02, 0x46])
        }
        let facts = await rig.send(rig.request("GET", port: origin.port))
        #expect(facts.failure?.kind == .httpProtocolError)
    }
}
