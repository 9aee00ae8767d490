/// Request lines, targets, fields.
extension HazardRow {
    private static let bad = Outcome.refused([400])

    static let heads: [HazardRow] = fields + hosts + targets + lines + sizes

    private static let fields: [HazardRow] = [
        ("space before the colon", "X : y"), ("tab before the colon", "X\t: y"), ("no name", ": y"), ("no colon", "nonsense"),
        ("folded with a space", "X: y\r\n z"), ("folded with a tab", "X: y\r\n\tz"), ("folded first line", " X: y"), ("bare CR", "X: y\rz"),
        ("bare LF", "X: y\nZ: a"), ("CR before CRLF", "X: y\r"), ("NUL", "X: y\u{0}z"), ("NUL in the name", "X\u{0}: y"), ("bell", "X: y\u{7}"),
        ("escape", "X: \u{1b}[31m"), ("DEL", "X: y\u{7f}"), ("vertical tab", "X: y\u{b}z"), ("parenthesis in the name", "X(: y"),
        ("slash in the name", "X/Y: y"), ("at in the name", "X@Y: y"), ("quote in the name", "\"X\": y"), ("space in the name", "X Y: z"),
        ("high byte in the name", "X\u{e9}: y"), ("comma in the name", "X,Y: z"),
    ].map { head($0.0, $0.1 + "\r\n", bad) } + [
        head("high bytes in a value", "X: \u{e9}\u{ff}\r\n", .passed(["GET / o.test|"])),
        head("tab in a value", "X: a\tb\r\n", .passed(["GET / o.test|"])),
        head("empty value", "X:\r\n", .passed(["GET / o.test|"])),
        head("strange token as a name", "!#$%&'*+-.^_`|~9: y\r\n", .passed(["GET / o.test|"])),
        head("bare LF ends the head", "X: y\r\n\n", bad),
        HazardRow(name: "bare LF everywhere", bytes: "GET http://o.test/ HTTP/1.1\nHost: o.test\n\n", outcome: bad),
        HazardRow(name: "bare CR everywhere", bytes: "GET http://o.test/ HTTP/1.1\rHost: o.test\r\r", outcome: .passed([])),
        head("a thousand nominated names", "Connection: " + (0..<1000).map { "n\($0)" }.joined(separator: ",") + "\r\nn1: x\r\n", .passed(["GET / o.test|"])),
        head("Connection nominates Host", "Connection: Host\r\n", .refused([400])),
        head("Connection nominates Authorization", "Authorization: a\r\nConnection: keep-alive, authorization\r\n", .refused([400])),
        head("Connection nominates Cookie", "Connection: keep-alive\r\nConnection: Cookie\r\nCookie: a=b\r\n", .refused([400])),
        head("Upgrade to h2c", "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA\r\n", .passed(["GET / o.test|"])),
        head("Max-Forwards of a GET", "Max-Forwards: nonsense\r\n", .passed(["GET / o.test|"])),
        HazardRow(name: "nonsense as Max-Forwards", bytes: "OPTIONS http://o.test/ HTTP/1.1\r\nHost: o\r\nMax-Forwards: -1\r\n\r\n", outcome: bad),
    ]

    private static let hosts: [HazardRow] = [
        "GET http://o.test/ HTTP/1.1\r\n\r\n", "GET / HTTP/1.1\r\n\r\n", "GET http://o.test/ HTTP/1.1\r\nHost: o.test\r\nHost: o.test\r\n\r\n",
        "GET http://o.test/ HTTP/1.1\r\nHost: o.test\r\nhost: evil.test\r\n\r\n", "GET http://o.test/ HTTP/1.1\r\nHost: a b\r\n\r\n",
        "GET http://o.test/ HTTP/1.1\r\nHost: a,b\r\n\r\n", "GET http://o.test/ HTTP/1.1\r\nHost: user@o.test\r\n\r\n", "GET http://o.test/ HTTP/1.1\r\nHost: o.test/x\r\n\r\n",
        "GET http://o.test/ HTTP/1.1\r\nHost: o.test:x\r\n\r\n", "GET http://o.test/ HTTP/1.1\r\nHost: o.test:99999\r\n\r\n", "GET http://o.test/ HTTP/1.1\r\nHost: http://o.test\r\n\r\n",
        "GET http://o.test/ HTTP/1.1\r\nHost: [::1\r\n\r\n", "GET http://o.test/ HTTP/1.1\r\nHost:\r\n\r\n", "GET http://o.test/ HTTP/1.1\r\n Host: o.test\r\n\r\n",
        "GET http://o.test/ HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n",
    ].map { HazardRow(name: "host: " + $0, bytes: $0, outcome: bad) } + [
        HazardRow(name: "the target decides, not Host", bytes: "GET http://o.test/ HTTP/1.1\r\nHost: evil.test\r\n\r\n", outcome: .passed(["GET / o.test|"])),
        HazardRow(name: "the port of the target decides", bytes: "GET http://o.test:81/ HTTP/1.1\r\nHost: o.test:82\r\n\r\n", outcome: .passed(["GET / o.test:81|"])),
        HazardRow(name: "no Host in HTTP/1.0", bytes: "GET http://o.test/ HTTP/1.0\r\n\r\n", outcome: .passed(["GET / o.test|"])),
    ]

