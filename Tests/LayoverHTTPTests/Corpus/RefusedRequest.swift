import Testing

/// Bytes that must be refused, with the statuses that are right.
struct RefusedRequest: Sendable, CustomTestStringConvertible {
    var name: String
    var bytes: [UInt8]
    var status: Int

    init(_ name: String, _ text: String, _ status: Int = 400) {
        self.name = name
        bytes = latin1(text)
        self.status = status
    }

    /// A request whose only flaw is in its fields.
    static func fields(_ name: String, _ lines: String, _ status: Int = 400) -> Self {
        .init(name, "POST / HTTP/1.1\r\nHost: a\r\n\(lines)\r\n\r\n", status)
    }

    /// A request whose only flaw is in its first line.
    static func line(_ line: String, _ status: Int = 400) -> Self {
        .init(line.debugDescription, "\(line)\r\nHost: a\r\n\r\n", status)
    }

    /// A request whose only flaw is in its target.
    static func target(_ target: String, _ status: Int = 400, method: String = "GET") -> Self {
        .init("\(method) \(target)", "\(method) \(target) HTTP/1.1\r\nHost: a\r\n\r\n", status)
    }

    /// A request whose only flaw is its Host.
    static func host(_ host: String) -> Self {
        .init("Host: \(host)", "GET / HTTP/1.1\r\nHost: \(host)\r\n\r\n")
    }

    /// A chunked body with a flaw.
    static func chunks(_ name: String, _ body: String) -> Self {
        .init("chunks: \(name)", AcceptedRequest.chunkedHead + body)
    }

    var testDescription: String { name }
}

extension RefusedRequest {
    static let all: [RefusedRequest] = lines + requestLines + heads + targets + hosts + framing + chunked

    static let lines: [RefusedRequest] = [
        .fields("space before colon", "X : 1"), .fields("tab before colon", "X\t: 1"),
        .fields("length with space before colon", "Content-Length : 5"),
        .fields("empty name", ": 1"), .fields("no colon", "X"), .fields("no colon with space", "X 1"),
        .fields("name with space", "X Y: 1"), .fields("name with quote", "\"X\": 1"),
        .fields("name with obs-text", "X\u{E9}: 1"), .fields("name with NUL", "X\0: 1"),
        .fields("name with slash", "X/Y: 1"), .fields("name in parentheses", "(X): 1"),
        .fields("folded by space", "X: 1\r\n 2"), .fields("folded by tab", "X: 1\r\n\t2"),
        .fields("only white space", " "),
        .init("folded first field", "GET / HTTP/1.1\r\n Host: a\r\n\r\n"),
        .fields("NUL in value", "X: a\0b"), .fields("control in value", "X: a\u{01}b"),
        .fields("vertical tab in value", "X: \u{0B}a"), .fields("DEL in value", "X: \u{7F}"),
        .fields("escape in a long value", "X: aaaaaaaaaaaaaaaaaaaaa\u{1B}[31mbbbbbbbb"),
        .fields("bare CR in value", "X: a\rb"), .fields("bare CR at the end", "X: a\r"),
        .fields("bare CR before colon", "X\r: 1"), .fields("CR as value", "X:\r"),
        .init("bare LF after request line", "GET / HTTP/1.1\nHost: a\r\n\r\n"),
        .init("bare LF after field", "GET / HTTP/1.1\r\nHost: a\n\r\n"),
        .init("bare LF as the end", "GET / HTTP/1.1\r\nHost: a\r\n\n"),
        .init("bare LF before", "\nGET / HTTP/1.1\r\nHost: a\r\n\r\n"),
        .init("bare CR before", "\rGET / HTTP/1.1\r\nHost: a\r\n\r\n"),
        .init("two empty lines before", "\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n"),
        .init("space before", " GET / HTTP/1.1\r\nHost: a\r\n\r\n"),
        .init("TLS handshake", "\u{16}\u{03}\u{01}\u{02}\0\u{01}\0"),
    ]

