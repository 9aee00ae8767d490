import LayoverCore
import LayoverTestSupport
import Testing

@testable import LayoverUpstream

/// libcurl sends a request again when a reused connection dies before a response byte; the direct path never does. The
/// origin must receive an unrepeatable request only once.
@Suite(.bothPaths)
struct DoubleSendTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var method: String
        var byteCount: Int?
        var isChunked = false
        var testDescription: String { "\(method) \(byteCount.map(String.init) ?? "no body") \(isChunked)" }
    }

    /// Answers the first request of each connection, reads the second and closes.
    static func closingOrigin(answersPerConnection: Int = 1) throws -> MisbehavingOrigin {
        try MisbehavingOrigin { connection in
            for _ in 0..<answersPerConnection {
                guard connection.readRequest() != nil else { return }
                connection.answer()
            }
            _ = connection.readRequest()
        }
    }

    @Test(arguments: [
        Case(method: "POST", byteCount: 20), Case(method: "POST", byteCount: nil),
        Case(method: "POST", byteCount: 0), Case(method: "PATCH", byteCount: 20),
        Case(method: "DELETE", byteCount: nil), Case(method: "POST", byteCount: 8 << 20),
        Case(method: "POST", byteCount: 20, isChunked: true),
    ])
    func unrepeatableRequestIsReceivedOnceWhereTheOriginClosesAfterReading(_ example: Case) async throws {
        // The kept-alive connection is there before; every connection answers a GET and eats what follows.
        let origin = try MisbehavingOrigin { connection in
            while let (head, _) = connection.readRequest() {
                guard head.hasPrefix("GET") else { return }
                connection.answer()
            }
        }
        let rig = try UpstreamRig()
        _ = await rig.send(rig.request("GET", port: origin.port))
        let text = example.byteCount.map { String(repeating: "b", count: $0) }
        let facts = await rig.send(
            rig.request(
                example.method, port: origin.port, target: "/once",
                framing: text.map { example.isChunked ? .chunked : .length($0.utf8.count) } ?? .none,
                body: text.map { rig.body($0, chunked: example.isChunked) }, mayBeSentTwice: false))
        #expect(facts.events == ["failed"])
        facts.failure.expect(kind: .connectionTerminated, evidence: .maybeApplied)
        #expect(origin.count(of: "\(example.method) /once HTTP/1.1") == 1)
    }

    @Test func repeatableRequestIsSentAgainAndCounted() async throws {
        let origin = try Self.closingOrigin()
        let rig = try UpstreamRig()
        _ = await rig.send(rig.request("GET", port: origin.port))
        let facts = await rig.send(rig.request("GET", port: origin.port, target: "/again"))
        if Path.current == .direct {
            #expect(facts.failure?.isStaleConnection == true, "whoever asked decides whether it is sent again")
            #expect(origin.count(of: "GET /again") == 1)
            return
        }
        #expect(facts.events == ["head", "body", "end"])
        #expect(facts.sendings == 2)
        #expect(origin.count(of: "GET /again") == 2)
    }

    @Test(arguments: [20, 1 << 20])
    func repeatableBodyIsSentAgainFromItsStart(byteCount: Int) async throws {
        let origin = try Self.closingOrigin()
        let text = String((0..<byteCount).map { _ in "abcdefghij".randomElement()! })
        let rig = try UpstreamRig()
        _ = await rig.send(rig.request("GET", port: origin.port))
        let body = rig.body(text, mayBeSentTwice: true)
        let facts = await rig.send(
            rig.request(
                "PUT", port: origin.port, target: "/again", framing: .length(byteCount), body: body))
        if Path.current == .direct {
            #expect(facts.failure?.isStaleConnection == true)
            return
        }
        #expect(facts.events == ["head", "body", "end"])
        #expect(facts.sendings == 2)
        #expect(origin.connections.last?.receivedText.hasSuffix("\r\n\r\n" + text) == true)
    }

    /// libcurl answers a 417 by sending the request again without `Expect`.
    @Test(arguments: [true, false])
    func response417ToAnExpectIsDelivered(mayBeSentTwice: Bool) async throws {
        let origin = try MisbehavingOrigin { connection in
            guard connection.readHead() != nil else { return }
            connection.answer("no", status: "417 Expectation Failed")
            connection.readToEnd()
        }
        let rig = try UpstreamRig()
        var request = rig.request(
            "POST", port: origin.port, framing: .length(3), body: rig.body("abc"),
            mayBeSentTwice: mayBeSentTwice)
        request.expectsContinue = true
        let facts = await rig.send(request)
        #expect(facts.events.filter { $0 != "bodyUnwanted" } == ["head", "body", "end"])
        #expect(facts.status == 417)
        #expect(facts.bodyText == "no")
        #expect(origin.count(of: "POST /x") == 1)
    }
}