    private static let targets: [HazardRow] = [
        "GET http://a@b@o.test/ HTTP/1.1", "GET http://user:p%zz@o.test/ HTTP/1.1", "GET http://user:pass@/ HTTP/1.1", "CONNECT u:p@o.test:443 HTTP/1.1", "GET http://o.test/#x HTTP/1.1",
        "GET http://o.test#x HTTP/1.1", "GET /x#y HTTP/1.1", "GET http://o.test:0/ HTTP/1.1", "GET http://o.test:/ HTTP/1.1", "GET http://o.test:65536/ HTTP/1.1",
        "GET http://o.test:+80/ HTTP/1.1", "GET http://o.test:-80/ HTTP/1.1", "GET http://o.test:80a/ HTTP/1.1", "GET http://o.test:http/ HTTP/1.1",
        "GET http://o.test:0x50/ HTTP/1.1", "GET http://o.test:80:80/ HTTP/1.1", "GET ftp://o.test/ HTTP/1.1", "GET file:///etc/passwd HTTP/1.1",
        "GET gopher://o.test/ HTTP/1.1", "GET ws://o.test/ HTTP/1.1", "GET javascript:alert(1) HTTP/1.1", "GET http:/o.test/ HTTP/1.1", "GET http:o.test HTTP/1.1",
        "GET http:///x HTTP/1.1", "GET http://?x HTTP/1.1", "GET https:// HTTP/1.1", "GET //o.test/ http", "GET o.test HTTP/1.1", "GET o.test/ HTTP/1.1",
        "GET http://o%2etest/ HTTP/1.1", "GET http://o.test%00.evil.test/ HTTP/1.1", "GET http://o_.test!/ HTTP/1.1", "GET http://[::1/ HTTP/1.1", "GET http://[::1%25eth0]/ HTTP/1.1",
        "GET http://[v1.x]/ HTTP/1.1", "GET http://[::1]x/ HTTP/1.1", "GET http://::1/ HTTP/1.1", "GET http://o..test/ HTTP/1.1", "GET http://.o.test/ HTTP/1.1",
        "GET http://o.test\\@evil.test/ HTTP/1.1", "GET http://o.test\u{e9}/ HTTP/1.1", "GET http://o.test/\u{e9} HTTP/1.1", "GET * HTTP/1.1", "POST * HTTP/1.1",
        "OPTIONS *x HTTP/1.1", "GET http://\(String(repeating: "a", count: 64)).test/ HTTP/1.1", "CONNECT o.test HTTP/1.1", "CONNECT o.test: HTTP/1.1",
        "CONNECT o.test:0 HTTP/1.1", "CONNECT o.test:99999 HTTP/1.1", "CONNECT :443 HTTP/1.1", "CONNECT http://o.test:443/ HTTP/1.1", "CONNECT user@o.test:443 HTTP/1.1",
        "CONNECT o.test:443/ HTTP/1.1", "CONNECT /x HTTP/1.1", "CONNECT * HTTP/1.1", "CONNECT [::1]443 HTTP/1.1", "CONNECT o.test:443#x HTTP/1.1",
    ].map { line($0, bad) } + [
        line("GET http://o.test/a/../b/./%2e%2e/%00?x=%0d%0aHost:evil HTTP/1.1", .passed(["GET /a/../b/./%2e%2e/%00?x=%0d%0aHost:evil o.test|"])),
        line("GET http://user:pass@o.test/ HTTP/1.1", .passed(["GET / o.test|"])), line("GET http://evil.test:80@o.test/ HTTP/1.1", .passed(["GET / o.test|"])),
        line("GET http://o.test?q HTTP/1.1", .passed(["GET /?q o.test|"])), line("GET http://o.test HTTP/1.1", .passed(["GET / o.test|"])),
        line("GET http://O.TEST:80/ HTTP/1.1", .passed(["GET / o.test|"])), line("GET HTTP://o.test/ HTTP/1.1", .passed(["GET / o.test|"])),
        line("GET http://o.test//x//y HTTP/1.1", .passed(["GET //x//y o.test|"])), line("GET http://o.test/?a=http://b@c HTTP/1.1", .passed(["GET /?a=http://b@c o.test|"])),
        line("GET http://o.test/{}|\\^`\"<> HTTP/1.1", .passed(["GET /{}|\\^`\"<> o.test|"])), line("GET http://[2001:db8::1]:8080/ HTTP/1.1", .passed(["GET / [2001:db8::1]:8080|"])),
        line("OPTIONS http://o.test HTTP/1.1", .passed(["OPTIONS * o.test|"])), line("OPTIONS http://o.test/ HTTP/1.1", .passed(["OPTIONS / o.test|"])),
    ]

