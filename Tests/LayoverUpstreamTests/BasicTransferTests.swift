import LayoverTestSupport
import NIOCore
import Testing

@testable import LayoverUpstream

@Suite(.bothPaths)
struct BasicTransferTests {
    @Test func getReachesTheOriginUnchangedAndItsResponseComesBack() async throws {
        let origin = try MisbehavingOrigin { connection in
            guard connection.readRequest() != nil else { return }
            connection.answer("hello", fields: "X-One: 1\r\nx-ONE: 2\r\n")
        }
        let rig = try UpstreamRig()
        let facts = await rig.send(
            rig.request(
                "GET", port: origin.port, target: "/a/../b?q=%41",
                fields: ["X-A: 1", "X-Empty:", "x-a: \u{e9}"]))
        #expect(facts.events == ["head", "body", "end"])
        #expect(facts.status == 200)
        #expect(facts.sendings == 1)
        #expect(facts.head == "HTTP/1.1 200 OK\r\nX-One: 1\r\nx-ONE: 2\r\n")
        #expect(facts.bodyText == "hello")
        #expect(
            origin.received == [
                "GET /a/../b?q=%41 HTTP/1.1\r\nHost: 127.0.0.1:\(origin.port)\r\nX-A: 1\r\nX-Empty:\r\nx-a: \u{e9}\r\n\r\n"
            ])
    }

    @Test func postWithALengthSendsOneLengthAndItsBody() async throws {
        let origin = try MisbehavingOrigin { connection in
            guard let (_, body) = connection.readRequest() else { return }
            connection.answer(String(decoding: body, as: UTF8.self))
        }
        let rig = try UpstreamRig()
        let facts = await rig.send(
            rig.request(
                "POST", port: origin.port, fields: ["Content-Type: text/plain"], framing: .length(5),
                body: rig.body("12345")))
        #expect(facts.events == ["head", "body", "end"])
        #expect(facts.bodyText == "12345")
        #expect(
            origin.received == [
                "POST /x HTTP/1.1\r\nHost: 127.0.0.1:\(origin.port)\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\n12345"
            ])
    }
}
