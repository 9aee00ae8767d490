import Testing

/// Bytes that are well-formed requests, and what they say.
struct AcceptedRequest: Sendable, CustomTestStringConvertible {
    var name: String
    var bytes: [UInt8]
    /// One per request: `METHOD target body`.
    var messages: [String]

    init(_ name: String, _ text: String, _ messages: String...) {
        self.name = name
        bytes = latin1(text)
        self.messages = messages
    }

    var testDescription: String { name }
}

extension AcceptedRequest {
    static let all: [AcceptedRequest] = plain + targets + bodies + chunked + connections

    static let plain: [AcceptedRequest] = [
        .init("origin form", "GET /a HTTP/1.1\r\nHost: a.example\r\n\r\n", "GET /a "),
        .init("no fields in 1.0", "GET / HTTP/1.0\r\n\r\n", "GET / "),
        .init("Host in 1.0", "GET / HTTP/1.0\r\nHost: a.example\r\n\r\n", "GET / "),
        .init("empty value", "GET / HTTP/1.1\r\nHost: a\r\nX-Empty:\r\n\r\n", "GET / "),
        .init("white space around values", "GET / HTTP/1.1\r\nHost: \t a \t\r\nX: \t \r\n\r\n", "GET / "),
        .init("obs-text in a value", "GET / HTTP/1.1\r\nHost: a\r\nX: \u{80}\u{FF}\u{C3}\u{A9}\r\n\r\n", "GET / "),
        .init("tab in a value", "GET / HTTP/1.1\r\nHost: a\r\nX: a\tb\r\n\r\n", "GET / "),
        .init("long tab value", "GET / HTTP/1.1\r\nHost: a\r\nX: aaaaaaaaaaaa\tbbbbbbbbbbbbbbbbb\r\n\r\n", "GET / "),
        .init("strange field names", "GET / HTTP/1.1\r\nHost: a\r\n!#$%&'*+-.^_`|~9aZ: 1\r\n\r\n", "GET / "),
        .init("duplicates", "GET / HTTP/1.1\r\nHost: a\r\nX: 1\r\nx: 2\r\nX: 1\r\n\r\n", "GET / "),
        .init("colons in a value", "GET / HTTP/1.1\r\nHost: a\r\nX: a:b::c\r\n\r\n", "GET / "),
        .init("empty line before", "\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", "GET / "),
        .init("lower-case method", "get / HTTP/1.1\r\nHost: a\r\n\r\n", "get / "),
        .init("unknown method", "FROB-9 / HTTP/1.1\r\nHost: a\r\n\r\n", "FROB-9 / "),
        .init("field case", "GET / HTTP/1.1\r\nhOsT: a\r\nCONTENT-length: 0\r\n\r\n", "GET / "),
    ]

    static let targets: [AcceptedRequest] = [
        .init("absolute form", "GET http://a.example/p?q=1 HTTP/1.1\r\nHost: a.example\r\n\r\n", "GET http://a.example/p?q=1 "),
        .init("absolute form with port", "GET http://a.example:8080/ HTTP/1.1\r\nHost: a.example:8080\r\n\r\n", "GET http://a.example:8080/ "),
        .init("absolute form in capitals", "GET HTTP://A.Example/P HTTP/1.1\r\nHost: a\r\n\r\n", "GET HTTP://A.Example/P "),
        .init("https", "GET https://a.example/ HTTP/1.1\r\nHost: a\r\n\r\n", "GET https://a.example/ "),
        .init("no path", "GET http://a.example HTTP/1.1\r\nHost: a\r\n\r\n", "GET http://a.example "),
        .init("query without path", "GET http://a.example?x HTTP/1.1\r\nHost: a\r\n\r\n", "GET http://a.example?x "),
        .init("another Host", "GET http://a.example/ HTTP/1.1\r\nHost: b.example\r\n\r\n", "GET http://a.example/ "),
        .init("IPv4", "GET http://127.0.0.1:1/ HTTP/1.1\r\nHost: 127.0.0.1:1\r\n\r\n", "GET http://127.0.0.1:1/ "),
        .init("IPv6", "GET http://[::1]:80/ HTTP/1.1\r\nHost: [::1]:80\r\n\r\n", "GET http://[::1]:80/ "),
        .init("IPv6 with IPv4", "GET http://[::ffff:1.2.3.4]/ HTTP/1.1\r\nHost: [::1]\r\n\r\n", "GET http://[::ffff:1.2.3.4]/ "),
        .init("encoded target", "GET /%00%0d%0a/%zz?a=%20 HTTP/1.1\r\nHost: a\r\n\r\n", "GET /%00%0d%0a/%zz?a=%20 "),
        .init("browser characters", "GET /a|b{c}^`\"<>\\?[x]=| HTTP/1.1\r\nHost: a\r\n\r\n", "GET /a|b{c}^`\"<>\\?[x]=| "),
        .init("userinfo", "GET http://u:p@a.example/x HTTP/1.1\r\nHost: a\r\n\r\n", "GET http://a.example/x "),
        .init("empty userinfo", "GET http://@a.example HTTP/1.1\r\nHost: a\r\n\r\n", "GET http://a.example "),
        .init("odd userinfo", "GET HTTPS://a:80:%4a!$&'()*+,;=~@a.example?q@r HTTP/1.1\r\nHost: a\r\n\r\n", "GET HTTPS://a.example?q@r "),
        .init("at sign in a path", "GET http://a.example/@b?c@d HTTP/1.1\r\nHost: a\r\n\r\n", "GET http://a.example/@b?c@d "),
        .init("two slashes", "GET //a//b HTTP/1.1\r\nHost: a\r\n\r\n", "GET //a//b "),
        .init("asterisk", "OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n", "OPTIONS * "),
        .init("absolute OPTIONS", "OPTIONS http://a.example HTTP/1.1\r\nHost: a\r\nMax-Forwards: 3\r\n\r\n", "OPTIONS http://a.example "),
        .init("CONNECT", "CONNECT a.example:443 HTTP/1.1\r\nHost: a.example:443\r\n\r\n\u{16}\u{03}", "CONNECT a.example:443 "),
        .init("CONNECT to IPv6", "CONNECT [::1]:443 HTTP/1.1\r\nHost: [::1]:443\r\n\r\n", "CONNECT [::1]:443 "),
        .init("CONNECT with length 0", "CONNECT a:443 HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n", "CONNECT a:443 "),
        .init("trailing dot", "GET http://a.example./ HTTP/1.1\r\nHost: a.example.\r\n\r\n", "GET http://a.example./ "),
        .init("underscore in host", "GET http://a_b-c.example/ HTTP/1.1\r\nHost: a_b\r\n\r\n", "GET http://a_b-c.example/ "),
    ]

