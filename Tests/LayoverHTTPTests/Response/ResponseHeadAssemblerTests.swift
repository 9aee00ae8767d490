import LayoverHTTP
import NIOCore
import Testing

struct ResponseHeadAssemblerTests {
    private func heads(_ text: String, isHeadRequest: Bool = false, isConnect: Bool = false, allowsUpgrade: Bool = false) throws
        -> [ResponseHead]
    {
        var assembler = ResponseHeadAssembler()
        assembler.reset(isHeadRequest: isHeadRequest, isConnect: isConnect, allowsUpgrade: allowsUpgrade)
        return try responseHeads(text, to: &assembler)
    }

    @Test func headIsForwardedWithoutItsFraming() throws {
        let head = try #require(
            try heads(
                "HTTP/1.0 200 All \u{FC}ber\r\nx-A:  1 \r\nContent-Length: 3\r\nX-a:2\r\nVia: 1.1 b\r\nSet-Cookie: \u{FF}\r\nSet-Cookie: b\r\n\r\n"
            ).first)
        #expect(head.status == 200)
        #expect(head.minorVersion == 0)
        #expect(head.framing == .length(3))
        #expect(head.contentLength == 3)
        #expect(head.hasVia)
        #expect(!head.isInterim)
        #expect(
            head.bytes.visible == "HTTP/1.1 200 All \u{FC}ber\r\nx-A:  1 \r\nX-a:2\r\nVia: 1.1 b\r\nSet-Cookie: \u{FF}\r\nSet-Cookie: b\r\n"
        )
        #expect(head.fields().values(.setCookie).count == 2)
        #expect(head.fields().values(of: "x-a").map(head.fields().string) == ["1", "2"])
    }

    @Test func placeOfTheFramingAndTheDateAreNoted() throws {
        let head = try #require(try heads("HTTP/1.1 200 OK\r\nA: 1\r\nContent-Length: 3\r\nDate: x\r\n\r\n").first)
        #expect(head.framingPlace == "HTTP/1.1 200 OK\r\nA: 1\r\n".utf8.count)
        #expect(head.hasDate)
        let bare = try #require(try heads("HTTP/1.1 200 OK\r\nA: 1\r\n\r\n").first)
        #expect(bare.framingPlace == nil && !bare.hasDate)
        let dated = bare.dated(by: latin1("Date: y\r\n"))
        #expect(dated.hasDate && dated.bytes.visible == "HTTP/1.1 200 OK\r\nA: 1\r\nDate: y\r\n")
    }

    @Test(arguments: [
        ("200 OK\r\nContent-Length: 0", ResponseFraming.length(0)), ("200 OK\r\nTransfer-Encoding: Chunked", .chunked),
        ("200 OK\r\nX: 1", .untilClose),
        ("204 No\r\nContent-Length: 0", .none), ("304 Not\r\nContent-Length: 5", .none), ("200\r\nX: 1", .untilClose),
        ("599 \r\nContent-Length: 1", .length(1)),
        ("600 X\r\nContent-Length: 1", .length(1)), ("999 X\r\nTransfer-Encoding: chunked", .chunked),
        ("204 No\r\nContent-Length: 5", .none),
        ("204 No\r\nTransfer-Encoding: chunked", .none),
    ])
    func framingFollowsStatusAndFields(text: String, framing: ResponseFraming) throws {
        #expect(try heads("HTTP/1.1 \(text)\r\n\r\n").map(\.framing) == [framing])
    }

    @Test func lengthStaysWhereNoBodyFollows() throws {
        let text = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"
        let head = try #require(try heads(text, isHeadRequest: true).first)
        #expect(head.framing == .none && head.contentLength == 5)
        #expect(head.bytes.visible == "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n")
        let chunked = try #require(try heads("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", isHeadRequest: true).first)
        #expect(chunked.framing == .none)
        #expect(chunked.bytes.visible == "HTTP/1.1 200 OK\r\n")
        #expect(try heads("HTTP/1.1 304 x\r\nContent-Length: 7\r\n\r\n").first?.bytes.visible == "HTTP/1.1 304 x\r\nContent-Length: 7\r\n")
        #expect(try heads(text, isConnect: true).first?.framing == ResponseFraming.none)
    }

    /// RFC 9110 section 9.3.6.
    @Test(arguments: [
        "Content-Length: 2\r\nContent-Length: 3", "Content-Length: -2", "Content-Length: two", "Content-Length: 99999999999999999999",
        "Content-Length: 2\r\nTransfer-Encoding: chunked", "Transfer-Encoding: frobnicate", "Transfer-Encoding: chunked, chunked",
    ])
    func framingOfAResponseToConnectIsIgnored(fields: String) throws {
        for version in ["1.0", "1.1"] {
            let text = "HTTP/\(version) 200 OK\r\n\(fields)\r\nX: 1\r\n\r\n"
            let head = try #require(try heads(text, isConnect: true).first)
            #expect(head.framing == .none && head.contentLength == nil)
            #expect(head.bytes.visible == "HTTP/1.1 200 OK\r\nX: 1\r\n")
            #expect(throws: FramingError.self) { try heads(text) }
        }
        #expect(try heads("HTTP/1.1 503 Busy\r\n\(fields)\r\n\r\n", isConnect: true).map(\.status) == [503], "its body is not read")
    }

    /// Nothing of it is passed on to another parser.
    @Test func loneLineFeedsEndLinesOfAResponseToConnect() throws {
        let text = "HTTP/1.1 200 OK\nX: 1\n\n"
        #expect(try heads(text, isConnect: true).map(\.status) == [200])
        #expect(throws: FramingError.self) { try heads(text) }
    }

    @Test func hopByHopFieldsOfTheResponseAreRemoved() throws {
        let head = try #require(
            try heads(
                "HTTP/1.1 200 OK\r\nX-B: 1\r\nConnection: x-b, Via, Keep-Alive\r\nKeep-Alive: timeout=5\r\nVia: 1.1 c\r\nX-C: 2\r\nx-b: 3\r\nProxy-Authenticate: Basic\r\nProxy-Connection: close\r\nUpgrade: h2c\r\nTE: x\r\nTrailer: X\r\n\r\n"
            ).first)
        #expect(head.bytes.visible == "HTTP/1.1 200 OK\r\nVia: 1.1 c\r\nX-C: 2\r\nTrailer: X\r\n")
    }

    @Test func interimHeadsPrecedeTheFinalOne() throws {
        let all = try heads(
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early\r\nLink: a\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n")
        #expect(all.map(\.status) == [100, 103, 200])
        #expect(all.map(\.isInterim) == [true, true, false])
        #expect(all[1].bytes.visible == "HTTP/1.1 103 Early\r\nLink: a\r\n")
    }

    @Test func upgradeIsAcceptedOnlyIfRequested() throws {
        let text = "HTTP/1.1 101 Switching\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n"
        let head = try #require(try heads(text, allowsUpgrade: true).first)
        #expect(!head.isInterim)
        #expect(head.bytes.visible == "HTTP/1.1 101 Switching\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n")
        #expect(throws: FramingError.self) { try heads(text) }
    }

    @Test(arguments: [
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length:\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, chunked\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n",
        "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
        "HTTP/1.1 100 C\r\nContent-Length: 5\r\n\r\n", "HTTP/1.1 099 X\r\n\r\n", "HTTP/1.1 1000 X\r\n\r\n", "HTTP/1.1 20 X\r\n\r\n",
        "HTTP/1.1 2000 X\r\n\r\n", "HTTP/1.1 +20 X\r\n\r\n",
        "HTTP/1.1  200 X\r\n\r\n", "HTTP/1.1 200OK\r\n\r\n", "HTTP/2 200 \r\n\r\n", "HTTP/2.0 200 OK\r\n\r\n", "http/1.1 200 OK\r\n\r\n",
        "ICY 200 OK\r\n\r\n",
        "\r\n", "HTTP/1.1 200 O\0K\r\n\r\n", "HTTP/1.1 200 O\rK\r\n\r\n", "HTTP/1.1 200 OK\n\r\n", "HTTP/1.1 200 OK\r\nX: 1\n\r\n",
        "HTTP/1.1 200 OK\r\nX: 1\r\n\n",
        "HTTP/1.1 200 OK\r\nX: a\rb\r\n\r\n", "HTTP/1.1 200 OK\r\nX: a\0b\r\n\r\n", "HTTP/1.1 200 OK\r\nX: 1\r\n 2\r\n\r\n",
        "HTTP/1.1 200 OK\r\n: 1\r\n\r\n", "HTTP/1.1 200 OK\r\nX\r\n\r\n", "HTTP/1.1 200 OK\r\n\r\nX: 1\r\n", "HTTP/1.1 200 OK\r\nX: 1",
        "HTTP/1.1 200 OK\r\n" + String(repeating: "X: 1\r\n", count: 1_001),
        "HTTP/1.1 200 OK\r\n" + String(repeating: "X: " + String(repeating: "a", count: 1_000) + "\r\n", count: 70),
        String(repeating: "HTTP/1.1 100 Continue\r\n\r\n", count: 65),
        "HTTP/1.1 200 OK\r\nX: " + String(repeating: "a", count: 70_000) + "\r\n\r\n",
    ])
    func malformedHeadIsABadGatewayForGood(text: String) {
        var assembler = ResponseHeadAssembler()
        assembler.reset(isHeadRequest: false)
        var errors: [FramingError] = []
        for text in [text, "HTTP/1.1 200 OK\r\n\r\n"] {
            do throws(FramingError) {
                _ = try responseHeads(text, to: &assembler)
            } catch {
                errors.append(error)
            }
        }
        #expect(errors.count == 2)
        #expect(errors.first == errors.last)
        #expect(errors.allSatisfy { $0.status == 502 })
    }

    @Test func resetForgetsTheTransferBefore() throws {
        var assembler = ResponseHeadAssembler()
        assembler.reset(isHeadRequest: true)
        _ = try responseHeads("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: X\r\nVia: 1.1 a\r\n", to: &assembler)
        assembler.reset(isHeadRequest: false)
        let heads = try responseHeads("HTTP/1.1 200 OK\r\nX: 1\r\n\r\n", to: &assembler)
        #expect(heads.map(\.bytes.visible) == ["HTTP/1.1 200 OK\r\nX: 1\r\n"])
        #expect(heads.map(\.framing) == [.untilClose])
        #expect(heads.map(\.hasVia) == [false])
    }
}