    private static let lines: [HazardRow] = [
        "GET http://o.test/", "GET http://o.test/ HTTP/1.1 ", "GET http://o.test/  HTTP/1.1", "GET  http://o.test/ HTTP/1.1", " GET http://o.test/ HTTP/1.1",
        "GET\thttp://o.test/\tHTTP/1.1", "GET http://o.test/ x HTTP/1.1", "GET http://o.test/ http/1.1", "GET http://o.test/ HTTP/1.1x", "GET http://o.test/ HTTP/11",
        "GET http://o.test/ HTTP/1", "GET http://o.test/ HTTP/1.", "GET http://o.test/ HTTP/ 1.1", "GET http://o.test/ HTTP/0.9", "GET http://o.test/ HTTPS/1.1",
        "GET http://o.test/ HTTP/1.1\u{0}", "GET http://o.test/\u{0} HTTP/1.1", "GET http://o.test/\u{7f} HTTP/1.1", "G(T http://o.test/ HTTP/1.1", "G\u{0}T http://o.test/ HTTP/1.1",
        "\u{16}\u{3}\u{1}\u{2}\u{0}", "{\"a\":1}", "GET", "GET http://o.test/\rHTTP/1.1",
    ].map { line($0, bad) } + [
        line("GET http://o.test/ HTTP/2.0", .refused([400, 505])), line("GET http://o.test/ HTTP/1.2", .refused([400, 505])), line("GET http://o.test/ HTTP/9.9", .refused([400, 505])),
        HazardRow(name: "the preface of HTTP/2", bytes: "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", outcome: .refused([400, 505])),
        HazardRow(name: "two empty lines first", bytes: "\r\n\r\nGET http://o.test/ HTTP/1.1\r\nHost: o.test\r\n\r\n", outcome: bad),
        HazardRow(name: "an LF first", bytes: "\nGET http://o.test/ HTTP/1.1\r\nHost: o.test\r\n\r\n", outcome: bad),
        HazardRow(name: "one empty line first", bytes: "\r\nGET http://o.test/ HTTP/1.1\r\nHost: o.test\r\n\r\n", outcome: .passed(["GET / o.test|"])),
        line("get http://o.test/ HTTP/1.1", .passed(["get / o.test|"])), line("M-SEARCH http://o.test/ HTTP/1.1", .passed(["M-SEARCH / o.test|"])),
        line("connect http://o.test/ HTTP/1.1", .passed(["connect / o.test|"])),
        HazardRow(
            name: "garbage after a good request", bytes: smuggled + "\u{0}\u{1}\r\n\r\n",
            outcome: .passedThenRefused(["GET /smuggled o.test|"], [400])),
        HazardRow(
            name: "a bad second request", bytes: smuggled + "POST http://o.test/ HTTP/1.1\r\nHost: o.test\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
            outcome: .passedThenRefused(["GET /smuggled o.test|"], [400])),
    ]

    private static let sizes: [HazardRow] = [
        head("a field that is too large", "X: \(String(repeating: "y", count: 70_000))\r\n", .refused([431])),
        head("an endless field", "X: \(String(repeating: "y", count: 200_000))", .refused([431])),
        head("too many fields", String(repeating: "X: y\r\n", count: 1001), .refused([431])),
        head("many fields", String(repeating: "X: y\r\n", count: 900), .passed(["GET / o.test|"])),
        line("GET http://o.test/\(String(repeating: "a", count: 66_000)) HTTP/1.1", .refused([414]), name: "a target that is too long"),
        line(
            "GET http://o.test/\(String(repeating: "a", count: 60_000)) HTTP/1.1",
            .passed(["GET /\(String(repeating: "a", count: 60_000)) o.test|"]), name: "a target of nearly limits.headerBytes"),
        HazardRow(name: "an endless request line", bytes: "GET http://o.test/" + String(repeating: "a", count: 100_000), outcome: .refused([414])),
        HazardRow(name: "an endless method", bytes: String(repeating: "A", count: 100_000), outcome: .refused([400, 414])),
        line("GET http://o.test/\(String(repeating: "a", count: 8000)) HTTP/1.1", .passed(["GET /\(String(repeating: "a", count: 8000)) o.test|"]), name: "a long target"),
    ]
}