    static let bodies: [AcceptedRequest] = [
        .init("length", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello", "POST / hello"),
        .init("length 0", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n", "POST / "),
        .init("leading zeros", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0005\r\n\r\nhello", "POST / hello"),
        .init("no length", "POST / HTTP/1.1\r\nHost: a\r\n\r\n", "POST / "),
        .init("body on GET", "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nGET", "GET / GET"),
        .init("body on HEAD", "HEAD / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc", "HEAD / abc"),
        .init("body on DELETE", "DELETE / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc", "DELETE / abc"),
        .init("body on OPTIONS", "OPTIONS * HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc", "OPTIONS * abc"),
        .init("body with line ends", "PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 8\r\n\r\n\r\n\0\n\r\r\n\r", "PUT / \r\n\0\n\r\r\n\r"),
        .init("1.0 with length", "POST / HTTP/1.0\r\nContent-Length: 2\r\n\r\nok", "POST / ok"),
        .init("expectation", "PUT / HTTP/1.1\r\nHost: a\r\nExpect: 100-Continue\r\nContent-Length: 2\r\n\r\nok", "PUT / ok"),
    ]

    static let chunkedHead = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"

    static let chunked: [AcceptedRequest] = [
        .init("chunks", chunkedHead + "5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n", "POST / hello world"),
        .init("no chunks", chunkedHead + "0\r\n\r\n", "POST / "),
        .init("several zeros", chunkedHead + "0005\r\nhello\r\n000\r\n\r\n", "POST / hello"),
        .init("hexadecimal", chunkedHead + "a\r\n0123456789\r\nB\r\n0123456789a\r\n0\r\n\r\n", "POST / 01234567890123456789a"),
        .init("extensions", chunkedHead + "5;a;b=c;d=\"e\\\";f\"\r\nhello\r\n0;last\r\n\r\n", "POST / hello"),
        .init("trailers", chunkedHead + "1\r\nx\r\n0\r\nX-Sum: 1\r\nX-Sum: 2\r\n\r\n", "POST / x"),
        .init("forbidden trailers", chunkedHead + "1\r\nx\r\n0\r\nAuthorization: a\r\nX: 1\r\nCookie: b\r\n\r\n", "POST / x"),
        .init("line ends in data", chunkedHead + "4\r\n\r\n\r\n\r\n0\r\n\r\n", "POST / \r\n\r\n"),
        .init("coding in capitals", "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: CHUNKED\r\n\r\n1\r\nx\r\n0\r\n\r\n", "POST / x"),
        .init("coding in mixed case", "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: cHunked\r\n\r\n1\r\nx\r\n0\r\n\r\n", "POST / x"),
        .init("chunked GET", "GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n", "GET / x"),
    ]

    static let connections: [AcceptedRequest] = [
        .init("pipelined", "GET /1 HTTP/1.1\r\nHost: a\r\n\r\nGET /2 HTTP/1.1\r\nHost: a\r\n\r\n", "GET /1 ", "GET /2 "),
        .init("pipelined bodies", "POST /1 HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nab" + chunkedHead + "1\r\nx\r\n0\r\n\r\nGET /3 HTTP/1.1\r\nHost: a\r\n\r\n", "POST /1 ab", "POST / x", "GET /3 "),
        .init("empty line between", "GET /1 HTTP/1.1\r\nHost: a\r\n\r\n\r\nGET /2 HTTP/1.1\r\nHost: a\r\n\r\n", "GET /1 ", "GET /2 "),
        .init("close", "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", "GET / "),
        .init("nominations", "GET / HTTP/1.1\r\nHost: a\r\nConnection: X-A , ,Hostess,keep-alive\r\nX-A: 1\r\n\r\n", "GET / "),
        .init("proxy connection", "GET http://a/ HTTP/1.1\r\nHost: a\r\nProxy-Connection: keep-alive\r\n\r\n", "GET http://a/ "),
        .init("upgrade", "GET /ws HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n", "GET /ws "),
        .init("upgrade without Connection", "GET /ws HTTP/1.1\r\nHost: a\r\nUpgrade: h2c\r\n\r\n", "GET /ws "),
    ]
}
