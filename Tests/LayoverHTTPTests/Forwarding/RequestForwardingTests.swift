import LayoverHTTP
import NIOCore
import Testing

struct RequestForwardingTests {
    private func forwarded(_ head: RequestHead, _ options: ForwardingOptions = .init()) -> String {
        var out = RequestFields()
        head.writeForwardedFields(into: &out, options: options)
        return out.lines.visible
    }

    @Test func endToEndFieldsAreForwardedUnchanged() throws {
        let head = try requestHead(
            fields: "x-A:  1 ", "X-a: \u{FF}\u{80}", "Empty:", "Accept: a, b", "x-A: 1", "Cookie: c=d", "Trailer: X", "X: trailers")
        #expect(forwarded(head) == "x-A: 1|X-a: \u{FF}\u{80}|Empty: |Accept: a, b|x-A: 1|Cookie: c=d|Trailer: X|X: trailers|")
    }

    @Test(arguments: [
        "Connection: close", "Keep-Alive: timeout=5", "Proxy-Connection: keep-alive", "Proxy-Authorization: Basic x",
        "TE: gzip", "Upgrade: h2c", "HTTP2-Settings: AAA", "Proxy-Authenticate: Basic", "Content-Length: 0",
        "Transfer-Encoding: chunked", "Layover-Mode: pass", "layover-x: 1", "Via: 1.1 b",
        "PROXY-AUTHENTICATION-INFO: x", "TE:", "TE: trailersx", "TE: trailers;q=1", "TE: chunked", "TE: \"trailers\"",
    ])
    func hopByHopFieldIsRemoved(line: String) throws {
        #expect(try forwarded(requestHead(fields: "A: 1", line, "B: 2")) == "A: 1|B: 2|")
    }

    @Test func expectWithoutABodyIsForwarded() throws {
        #expect(try forwarded(requestHead(fields: "A: 1", "Expect: 100-continue", "B: 2")) == "A: 1|Expect: 100-continue|B: 2|")
        let withBody = try requestHead(fields: "Content-Length: 3", "Expect: 100-continue", method: "PUT")
        #expect(forwarded(withBody) == "")
    }

    @Test func placesOfFieldsThatAreWrittenAnewAreNoted() throws {
        let head = try requestHead(
            "PUT / HTTP/1.1\r\nA: 1\r\nHost: a\r\nConnection: x\r\nX: 1\r\nB: 2\r\nContent-Length: 3\r\nC: 3\r\nExpect: 100-continue\r\n\r\n"
        )
        var out = RequestFields()
        let places = head.writeForwardedFields(into: &out)
        #expect(out.lines.visible == "A: 1|B: 2|C: 3|")
        #expect(places.host == 1 && places.framing == 2 && places.expect == 3)
    }

    /// RFC 9110 section 10.1.4: whoever sends TE names it in Connection.
    @Test(arguments: [
        ["TE: trailers", "Connection: TE"], ["TE: trailers"], ["te:Trailers"], ["TE: gzip;q=0.5, trailers", "Connection: close, te"],
        ["TE: deflate", "TE: trailers"],
    ])
    func onlyTETrailersIsForwarded(lines: [String]) throws {
        let text = "GET / HTTP/1.1\r\nHost: a\r\nA: 1\r\n" + lines.map { $0 + "\r\n" }.joined() + "B: 2\r\n\r\n"
        #expect(try forwarded(requestHead(text)) == "A: 1|B: 2|TE: trailers|Connection: TE|")
    }

    /// The response to an HTTP/1.0 client is not chunked, so no trailers reach the client.
    @Test func teOfAnHTTP10ClientIsRemoved() throws {
        #expect(try forwarded(requestHead("GET / HTTP/1.0\r\nTE: trailers\r\nConnection: TE\r\n\r\n")) == "")
    }

    @Test func nominatedFieldsAreRemoved() throws {
        let head = try requestHead(fields: "X-A: 1", "Connection: x-a, keep-alive", "B: 2", "Connection: C;,\"B\", c", "C: 3")
        #expect(forwarded(head) == "B: 2|")
    }

    @Test(arguments: ["Content-Type", "Range", "Cache-Control", "Trailer", "Idempotency-Key"])
    func endToEndFieldsCannotBeNominated(name: String) throws {
        let head = try requestHead(fields: "Connection: X, \(name)", "\(name): 1", "X: 2", "Content-Length: 0")
        #expect(forwarded(head) == "\(name): 1|")
    }

    @Test(arguments: ["Authorization", "COOKIE", "host", "Content-Length", "Transfer-Encoding"])
    func aRequestThatNominatesAnEssentialFieldIsRefused(name: String) throws {
        #expect(throws: FramingError.self) {
            _ = try requestHead(fields: "Connection: X, \(name)", "Authorization: 1", "Content-Length: 0")
        }
    }

    @Test func aThousandNominationsAreHonoured() throws {
        let names = (0..<900).map { "x-\($0)" }
        let text =
            "GET / HTTP/1.1\r\nHost: a\r\nConnection: " + names.joined(separator: ",") + "\r\n"
            + names.map { $0 + ": 1\r\n" }.joined() + "Y: 1\r\n\r\n"
        #expect(try forwarded(requestHead(text)) == "Y: 1|")
    }

    @Test func optionsRemoveTheirFields() throws {
        var options = ForwardingOptions()
        options.keepsPrefer = false
        options.removedNames = [latin1("X-secret"), latin1("te")]
        let head = try requestHead(fields: "Prefer: wait=1", "x-Secret: 1", "TE: trailers", "B: 2")
        #expect(forwarded(head, options) == "B: 2|")
        #expect(forwarded(head) == "Prefer: wait=1|x-Secret: 1|B: 2|TE: trailers|Connection: TE|")
    }

    @Test func supportedUpgradeIsForwarded() throws {
        var options = ForwardingOptions()
        options.keepsUpgrade = true
        let asked = try requestHead(fields: "Connection: upgrade", "Upgrade: websocket")
        #expect(asked.upgradeRequested)
        #expect(forwarded(asked, options) == "Upgrade: websocket|Connection: Upgrade|")
        let unasked = try requestHead(fields: "Upgrade: websocket")
        #expect(!unasked.upgradeRequested)
        #expect(forwarded(unasked, options) == "")
    }

    @Test func maxForwardsIsCountedDown() throws {
        let options = try requestHead(fields: "Max-Forwards: 10", method: "OPTIONS")
        #expect(options.maxForwards == 10)
        #expect(forwarded(options) == "Max-Forwards: 9|")
        let get = try requestHead(fields: "Max-Forwards: x")
        #expect(get.maxForwards == nil)
        #expect(forwarded(get) == "Max-Forwards: x|")
    }

    @Test func trailersAreWrittenAsLines() throws {
        var decoder = RequestDecoder()
        var input = ByteBuffer(string: AcceptedRequest.chunkedHead + "0\r\nA: 1\r\nB:\r\nCookie: x\r\n\r\n")
        _ = try decoder.next(&input)
        guard case .end(let trailers?) = try decoder.next(&input) else {
            Issue.record("no trailers")
            return
        }
        #expect(trailers.forwardedTrailers?.lines.visible == "A: 1|B: |")
    }
}
