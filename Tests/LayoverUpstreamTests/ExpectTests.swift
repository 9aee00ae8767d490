import LayoverEngine
import LayoverHTTP
import LayoverTestSupport
import NIOCore
import Testing

@testable import LayoverUpstream

/// `Expect: 100-continue`.
@Suite(.bothPaths)
struct ExpectTests {
    private func request(
        _ rig: UpstreamRig, port: Int, body: CapturedBody, framing: BodyFraming = .length(3)
    ) -> UpstreamRequest {
        var request = rig.request("POST", port: port, framing: framing, body: body)
        request.expectsContinue = true
        return request
    }

    @Test(arguments: [BodyFraming.length(3), .chunked])
    func bodyFollowsThe100(framing: BodyFraming) async throws {
        let origin = try MisbehavingOrigin { connection in
            guard connection.readHead() != nil else { return }
            let early = connection.receivedText
            connection.write("HTTP/1.1 100 Continue\r\n\r\n")
            _ = connection.read(framing == .chunked ? 13 : 3)
            connection.answer(early.hasSuffix("\r\n\r\n") ? "fine" : "early")
        }
        let rig = try UpstreamRig { $0.continueWaitMax = .seconds(15) }
        let body = rig.emptyBody(length: nil)
        let record = rig.start(request(rig, port: origin.port, body: body, framing: framing))
        let facts = await record.waitFor { $0.events.contains("bodyWanted") }
        #expect(facts.events == ["interim", "bodyWanted"])
        #expect(facts.interims == [100])
        _ = body.append(ByteBuffer(string: "abc"))
        body.finish()
        let end = await record.ended()
        #expect(end.events == ["interim", "bodyWanted", "head", "body", "end"])
        #expect(end.bodyText == "fine")
        let head = origin.received.joined()
        #expect(head.contains("\r\nExpect: 100-continue\r\n\r\n"))
        #expect(
            head.contains(framing == .chunked ? "Transfer-Encoding: chunked\r\n" : "Content-Length: 3\r\n"))
        #expect(origin.count(of: "Content-Length") + origin.count(of: "Transfer-Encoding") == 1)
    }

    @Test(arguments: [BodyFraming.none, .length(0)])
    func expectWithoutABodyIsSentAndNotWaitedFor(framing: BodyFraming) async throws {
        let origin = try MisbehavingOrigin { connection in
            guard connection.readHead() != nil else { return }
            connection.answer()
        }
        let rig = try UpstreamRig { $0.continueWaitMax = .seconds(3600) }
        var request = rig.request("GET", port: origin.port, framing: framing, body: framing == .none ? nil : rig.body(""))
        request.fields = ["A": "1", "Expect": "100-continue"]
        #expect(await rig.send(request).events == ["head", "body", "end"])
        #expect(origin.received.joined().contains("Expect: 100-continue\r\n"))
    }

    @Test func bodyIsSentAfterADelayWithoutA100() async throws {
        let origin = try MisbehavingOrigin.answering(once: true)
        let rig = try UpstreamRig { $0.continueWaitMax = .milliseconds(50) }
        let facts = await rig.send(request(rig, port: origin.port, body: rig.body("abc")))
        #expect(facts.events == ["head", "body", "end"])
        #expect(origin.received.first?.hasSuffix("\r\n\r\nabc") == true)
    }

    @Test(arguments: ["417 Expectation Failed", "401 Unauthorized", "307 Temporary Redirect", "200 OK"])
    func finalResponseInsteadOfA100IsDeliveredWithoutTheBody(status: String) async throws {
        let origin = try MisbehavingOrigin { connection in
            while connection.readHead() != nil { connection.answer("no", status: status) }
        }
        let rig = try UpstreamRig { $0.continueWaitMax = .seconds(15) }
        // The client waits, too, and sends nothing.
        let body = rig.emptyBody(length: 3)
        let facts = await rig.send(request(rig, port: origin.port, body: body))
        #expect(facts.events == ["bodyUnwanted", "head", "body", "end"])
        #expect(facts.bodyText == "no")
        #expect(origin.count(of: "POST /x") == 1)
        // The connection still owes a body; the next request must not be taken for it.
        #expect(await rig.send(rig.request("GET", port: origin.port)).bodyText == "no")
        #expect(origin.connections.count == 2)
    }

    @Test func chunkedErrorResponseEndsWhileTheClientWaitsForThe100() async throws {
        let origin = try MisbehavingOrigin { connection in
            guard connection.readHead() != nil else { return }
            connection.write(
                "HTTP/1.1 413 Too Large\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nno\r\n0\r\n\r\n")
            connection.readToEnd()
        }
        let rig = try UpstreamRig()
        let facts = await rig.send(
            rig.request("POST", port: origin.port, framing: .length(3), body: rig.emptyBody(length: 3)))
        #expect(facts.events == ["bodyUnwanted", "head", "body", "end"])
        #expect(facts.status == 413)
        #expect(facts.bodyText == "no")
    }
}
