import NIOCore
import NIOHPACK
import Testing

@testable import LayoverProxy

/// Heads of HTTP/2, as those of HTTP/1.1.
struct HTTP2RequestHeadTests {
    private static let plain: [(String, String)] = [(":method", "GET"), (":scheme", "https"), (":authority", "o.test"), (":path", "/a?b")]

    private func text(_ fields: [(String, String)], endsStream: Bool = true) throws -> String {
        String(buffer: try HTTP2RequestHead(HPACKHeaders(fields), endsStream: endsStream).bytes)
    }

    /// Cookies are joined. The wish for trailers is for the next recipient. `:authority` counts, not the Host.
    @Test(arguments: [
        ([("x-a", "1"), ("accept", "*/*")], "x-a: 1\r\naccept: */*\r\n"), ([("te", "trailers")], "te: trailers\r\nconnection: te\r\n"),
        ([("cookie", "a=1"), ("x", "y"), ("cookie", "b=2")], "x: y\r\ncookie: a=1; b=2\r\n"), ([("host", "O.TEST")], ""),
    ])
    func headIsWrittenInTheOtherVersion(fields: [(String, String)], lines: String) throws {
        #expect(try text(Self.plain + fields) == "GET /a?b HTTP/1.1\r\nhost: o.test\r\n\(lines)\r\n")
    }

    @Test(arguments: [
        ("GET", nil, true, ""), ("POST", nil, true, "content-length: 0\r\n"), ("POST", "0", true, "content-length: 0\r\n"),
        ("GET", "0", true, "content-length: 0\r\n"), ("POST", "5", false, "content-length: 5\r\n"), ("POST", nil, false, "transfer-encoding: chunked\r\n"),
        ("GET", nil, false, "transfer-encoding: chunked\r\n"), ("POST", "0", false, "content-length: 0\r\n"),
    ] as [(String, String?, Bool, String)])
    func bodyIsFramed(method: String, length: String?, endsStream: Bool, lines: String) throws {
        let fields = [(":method", method)] + Self.plain.dropFirst() + (length.map { [("content-length", $0)] } ?? [])
        #expect(try text(fields, endsStream: endsStream) == "\(method) /a?b HTTP/1.1\r\nhost: o.test\r\n\(lines)\r\n")
    }

    @Test func hostStandsInForTheAuthority() throws {
        #expect(try text(Self.plain.filter { $0.0 != ":authority" } + [("host", "O.test")]).contains("\r\nhost: O.test\r\n"))
    }

    @Test func connectKeepsItsForm() throws {
        #expect(try text([(":method", "CONNECT"), (":authority", "o.test:1")]) == "CONNECT o.test:1 HTTP/1.1\r\nhost: o.test:1\r\n\r\n")
    }

    /// Each would let a client say two things at once, or write into the connection behind.
    @Test(arguments: [
        [(":path", "")], [(":path", "a")], [(":path", "/ x")], [(":path", "/\r\nx: y")], [(":path", "*")], [(":method", "")], [(":method", "GE T")],
        [(":scheme", "http")], [(":scheme", "")], [(":authority", "o test")], [(":authority", "o\r\nx: y")], [(":protocol", "websocket")], [(":status", "200")],
        [("host", "other.test")], [("host", "o.test"), ("host", "o.test")], [("X-A", "1")], [("x a", "1")], [("", "1")], [("x:a", "1")],
        [("connection", "close")], [("transfer-encoding", "chunked")], [("keep-alive", "1")], [("upgrade", "h2c")], [("proxy-connection", "close")],
        [("te", "gzip")], [("te", "trailers, gzip")], [("x", "a\r\nb")], [("x", "a\nb")], [("x", "a\0")], [("x", " a")], [("x", "a\t")],
        [("content-length", "-1")], [("content-length", "1"), ("content-length", "2")], [("content-length", "")], [("content-length", "3")],
        [("content-length", "99999999999999999999")], [("x", "1"), (":path", "/b")],
    ] as [[(String, String)]])
    func malformedHeadIsRefused(change: [(String, String)]) {
        var fields = Self.plain.filter { field in !change.contains { $0.0 == field.0 && $0.0.hasPrefix(":") } }
        if change.first?.0 == "x", change.count == 2 { fields = Self.plain }
        #expect(throws: HTTP2RequestHead.Malformed.self) { try text(fields + change) }
    }

    @Test(arguments: [":method", ":scheme", ":path", ":authority"])
    func pseudoHeaderFieldsAreNeededOnce(name: String) {
        let without = Self.plain.filter { $0.0 != name }
        #expect(throws: HTTP2RequestHead.Malformed.self) { try text(without) }
        #expect(throws: HTTP2RequestHead.Malformed.self) { try text(Self.plain + Self.plain.filter { $0.0 == name }) }
    }
}
