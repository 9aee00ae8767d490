import LayoverHTTP
import NIOCore
import Testing

struct RequestDecoderTests {
    @Test(arguments: AcceptedRequest.all)
    func wellFormedRequestIsRead(request: AcceptedRequest) {
        let transcript = Transcript(of: request.bytes)
        #expect(transcript.error == nil)
        #expect(transcript.messages.allSatisfy { $0.isComplete })
        let messages = transcript.messages.map {
            latin1("\($0.method) \($0.target) ") + $0.body
        }
        #expect(messages == request.messages.map(latin1))
    }

    @Test(arguments: RefusedRequest.all)
    func malformedRequestIsRefusedAndNeverComplete(request: RefusedRequest) {
        let transcript = Transcript(of: request.bytes)
        #expect(transcript.error?.status == request.status)
        #expect(!transcript.messages.contains { $0.isComplete })
    }

    @Test func refusalIsPermanent() {
        var decoder = RequestDecoder()
        var errors: [FramingError] = []
        for text in ["GET / HTTP/9.9\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\n\r\n", ""] {
            var input = ByteBuffer(string: text)
            do throws(FramingError) {
                _ = try decoder.next(&input)
            } catch {
                errors.append(error)
            }
            decoder.endOfMessages()
        }
        #expect(errors.map(\.status) == [505, 505, 505])
    }

    @Test func positionInTheConnectionIsKnown() throws {
        var decoder = RequestDecoder()
        var input = ByteBuffer()
        var seen: [String] = []
        for text in ["", "\r\n", "P", "UT / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\n", "x", ""] {
            input.writeString(text)
            let event = try decoder.next(&input)
            let kind =
                switch event {
                case .head: "head"
                case .body: "body"
                case .end: "end"
                case nil: "nothing"
                }
            let place = decoder.isBetweenMessages ? "between" : decoder.isInHead ? "head" : "body"
            seen.append("\(kind) \(place)")
        }
        #expect(
            seen == [
                "nothing between", "nothing between", "nothing head", "head body", "body body",
                "end between",
            ])
    }

    @Test func bytesBehindConnectStayInTheInput() {
        let transcript = Transcript(of: latin1("CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\n\r\nGET / tunnel"))
        #expect(transcript.messages.count == 1 && transcript.error == nil)
        #expect(transcript.rest == latin1("GET / tunnel"))
    }

    @Test(arguments: ["1.1\r\nHost: a\r\nConnection: x, Close", "1.0\r\nConnection: keep-alive", "1.0\r\nHost: a"])
    func nothingIsReadBehindARequestThatCloses(head: String) {
        let bytes = latin1("GET /1 HTTP/\(head)\r\n\r\nGET /2 HTTP/1.1\r\nHost: a\r\n\r\n")
        let transcript = Transcript(of: bytes)
        #expect(transcript.messages.map(\.target) == ["/1"])
        #expect(transcript.error == nil)
    }

    @Test func bodyOfALargeLengthIsHandedOverAsItArrives() throws {
        let transcript = Transcript(of: latin1("PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: \(Int.max)\r\n\r\nabc"))
        let message = try #require(transcript.messages.first)
        #expect(message.framing == .length(.max))
        #expect(message.body == latin1("abc") && !message.isComplete)
        #expect(transcript.error == nil)
    }

    @Test func forbiddenTrailersAreDropped() {
        let body = "0\r\nAuthorization: a\r\nX-Sum: 1\r\nLayover-Mode: pass\r\nConnection: x\r\n\r\n"
        let transcript = Transcript(of: latin1(AcceptedRequest.chunkedHead + body))
        #expect(transcript.messages.first?.trailers == [.init(name: latin1("X-Sum"), value: latin1("1"))])
    }

    @Test func limitsAreThoseOfTheCaller() {
        var limits = FramingLimits()
        let bytes = latin1("GET / HTTP/1.1\r\nHost: a\r\nX: aaaaaaaaaaaaaaa\r\n\r\n")
        for (byteCountMax, status) in [(60, nil), (bytes.count, nil), (bytes.count - 1, 431), (16, 431), (15, 414)] as [(Int, Int?)] {
            limits.headByteCountMax = byteCountMax
            #expect(Transcript(of: bytes, limits: limits).error?.status == status, "\(byteCountMax)")
        }
    }

    @Test func aTargetMayBeAsLongAsTheHead() {
        let limits = FramingLimits()
        let rest = " HTTP/1.1\r\nHost: a\r\n\r\n"
        let target = "/" + String(repeating: "a", count: limits.headByteCountMax - "GET /".utf8.count - rest.utf8.count)
        let longest = Transcript(of: latin1("GET " + target + rest), limits: limits)
        #expect(longest.messages.first?.target == target)
        #expect(longest.error == nil)
        #expect(Transcript(of: latin1("GET " + target + "a" + rest), limits: limits).error?.status == 431)
    }
}
