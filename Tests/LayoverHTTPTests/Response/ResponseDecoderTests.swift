import LayoverHTTP
import NIOCore
import Testing

/// Whole responses from the bytes of a connection.
struct ResponseDecoderTests {
    private func decode(_ text: String, cuts: [Int] = []) -> DecodedResponse {
        DecodedResponse(of: latin1(text), cuts: cuts)
    }

    @Test(
        arguments: [
            ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", [200], "ok", true),
            ("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", [200], "", true),
            ("HTTP/1.1 204 No Content\r\n\r\n", [204], "", true),
            ("HTTP/1.1 103 Early\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", [103, 200], "ok", true),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\no\r\n1;a=b\r\nk\r\n0\r\n\r\n", [200], "ok", true),
            ("HTTP/1.0 200 OK\r\n\r\nok", [200], "ok", false),
            ("HTTP/1.1 200 OK\r\n\r\nok", [200], "ok", false),
        ] as [(String, [Int], String, Bool)])
    func responseIsReadTheSameWayHoweverItIsCut(text: String, statuses: [Int], body: String, isComplete: Bool) {
        let whole = decode(text)
        #expect(whole.statuses == statuses)
        #expect(String(decoding: whole.body, as: UTF8.self) == body)
        #expect(whole.isComplete == isComplete)
        #expect(whole.endsWithConnection != isComplete)
        for place in 0...text.utf8.count { #expect(decode(text, cuts: [place]) == whole) }
        #expect(decode(text, cuts: Array(0...text.utf8.count)) == whole)
    }

    @Test func bytesBehindTheEndAreLeft() {
        for text in ["Content-Length: 2\r\n\r\nok", "Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"] {
            let decoded = decode("HTTP/1.1 200 OK\r\n" + text + "HTTP/1.1 200 OK\r\n\r\npoison")
            #expect(decoded.isComplete)
            #expect(String(decoding: decoded.body, as: UTF8.self) == "ok")
            #expect(String(decoding: decoded.rest, as: UTF8.self) == "HTTP/1.1 200 OK\r\n\r\npoison")
        }
    }

    @Test func trailersAreKeptAsTheyCame() {
        let decoded = decode("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX-Sum: 1\r\nx-sum:  2\r\nHost-Not: \r\n\r\n")
        #expect(decoded.trailers == "X-Sum: 1\r\nx-sum:  2\r\nHost-Not: \r\n")
    }

    private static let malformed = [
        "HTTP/1.1 200 OK\nContent-Length: 0\r\n\r\n", "\r\nHTTP/1.1 200 OK\r\n\r\n", "HTTP/2 200\r\n\r\n", "ICY 200 OK\r\n\r\n",
        "HTTP/1.1 2x0 OK\r\n\r\n", "HTTP/1.1 099 OK\r\n\r\n", "HTTP/1.1 101 Switching\r\nUpgrade: x\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
        "HTTP/1.1 200 OK\r\n A: folded\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfg\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\naXX",
        "HTTP/1.1 100 Continue\r\nContent-Length: 1\r\n\r\n",
    ]

    @Test(arguments: malformed + ResponseLeniencyTests.refused)
    func malformedResponseIsRefusedHoweverItIsCut(text: String) {
        let bytes = latin1(text)
        let whole = DecodedResponse(of: bytes)
        #expect(whole.error?.status == 502)
        #expect(DecodedResponse(of: bytes, cuts: Array(0...bytes.count)).error == whole.error)
    }

    @Test func headsAreBoundedEvenWithoutALineEnd() {
        var limits = FramingLimits()
        limits.headByteCountMax = 1000
        for text in ["HTTP/" + String(repeating: "H", count: 995), "HTTP/1.1 200 OK\r\nX: " + String(repeating: "y", count: 1000)] {
            let decoded = DecodedResponse(of: latin1(text), limits: limits)
            #expect(decoded.error?.isSizeOfHead == true && decoded.error?.isLengthOfHead == true)
            #expect(decoded.error?.isSizeOfTrailers == false)
        }
        let fits = "HTTP/1.1 200 OK\r\nX: " + String(repeating: "y", count: 974) + "\r\n\r\n"
        #expect(fits.utf8.count == 998)
        #expect(DecodedResponse(of: latin1(fits), limits: limits).statuses == [200])
    }

    @Test func longBodyComesInBoundedPieces() throws {
        var limits = FramingLimits()
        limits.bodyEventByteCountMax = 100
        for framing in ["Content-Length: 1000", "Transfer-Encoding: chunked", "X: y"] {
            var decoder = ResponseDecoder(limits: limits)
            decoder.reset(isHeadRequest: false)
            var input = ByteBuffer(string: "HTTP/1.1 200 OK\r\n\(framing)\r\n\r\n")
            if framing.hasSuffix("chunked") { input.writeString("3e8\r\n") }
            input.writeRepeatingByte(0x61, count: 1000)
            var sizes: [Int] = []
            while let event = try decoder.next(&input) { if case .body(let bytes) = event { sizes.append(bytes.readableBytes) } }
            #expect(sizes == Array(repeating: 100, count: 10))
        }
    }

    @Test func resetClearsAllStateOfTheDecoder() {
        var decoder = ResponseDecoder()
        var input = ByteBuffer(string: "HTTP/1.1 200 OK\nX")
        #expect(throws: FramingError.self) {
            decoder.reset(isHeadRequest: false)
            _ = try decoder.next(&input)
        }
        #expect(throws: FramingError.self) { _ = try decoder.next(&input) }
        var good = ByteBuffer(string: "HTTP/1.1 204 OK\r\n\r\n")
        decoder.reset(isHeadRequest: false)
        #expect(throws: Never.self) { while try decoder.next(&good) != nil {} }
        #expect(decoder.isComplete)
    }
}
