import LayoverHTTP
import NIOCore
import Testing

/// Forms of a response that are taken although they would be refused in a request, each with its boundary: the nearest form that stays a 502.
struct ResponseLeniencyTests {
    /// A form that is taken, and what is passed on of it.
    struct Taken: Sendable, CustomTestStringConvertible {
        var text: String
        var head = "HTTP/1.1 200 OK\r\n"
        var body = ""
        var trailers: String?
        var isComplete = true
        var isHeadRequest = false
        var testDescription: String { text.debugDescription }
    }

    static let taken: [Taken] = [
        // White space before the colon (RFC 9112 section 5.1).
        Taken(text: "HTTP/1.1 200 OK\r\nX-A \t : 1\r\nContent-Length: 0\r\n\r\n", head: "HTTP/1.1 200 OK\r\nX-A: 1\r\n"),
        Taken(text: "HTTP/1.1 200 OK\r\nX-A :\r\nContent-Length : 2\r\n\r\nok", head: "HTTP/1.1 200 OK\r\nX-A:\r\n", body: "ok"),
        Taken(text: "HTTP/1.1 200 OK\r\nConnection : X-A\r\nX-A: 1\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n"),
        Taken(text: "HTTP/1.1 204 No\r\nX-A : a : b\r\n\r\n", head: "HTTP/1.1 204 No\r\nX-A: a : b\r\n"),
        Taken(text: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX-Sum : 1\r\n\r\n", trailers: "X-Sum: 1\r\n"),
        // A higher minor version (RFC 9110 section 2.5).
        Taken(text: "HTTP/1.2 200 OK\r\nContent-Length: 0\r\n\r\n"),
        Taken(text: "HTTP/1.9 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n", body: "a"),
        // The space of an empty reason (RFC 9112 section 4).
        Taken(text: "HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n", head: "HTTP/1.1 200 \r\n"),
        Taken(text: "HTTP/1.1 200 \r\nContent-Length: 0\r\n\r\n", head: "HTTP/1.1 200 \r\n"),
        // Equal lengths (RFC 9112 section 6.3).
        Taken(
            text: "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX: y\r\nContent-Length: 2\r\n\r\nok", head: "HTTP/1.1 200 OK\r\nX: y\r\n",
            body: "ok"),
        Taken(text: "HTTP/1.1 200 OK\r\nContent-Length: 2, 2,2\r\n\r\nok", body: "ok"),
        Taken(
            text: "HTTP/1.1 200 OK\r\nContent-Length: 2, 2\r\nX: y\r\nContent-Length: 2\r\n\r\n",
            head: "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX: y\r\n", isHeadRequest: true),
        Taken(
            text: "HTTP/1.1 304 No\r\nContent-Length : 2\r\nContent-Length: 2, 2\r\n\r\n", head: "HTTP/1.1 304 No\r\nContent-Length: 2\r\n"),
        // White space in the lines before chunks (RFC 9112 section 7.1.1), padding included.
        Taken(
            text: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1   \t\r\na\r\n1 ; a\t= b ; c = \"x y\" ;d\r\nb\r\n0 ;e \r\n\r\n",
            body: "ab"),
        // A lone LF in the head of HTTP/1.0 (RFC 9112 section 2.2).
        Taken(text: "HTTP/1.0 200 OK\nX: y\nContent-Length: 2\n\nok", head: "HTTP/1.1 200 OK\r\nX: y\r\n", body: "ok"),
        Taken(text: "HTTP/1.0 200 OK\r\nX : y\nZ: 1\r\n\nok", head: "HTTP/1.1 200 OK\r\nX: y\r\nZ: 1\r\n", body: "ok", isComplete: false),
        Taken(text: "HTTP/1.0 200\n\n", head: "HTTP/1.1 200 \r\n", isComplete: false),
        // The coding that is none (RFC 2616 section 3.6).
        Taken(text: "HTTP/1.1 200 OK\r\nTransfer-Encoding: Identity\r\n\r\nok", body: "ok", isComplete: false),
        Taken(text: "HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\nContent-Length: 2\r\n\r\nok", body: "ok"),
        Taken(text: "HTTP/1.0 200 OK\r\nTransfer-Encoding: identity\r\nContent-Length: 2\r\n\r\nok", body: "ok"),
    ]

    @Test(arguments: taken)
    func formIsTakenAndWrittenProperly(_ example: Taken) {
        let bytes = latin1(example.text)
        let whole = DecodedResponse(of: bytes, isHeadRequest: example.isHeadRequest)
        #expect(whole.error == nil)
        #expect(whole.heads == [example.head])
        #expect(String(decoding: whole.body, as: UTF8.self) == example.body)
        #expect(whole.trailers == example.trailers)
        #expect(whole.isComplete == example.isComplete)
        #expect(whole.endsWithConnection != example.isComplete)
        for place in 0...bytes.count { #expect(DecodedResponse(of: bytes, isHeadRequest: example.isHeadRequest, cuts: [place]) == whole) }
    }

    private static let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"

    /// The nearest forms that stay a 502; `ResponseDecoderTests` reads them.
    static let refused: [String] = [
        "HTTP/1.1 200 OK\r\nX A : 1\r\n\r\n", "HTTP/1.1 200 OK\r\n : 1\r\n\r\n", "HTTP/1.1 200 OK\r\n X: 1\r\n\r\n",
        "HTTP/1.1 200 OK\r\nX \r\n\r\n",
        "HTTP/1.1 200 OK\r\nX\u{B}: 1\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length\t: 1\r\n\r\n",
        "HTTP/1.1 200 OK\r\nX: y\r\nX\r: 1\r\n\r\n",
        chunked + "0\r\nX y: 1\r\n\r\n", chunked + "0\r\nContent-Length : 1\r\n\r\n",
        "HTTP/1.10 200 OK\r\n\r\n", "HTTP/1. 200 OK\r\n\r\n", "HTTP/2.0 200 OK\r\n\r\n", "HTTP/0.9 200 OK\r\n\r\n",
        "HTTP/1.x 200 OK\r\n\r\n",
        "HTTP/1.1 200\tOK\r\n\r\n", "HTTP/1.1 200OK\r\n\r\n", "HTTP/1.1 20\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 5, 6\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 5,\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: ,5\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 5 5\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: +5\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length:\r\n\r\n",
        "HTTP/1.1 304 No\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
        chunked + " 1\r\na\r\n", chunked + "1 1\r\na\r\n", chunked + "1 a\r\na\r\n", chunked + "1 ;\r\na\r\n", chunked + "1; =b\r\na\r\n",
        chunked + "1;a= \r\na\r\n",
        chunked + "1;a b\r\na\r\n", chunked + "1\u{C}\r\na\r\n", chunked + "1 \r \r\na\r\n", chunked + "1\na\r\n", chunked + "1\r\na\n",
        chunked + "1" + String(repeating: " ", count: 1_024) + "\r\na\r\n",
        "HTTP/1.1 200 OK\nX: y\n\n", "HTTP/1.1 200 OK\r\nX: y\n\r\n", "HTTP/1.1 200 OK\r\nX: y\r\n\n", "HTTP/1.0 200 OK\rX: y\r\n\r\n",
        "HTTP/1.0 200 OK\nX: y\r\r\n\n",
        "HTTP/1.2 200 OK\nX: y\n\n", "\nHTTP/1.0 200 OK\n\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: identity, chunked\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, identity\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\nTransfer-Encoding: chunked\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\nTransfer-Encoding: identity\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: identity;q=1\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding:\r\n\r\n", "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    ]

    /// A client that parses the original lines must not find another length of the body than we do.
    @Test(arguments: ["Content-Length : 2", "Transfer-Encoding : chunked"])
    func framingFieldWithSpaceIsRefusedWhereAnotherReadsIt(field: String) {
        var assembler = ResponseHeadAssembler()
        assembler.isFramedByOther = true
        assembler.reset(isHeadRequest: false)
        #expect(throws: FramingError.self) { try responseHeads("HTTP/1.1 200 OK\r\n\(field)\r\n\r\n", to: &assembler) }
        assembler.reset(isHeadRequest: false)
        #expect(throws: Never.self) { try responseHeads("HTTP/1.1 200 OK\r\nX : y\r\n\r\n", to: &assembler) }
    }

    /// A server that keeps room for eight digits must not fail at its thousandth chunk.
    @Test func paddingOfChunkSizesDoesNotCountAsExtensions() {
        let text = Self.chunked + String(repeating: "1       \r\na\r\n", count: 10_000) + "0       \r\n\r\n"
        let decoded = DecodedResponse(of: latin1(text))
        #expect(decoded.isComplete && decoded.body.count == 10_000)
        let endless = Self.chunked + String(repeating: "1" + String(repeating: " ", count: 1_000) + "\r\na\r\n", count: 20)
        #expect(DecodedResponse(of: latin1(endless)).error?.status == 502)
    }

    /// None of these inputs has the end of a line.
    @Test(
        arguments: [
            ([0x53, 0x53, 0x48, 0x2D], "not HTTP"), ([0x15, 0x03, 0x01, 0x00, 0x02, 0x02, 0x46], "TLS"), ([0x15, 0x09], "not HTTP"),
            ([0x48, 0x54, 0x54, 0x50, 0x53], "not HTTP"),
            ([0, 0, 0, 4, 0, 0, 0, 0, 0], "HTTP/2"), ([0, 0, 0, 5], "not HTTP"), ([0, 0, 0, 4, 1], "not HTTP"), ([0xFF], "not HTTP"),
            ([0x0D], "not HTTP"),
        ] as [([UInt8], String)])
    func bytesOfAnotherProtocolAreRefusedAtOnce(bytes: [UInt8], what: String) {
        let whole = DecodedResponse(of: bytes)
        #expect(whole.error?.reason.description.contains(what) == true)
        #expect(DecodedResponse(of: bytes, cuts: Array(0...bytes.count)).error == whole.error)
        #expect(DecodedResponse(of: latin1("HTTP/1.1 103 Early\r\n\r\n") + bytes).error == whole.error)
    }

    @Test(arguments: [[0x48], [0x48, 0x54, 0x54, 0x50], [0], [0, 0, 0, 4, 0, 0], [0x15]] as [[UInt8]])
    func bytesThatMayStillBecomeAKnownBeginningAreKept(bytes: [UInt8]) {
        #expect(DecodedResponse(of: bytes).error == nil)
    }
}