    static let requestLines: [RefusedRequest] = [
        "GET /", "GET / ", "GET / http/1.1", "GET / HTtP/1.1", "GET / XTTP/1.1", "GET / HTTP/2", "GET / HTTP/1.10",
        "GET / HTTP/01.1", "GET / HTTP/1,1", "GET / HTTP/+1.1", "GET / x HTTP/1.1", "GET / HTTP/1.1 x", "GET / HTTP/1.1 ",
        "GET  / HTTP/1.1", "GET /  HTTP/1.1", "GET\t/ HTTP/1.1", "GET /\tHTTP/1.1", "G:T / HTTP/1.1", "G\u{C9}T / HTTP/1.1",
        "G\0T / HTTP/1.1", "GET /\r HTTP/1.1", "GET / HTTP/1.1\0",
    ].map { .line($0) }

    static let heads: [RefusedRequest] = [
        .init("only a method", "GET\r\n\r\n"), .line("GET / HTTP/2.0", 505), .line("GET / HTTP/1.2", 505),
        .init("HTTP/0.9", "GET / HTTP/0.9\r\n\r\n"), .init("HTTP/2 preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505),
        .init("long request line", "GET /" + String(repeating: "a", count: 70_000) + " HTTP/1.1\r\nHost: a\r\n\r\n", 414),
        .init("endless request line", "GET /" + String(repeating: "a", count: 70_000), 414),
        .init("long field", "GET / HTTP/1.1\r\nHost: a\r\nX: " + String(repeating: "a", count: 70_000) + "\r\n\r\n", 431),
        .init("endless field", "GET / HTTP/1.1\r\nHost: a\r\nX: " + String(repeating: "a", count: 70_000), 431),
        .init("many fields", "GET / HTTP/1.1\r\nHost: a\r\n" + String(repeating: "X:1\r\n", count: 1_100) + "\r\n", 431),
        .init("many long fields", "GET / HTTP/1.1\r\nHost: a\r\n" + String(repeating: "X: " + String(repeating: "b", count: 500) + "\r\n", count: 200), 431),
    ]

    static let targets: [RefusedRequest] = [
        "/a#b", "/#", "http://a/#x", "http://a#x", "/\u{E9}", "/\u{80}", "/\0", "/\u{7F}", "/a\tb", "/aaaaaaaaaaaaaa\u{FF}aaaaaaa",
        "http://a@b@c/", "http://u:p@/", "http://u:p@", "http://u:p@a:0/", "http://u%@a/", "http://u%4@a/", "http://u%4g@a/", "http://[u]@a/", "http://u\"@a/",
        "http://u|p@a/", "http://u^@a/", "http://\u{E9}@a/", "http://a\\@b/",
        "http://a:0/", "http://a:65536/", "http://a:99999999999999999999/", "http://a:+80/", "http://a:-1/", "http://a:x/",
        "http://a:80x/", "http://a:/", "http://a: 80/", "http://a::80/", "http://a:8 0/", "http://:80/", "http:///p", "http://", "http://?x",
        "ftp://a/", "file:///etc/passwd", "gopher://a/", "ws://a/", "httpx://a/", "javascript:x", "http:a", "http:/a", "http:", "http", "://a/", ":",
        "a.example", "a.example:80", "a.example:443", "*", "*/", "?x", "[::1]", "\\",
        "http://[::1/", "http://::1/", "http://[]/", "http://[::1]x/", "http://[::1]:/", "http://[1:2:3]/", "http://[::1%25eth0]/",
        "http://[::1::2]/", "http://[1:2:3:4:5:6:7:8:9]/", "http://[:1]/", "http://[1:]/", "http://[::12345]/", "http://[::1.2.3]/",
        "http://[::1.2.3.256]/", "http://[v1.a]/", "http://[::g]/", "http://[1:2:3:4:5:6:7:1.2.3.4]/", "http://[::1.2.3.4:1]/", "http://[:::]/",
        "http://a..b/", "http://.a/", "http://./", "http://a,b/", "http://a;b/", "http://a%41/", "http://\u{E9}/", "http://a b/",
        "http://\(String(repeating: "a", count: 64)).b/", "http://\(String(repeating: "a.", count: 130))/", "http://a\"/", "http://a|b/",
    ].map { .target($0) } + [
        "/", "*", "a.example", "http://a.example:443", "https://a:443/", "a.example:443/", "u@a:443", "a:0", "a:65536", "a:https", ":443", "a:", "a:443#", "[::1]", "a:+443",
    ].map { .target($0, method: "CONNECT") } + [.target("a:443", method: "connect"), .target("a:443", method: "OPTIONS")]

    static let hosts: [RefusedRequest] = [
        "", "a b", "a,b", "a/b", "u@a", "a:0", "a:65536", "a:x", "a:", "a:80:80", "http://a", "[::1", "::1", "a#", "a?b", "\u{E9}", "a;b",
        "\"a\"", "a\\b", "..", "*", "a:+1", "[::1]a", "%61",
    ].map { .host($0) } + [
        .init("no Host", "GET / HTTP/1.1\r\n\r\n"), .init("no Host in absolute form", "GET http://a/ HTTP/1.1\r\n\r\n"),
        .init("no Host with CONNECT", "CONNECT a:443 HTTP/1.1\r\n\r\n"),
        .init("two Hosts", "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"), .init("two equal Hosts", "GET / HTTP/1.1\r\nHost: a\r\nhost: a\r\n\r\n"),
        .init("two Hosts in 1.0", "GET / HTTP/1.0\r\nHost: a\r\nHost: a\r\n\r\n"), .init("bad Host in 1.0", "GET / HTTP/1.0\r\nHost: a b\r\n\r\n"),
        .init("two Hosts in absolute form", "GET http://a/ HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n"),
        .init("bad Host in absolute form", "GET http://a/ HTTP/1.1\r\nHost: u@a\r\n\r\n"),
    ]

    static let framing: [RefusedRequest] = [
        "", "+5", "-5", "-0", "5,5", "5, 5", "5,", "0x5", "5 5", "5.0", "5e0", "five", "9223372036854775808", "18446744073709551621",
        "99999999999999999999", "00000000000000000005", "\u{FF}", "5;", "\"5\"",
    ].map { .fields("Content-Length: \($0)", "Content-Length: \($0)") } + [
        .fields("two lengths", "Content-Length: 5\r\nContent-Length: 6"),
        .fields("two equal lengths", "Content-Length: 5\r\ncontent-length: 5"),
        .fields("length and encoding", "Content-Length: 5\r\nTransfer-Encoding: chunked"),
        .fields("encoding and length", "Transfer-Encoding: chunked\r\nContent-Length: 0"),
        .fields("two encodings", "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked"),
        .fields("encoding after another", "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity"),
        .fields("folded encoding", "Transfer-Encoding:\r\n chunked"),
        .fields("unknown coding", "Transfer-Encoding: gzip", 501), .fields("identity", "Transfer-Encoding: identity", 501),
        .fields("length and encoding in capitals", "Content-Length: 5\r\nTransfer-Encoding: CHUNKED"),
        .fields("encoding in capitals and length", "Transfer-Encoding: CHUNKED\r\nContent-Length: 0"),
        .fields("two encodings in two cases", "Transfer-Encoding: chunked\r\nTransfer-Encoding: Chunked"),
        .init("encoding in capitals in 1.0", "POST / HTTP/1.0\r\nTransfer-Encoding: CHUNKED\r\n\r\n0\r\n\r\n"),
        .fields("tab before the coding", "Transfer-Encoding:\tchunked"), .fields("tab behind the coding", "Transfer-Encoding: chunked\t "),
        .fields("tab before the length", "Content-Length: \t5"), .fields("tab behind the length", "Content-Length: 5 \t"),
        .fields("xchunked", "Transfer-Encoding: xchunked", 501), .fields("unknown coding with length", "Content-Length: 3\r\nTransfer-Encoding: x", 501),
        .init("encoding in 1.0", "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
        .init("CONNECT with length", "CONNECT a:443 HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc"),
        .init("CONNECT with chunks", "CONNECT a:443 HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
        .init("bad Max-Forwards", "TRACE / HTTP/1.1\r\nHost: a\r\nMax-Forwards: x\r\n\r\n"),
        .init("two Max-Forwards", "OPTIONS / HTTP/1.1\r\nHost: a\r\nMax-Forwards: 1\r\nMax-Forwards: 2\r\n\r\n"),
    ] + [
        "", "chunked, chunked", "gzip, chunked", "chunked, gzip", ",chunked", "chunked,", "chunked;x=1", "chunked chunked", "\u{0B}chunked",
        "chunked\u{0B}", "\"chunked\"", "chun\tked", "chunked\u{A0}", "chunked\0",
    ].map { .fields("Transfer-Encoding: \($0)", "Transfer-Encoding: \($0)") } + [
        "Host", "authorization", "COOKIE", "Content-Length", "Transfer-Encoding", "close, Host", "X-A , ,Cookie,keep-alive", "X\r\nConnection: Host",
    ].map { .fields("Connection: \($0)", "Connection: \($0)\r\nAuthorization: a\r\nCookie: b\r\nContent-Length: 0") }

    static let chunked: [RefusedRequest] = [
        .chunks("no size", "\r\nhello\r\n0\r\n\r\n"), .chunks("no digit", "g\r\n"), .chunks("hex prefix", "0x5\r\nhello\r\n0\r\n\r\n"),
        .chunks("signed", "+5\r\nhello\r\n0\r\n\r\n"), .chunks("negative", "-1\r\n"), .chunks("space before", " 5\r\nhello\r\n0\r\n\r\n"),
        .chunks("space after", "5 \r\nhello\r\n0\r\n\r\n"), .chunks("tab after", "5\t\r\nhello\r\n0\r\n\r\n"),
        .chunks("comma", "5,5\r\nhello\r\n0\r\n\r\n"), .chunks("underscore", "1_0\r\n"), .chunks("overflow", "ffffffffffffffff\r\nx"),
        .chunks("wrap to 5", "10000000000000005\r\nhello\r\n0\r\n\r\n"), .chunks("endless zeros", String(repeating: "0", count: 20) + "5\r\nhello"),
        .chunks("bare LF after size", "5\nhello\r\n0\r\n\r\n"), .chunks("bare CR after size", "5\rhello\r\n0\r\n\r\n"),
        .chunks("data too long", "5\r\nhello!\r\n0\r\n\r\n"), .chunks("data too short", "5\r\nhell\r\n0\r\n\r\n"),
        .chunks("bare LF after data", "5\r\nhello\n0\r\n\r\n"), .chunks("bare CR after data", "5\r\nhello\r0\r\n\r\n"),
        .chunks("CR and another byte after data", "5\r\nhello\rX0\r\n\r\n"), .chunks("CR and LF apart", "5\r\nhello\r \n0\r\n\r\n"),
        .chunks("no line end after data", "5\r\nhello0\r\n\r\n"), .chunks("bare LF after last", "0\n\r\n"), .chunks("bare LF as the end", "0\r\n\n"),
        .chunks("endless size line", "5;" + String(repeating: "a", count: 2_000)),
        .chunks("long size line", "5;" + String(repeating: "a", count: 2_000) + "\r\nhello\r\n0\r\n\r\n"),
        .chunks("endless extensions", String(repeating: "1;" + String(repeating: "a", count: 900) + "\r\nx\r\n", count: 30)),
        .chunks("empty extension", "5;\r\nhello\r\n0\r\n\r\n"), .chunks("space in extension", "5; a=b\r\nhello\r\n0\r\n\r\n"),
        .chunks("control in extension", "5;a\u{01}\r\nhello\r\n0\r\n\r\n"), .chunks("CR in extension", "5;a\rb\r\nhello\r\n0\r\n\r\n"),
        .chunks("open quote", "5;a=\"b\r\nhello\r\n0\r\n\r\n"), .chunks("empty extension value", "5;a=\r\nhello\r\n0\r\n\r\n"),
        .chunks("text after quote", "5;a=\"b\"c\r\nhello\r\n0\r\n\r\n"), .chunks("obs-text in extension", "5;a=\"\u{E9}\"\r\nhello\r\n0\r\n\r\n"),
        .chunks("length as trailer", "0\r\nContent-Length: 5\r\n\r\n"), .chunks("encoding as trailer", "0\r\nTransfer-Encoding: chunked\r\n\r\n"),
        .chunks("Host as trailer", "0\r\nHost: b\r\n\r\n"), .chunks("folded trailer", "0\r\nX: 1\r\n 2\r\n\r\n"),
        .chunks("trailer without colon", "0\r\nX\r\n\r\n"), .chunks("request instead of trailers", "0\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n"),
        .chunks("NUL in trailer", "0\r\nX: \0\r\n\r\n"), .chunks("bare LF in trailer", "0\r\nX: 1\n\r\n"),
        .chunks("endless trailers", "0\r\n" + String(repeating: "X: " + String(repeating: "a", count: 1_000) + "\r\n", count: 20)),
        .chunks("many trailers", "0\r\n" + String(repeating: "X:1\r\n", count: 101) + "\r\n"),
    ]
}
