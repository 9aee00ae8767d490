import LayoverHTTP
import NIOCore
import NIOEmbedded
import NIOHPACK
import NIOHTTP2
import Testing

@testable import LayoverProxy

/// A stream of HTTP/2 on one side, a connection of HTTP/1.1 on the other.
struct HTTP2StreamTranscoderTests {
    private typealias Payload = HTTP2Frame.FramePayload

    /// As the library does with DATA beyond the window: it waits, and so does its promise.
    private final class ClosedWindow: ChannelOutboundHandler {
        typealias OutboundIn = Payload

        private var waiting: [EventLoopPromise<Void>] = []

        func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
            guard case .data = unwrapOutboundIn(data) else { return context.write(data, promise: promise) }
            if let promise { waiting.append(promise) }
        }

        func end() { for promise in waiting { promise.fail(ChannelError.eof) } }
    }

    private final class Stream {
        let transcoder = HTTP2StreamTranscoder()
        let window = ClosedWindow()
        let channel: EmbeddedChannel

        /// - Parameter isBlocked: True if the client gives no window for bodies.
        init(isBlocked: Bool = false) throws {
            channel = isBlocked ? EmbeddedChannel(handlers: [window, transcoder]) : EmbeddedChannel(handler: transcoder)
            try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        }

        func receive(_ fields: [(String, String)], endsStream: Bool = false) throws {
            try channel.writeInbound(Payload.headers(.init(headers: HPACKHeaders(fields), endStream: endsStream)))
        }

        func receive(_ text: String, endsStream: Bool = false) throws {
            try channel.writeInbound(Payload.data(.init(data: .byteBuffer(ByteBuffer(string: text)), endStream: endsStream)))
        }

        func begin(_ method: String = "GET", _ more: [(String, String)] = [], endsStream: Bool = true) throws {
            try receive(
                [(":method", method), (":scheme", "https"), (":authority", "o.test"), (":path", "/")] + more, endsStream: endsStream)
        }

        /// A stream whose request has begun.
        static func begun(_ method: String = "GET", _ more: [(String, String)] = [], endsStream: Bool = true) throws -> Stream {
            let stream = try Stream()
            try stream.begin(method, more, endsStream: endsStream)
            return stream
        }

        /// The bytes that the connection has received.
        var requestText: String {
            get throws {
                var text = ""
                while let bytes = try channel.readInbound(as: ByteBuffer.self) { text += String(buffer: bytes) }
                return text
            }
        }

        func answer(_ text: String) throws { try channel.writeOutbound(ByteBuffer(string: text)) }

        /// The frames that were written, each in one line.
        var frames: [String] {
            get throws {
                var lines: [String] = []
                while let frame = try channel.readOutbound(as: Payload.self) { lines.append(Self.line(frame)) }
                return lines
            }
        }

        private static func line(_ frame: Payload) -> String {
            switch frame {
            case .headers(let headers):
                let fields = headers.headers.map { "\($0.name)=\($0.value)" }.joined(separator: " ")
                return "headers \(fields)" + (headers.endStream ? " end" : "")
            case .data(let data):
                guard case .byteBuffer(let bytes) = data.data else { return "file" }
                return "data \(String(buffer: bytes))" + (data.endStream ? " end" : "")
            case .rstStream(let code): return "reset \(code.networkCode)"
            default: return "\(frame)"
            }
        }
    }

    // MARK: The request

    @Test func bodyOfAKnownLengthPassesAsItIs() throws {
        let stream = try Stream.begun("POST", [("content-length", "5")], endsStream: false)
        try stream.receive("ab")
        try stream.receive("cde", endsStream: true)
        #expect(try stream.requestText.hasSuffix("content-length: 5\r\n\r\nabcde"))
    }

    @Test func otherBodyIsChunkedWithItsTrailers() throws {
        let stream = try Stream.begun("POST", endsStream: false)
        try stream.receive("ab")
        try stream.receive("")
        try stream.receive(String(repeating: "x", count: 20))
        try stream.receive([("x-sum", "7")], endsStream: true)
        #expect(
            try stream.requestText.hasSuffix(
                "transfer-encoding: chunked\r\n\r\n2\r\nab\r\n14\r\n\(String(repeating: "x", count: 20))\r\n0\r\nx-sum: 7\r\n\r\n"))
    }

    @Test func emptyLastFrameEndsTheBody() throws {
        let stream = try Stream.begun("POST", endsStream: false)
        try stream.receive("", endsStream: true)
        #expect(try stream.requestText.hasSuffix("\r\n\r\n0\r\n\r\n"))
    }

    /// A body that is not what was promised must never become a complete request.
    @Test(arguments: [("4", ["abc"], "abc"), ("2", ["abc"], ""), ("2", ["ab", "c"], ""), ("3", ["a", "bc", "d"], "a")])
    func bodyOfAnotherLengthResetsTheStream(length: String, frames: [String], passed: String) throws {
        let stream = try Stream.begun("POST", [("content-length", length)], endsStream: false)
        for frame in frames { try stream.receive(frame) }
        try stream.receive("", endsStream: true)
        #expect(try stream.requestText.hasSuffix("content-length: \(length)\r\n\r\n\(passed)"))
        #expect(try stream.frames == ["reset 1"])
    }

    @Test func requestThatAnnouncesNoBodyWaitsForTheEndOfTheStream() throws {
        for (text, isMalformed) in [("", false), ("a", true)] {
            let stream = try Stream.begun("POST", [("content-length", "0")], endsStream: false)
            #expect(try stream.requestText == "")
            try stream.receive(text, endsStream: true)
            #expect(try stream.requestText.isEmpty == isMalformed)
            #expect(try stream.frames == (isMalformed ? ["reset 1"] : []))
        }
    }

    @Test func malformedHeadIsNotForwarded() throws {
        let stream = try Stream.begun("GET", [("connection", "close")])
        #expect(try stream.requestText == "")
        #expect(try stream.frames == ["reset 1"])
        // Later frames are dropped.
        try stream.receive("x", endsStream: true)
        #expect(try stream.requestText == "")
    }

    @Test(arguments: [[(":path", "/")], [("connection", "close")], [("x", "a\nb")]]) func malformedTrailersResetTheStream(
        fields: [(String, String)]
    ) throws {
        let stream = try Stream.begun("POST", endsStream: false)
        try stream.receive("a")
        try stream.receive(fields, endsStream: true)
        #expect(try !stream.requestText.contains("0\r\n"))
        #expect(try stream.frames == ["reset 1"])
    }

    /// The client does not wait for a 100, and a proxy need not wait for the origin (RFC 9110 section 10.1.1).
    @Test(arguments: [nil, "3"]) func expectationIsLeftOutWhereTheBodyComesWithTheHead(length: String?) throws {
        let stream = try Stream()
        let more = [("expect", "100-continue")] + (length.map { [("content-length", $0)] } ?? [])
        let fields = [(":method", "POST"), (":scheme", "https"), (":authority", "o.test"), (":path", "/")] + more
        stream.channel.pipeline.fireChannelRead(Payload.headers(.init(headers: HPACKHeaders(fields), endStream: false)))
        #expect(try stream.requestText == "", "frames may follow")
        stream.channel.pipeline.fireChannelRead(Payload.data(.init(data: .byteBuffer(ByteBuffer(string: "abc")), endStream: true)))
        stream.channel.pipeline.fireChannelReadComplete()
        let text = try stream.requestText
        #expect(!text.contains("expect") && text.contains("abc"))
    }

    @Test func expectationStaysWhereTheClientMayWait() throws {
        let stream = try Stream.begun("POST", [("expect", "100-continue"), ("content-length", "3")], endsStream: false)
        #expect(try stream.requestText.contains("\r\nexpect: 100-continue\r\n"))
        try stream.receive("abc", endsStream: true)
        #expect(try stream.requestText == "abc")
    }

    // MARK: The response

    /// The bytes would become U+FFFD.
    @Test func valueThatIsNotUTF8ResetsTheStreamInsteadOfBeingAltered() throws {
        let stream = try Stream.begun()
        var bytes = ByteBuffer(string: "HTTP/1.1 200 OK\r\nX-Name: Zo")
        bytes.writeBytes([0xEB, 0x0D, 0x0A])
        bytes.writeString("Content-Length: 0\r\n\r\n")
        try stream.channel.writeOutbound(bytes)
        #expect(try stream.frames.first == "reset 2")
    }

    /// A value in UTF-8 is unchanged. A response without a body is one frame.
    @Test(arguments: [
        (
            "GET", "200 OK\r\nX-A: 1\r\nKeep-Alive: 5\r\nContent-Length: 5\r\n\r\nabcde",
            ["headers :status=200 x-a=1 content-length=5", "data abcde end"]
        ),
        ("HEAD", "200 OK\r\nContent-Length: 5\r\n\r\n", ["headers :status=200 content-length=5 end"]),
        ("GET", "200 OK\r\nX-Name: Zoë\r\nContent-Length: 0\r\n\r\n", ["headers :status=200 x-name=Zoë content-length=0 end"]),
        ("GET", "200 OK\r\nX-Name: \u{FFFD}\r\nContent-Length: 0\r\n\r\n", ["headers :status=200 x-name=\u{FFFD} content-length=0 end"]),
        ("GET", "200 OK\r\nX-Name: 東京\r\nContent-Length: 0\r\n\r\n", ["headers :status=200 x-name=東京 content-length=0 end"]),
        ("GET", "200 OK\r\nContent-Length: 0\r\n\r\n", ["headers :status=200 content-length=0 end"]),
        ("GET", "204 No Content\r\n\r\n", ["headers :status=204 end"]),
        ("GET", "304 Not Modified\r\nETag: \"a\"\r\n\r\n", ["headers :status=304 etag=\"a\" end"]),
    ])
    func responseIsWrittenWithTheEndInItsLastFrame(method: String, response: String, frames: [String]) throws {
        let stream = try Stream.begun(method)
        try stream.answer("HTTP/1.1 " + response)
        #expect(try stream.frames == frames)
    }

    @Test func responseThatComesInPiecesLeavesInPieces() throws {
        let stream = try Stream.begun()
        try stream.answer("HTTP/1.1 200 OK\r\nTransfer-Enc")
        #expect(try stream.frames == [])
        try stream.answer("oding: chunked\r\n\r\n")
        #expect(try stream.frames == ["headers :status=200"])
        try stream.answer("3\r\nabc\r\n")
        #expect(try stream.frames == ["data abc"])
        try stream.answer("0\r\n\r\n")
        #expect(try stream.frames == ["data  end"])
    }

    @Test func trailersAndInterimResponsesPass() throws {
        let stream = try Stream.begun()
        try stream.answer("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n")
        #expect(try stream.frames == ["headers :status=103 link=</a>"])
        try stream.answer("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\nX-Sum:  7\r\n\r\n")
        #expect(try stream.frames == ["headers :status=200", "data a", "headers x-sum=7 end"])
    }

    @Test func connectionThatEndsTheBodyEndsTheStream() throws {
        let stream = try Stream.begun()
        try stream.answer("HTTP/1.1 200 OK\r\n\r\nabc")
        #expect(try stream.frames == ["headers :status=200", "data abc"])
        stream.channel.close(mode: .output, promise: nil)
        #expect(try stream.frames == ["data  end"])
    }

    /// A client must not take what it has for a complete response.
    @Test func responseThatIsCutOffResetsTheStream() throws {
        let stream = try Stream.begun()
        try stream.answer("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab")
        stream.channel.close(promise: nil)
        #expect(try stream.frames == ["headers :status=200 content-length=5", "data ab", "reset 2"])
    }

    @Test func requestThatIsNotLookedAtMayBeSentAgain() throws {
        let stream = try Stream()
        stream.channel.close(promise: nil)
        #expect(try stream.frames == ["reset 7"])
    }

    /// The response is complete here, but not at its client.
    @Test func completeResponseThatIsNotSentYetIsCutOffToo() throws {
        let stream = try Stream(isBlocked: true)
        try stream.begin()
        let response = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n"
        // Nobody waits for it here.
        stream.channel.writeAndFlush(ByteBuffer(string: response), promise: nil)
        stream.channel.close(promise: nil)
        #expect(try stream.frames == ["headers :status=200", "reset 2"])
        stream.window.end()
    }

    /// RFC 9113 section 8.1: the rest of the request is not wanted, and the response is good.
    @Test func completeResponseToAnIncompleteRequestResetsTheStreamWithoutAnError() throws {
        let stream = try Stream.begun("POST", endsStream: false)
        try stream.answer("HTTP/1.1 413 Content Too Large\r\nContent-Length: 1\r\n\r\na")
        stream.channel.close(mode: .output, promise: nil)
        #expect(try stream.frames == ["headers :status=413 content-length=1", "data a end", "reset 0"])
    }
}
