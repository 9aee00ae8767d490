/// Two readings of one message are how requests are smuggled: lengths, encodings, chunks.
extension HazardRow {
    static let smuggled = "GET http://o.test/smuggled HTTP/1.1\r\nHost: o.test\r\n\r\n"
    private static let bad = Outcome.refused([400])
    private static let badOrUnknown = Outcome.refused([400, 501])

    static let framing: [HazardRow] = lengths + encodings + chunkSizes

    private static let lengths: [HazardRow] = [
        post("length and encoding", "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n" + smuggled, bad),
        post("encoding and length", "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n", "0\r\n\r\n" + smuggled, bad),
        post("length 0 and encoding", "Content-Length: 0\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n", bad),
        post("two lengths", "Content-Length: 3\r\nContent-Length: 5\r\n", "abcde", bad),
        post("two equal lengths", "Content-Length: 3\r\nContent-Length: 3\r\n", "abc", bad),
        post("two lengths in two cases", "content-length: 3\r\nCONTENT-LENGTH: 0\r\n", "abc", bad),
        post("list of lengths", "Content-Length: 3, 3\r\n", "abc", bad),
        post("plus", "Content-Length: +3\r\n", "abc", bad),
        post("minus", "Content-Length: -3\r\n", "abc", bad),
        post("minus zero", "Content-Length: -0\r\n", "", bad),
        post("hexadecimal", "Content-Length: 0x3\r\n", "abc", bad),
        post("letters", "Content-Length: abc\r\n", "abc", bad),
        post("empty length", "Content-Length:\r\n", "", bad),
        post("blank length", "Content-Length:   \r\n", "", bad),
        post("fraction", "Content-Length: 3.0\r\n", "abc", bad),
        post("exponent", "Content-Length: 3e0\r\n", "abc", bad),
        post("two numbers", "Content-Length: 3 3\r\n", "abc", bad),
        post("overflow", "Content-Length: 99999999999999999999999\r\n", "abc", bad),
        post("2^64+3", "Content-Length: 18446744073709551619\r\n", "abc", bad),
        post("2^63", "Content-Length: 9223372036854775808\r\n", "abc", bad),
        post("tab before", "Content-Length:\t3\r\n", "abc", bad),
        post("tab behind", "Content-Length: 3\t\r\n", "abc", bad),
        post("quotes", "Content-Length: \"3\"\r\n", "abc", bad),
        post("full-width digit", "Content-Length: \u{ef}\u{bc}\u{93}\r\n", "abc", bad),
        post("underscore", "Content_Length: 3\r\n", smuggled, .passed(["POST / o.test|", "GET /smuggled o.test|"])),
        post("leading zeros are a number", "Content-Length: 0003\r\n", "abc", .passed(["POST / o.test|abc"])),
        post("spaces around", "Content-Length:   3  \r\n", "abc", .passed(["POST / o.test|abc"])),
        post("body of a GET-like length, then the next", "Content-Length: 3\r\n", "abc" + smuggled, .passed(["POST / o.test|abc", "GET /smuggled o.test|"])),
        HazardRow(
            name: "GET with a body that looks like a request",
            bytes: "GET http://o.test/ HTTP/1.1\r\nHost: o.test\r\nContent-Length: \(smuggled.utf8.count)\r\n\r\n" + smuggled,
            outcome: .passed(["GET / o.test|" + smuggled])),
        HazardRow(
            name: "HEAD with a body", bytes: "HEAD http://o.test/ HTTP/1.1\r\nHost: o.test\r\nContent-Length: 3\r\n\r\nabc",
            outcome: .passed(["HEAD / o.test|abc"])),
        HazardRow(
            name: "DELETE with a body", bytes: "DELETE http://o.test/ HTTP/1.1\r\nHost: o.test\r\nContent-Length: 3\r\n\r\nabc" + smuggled,
            outcome: .passed(["DELETE / o.test|abc", "GET /smuggled o.test|"])),
        HazardRow(
            name: "CONNECT with a length", bytes: "CONNECT o.test:443 HTTP/1.1\r\nHost: o.test\r\nContent-Length: 3\r\n\r\nabc", outcome: bad),
        HazardRow(
            name: "CONNECT with chunks", bytes: "CONNECT o.test:443 HTTP/1.1\r\nHost: o.test\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", outcome: bad),
        post("Expect and the next request at once", "Expect: 100-continue\r\nContent-Length: 3\r\n", "abc" + smuggled, .passed(["POST / o.test|abc", "GET /smuggled o.test|"])),
        post("Connection nominates the length", "Connection: Content-Length\r\nContent-Length: 3\r\n", "abc", bad),
    ]

    private static let encodings: [HazardRow] = [
        "Transfer-Encoding: Chunked, chunked", "Transfer-Encoding: Chunkedx", "Transfer-Encoding: chunked, chunked",
        "Transfer-Encoding: chunked, identity", "Transfer-Encoding: identity, chunked", "Transfer-Encoding: identity",
        "Transfer-Encoding: gzip, chunked", "Transfer-Encoding: gzip", "Transfer-Encoding: ,chunked", "Transfer-Encoding: chunked,",
        "Transfer-Encoding: chunked;q=1", "Transfer-Encoding: \"chunked\"", "Transfer-Encoding:\tchunked", "Transfer-Encoding: chunked\t",
        "Transfer-Encoding: xchunked", "Transfer-Encoding: chunkedx", "Transfer-Encoding: chunke", "Transfer-Encoding:",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked", "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity",
        "Transfer-Encoding: identity\r\nTransfer-Encoding: chunked", "Transfer-Encoding:\r\n chunked", "Transfer-Encoding: \u{b}chunked",
        "Transfer-Encoding: chunked\u{0}", "Transfer-Encoding : chunked", "Transfer-Encoding\t: chunked", " Transfer-Encoding: chunked",
        "Transfer-Encoding: chunked\rX: y", "X: y\nTransfer-Encoding: chunked", "X: y\rTransfer-Encoding: chunked",
    ].map { post($0, $0 + "\r\n", "0\r\n\r\n" + smuggled, badOrUnknown) } + [
        HazardRow(
            name: "encoding in HTTP/1.0", bytes: "POST http://o.test/ HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + smuggled,
            outcome: badOrUnknown),
        post("another field's name", "Transfer_Encoding: chunked\r\n", "", .passed(["POST / o.test|"])),
        post("name in any case", "tRANSFER-eNCODING: chunked\r\n", "1\r\na\r\n0\r\n\r\n" + smuggled, .passed(["POST / o.test|a", "GET /smuggled o.test|"])),
        post("Connection nominates the encoding", "Connection: Transfer-Encoding\r\nTransfer-Encoding: chunked\r\n", "1\r\na\r\n0\r\n\r\n", bad),
        post("coding in any case", "Transfer-Encoding: cHUNKED\r\n", "1\r\na\r\n0\r\n\r\n" + smuggled, .passed(["POST / o.test|a", "GET /smuggled o.test|"])),
        post("length and coding in capitals", "Content-Length: 3\r\nTransfer-Encoding: CHUNKED\r\n", "0\r\n\r\n" + smuggled, bad),
    ]

    private static let chunkSizes: [HazardRow] = [
        ("minus", "-1\r\na\r\n0\r\n\r\n"), ("plus", "+1\r\na\r\n0\r\n\r\n"), ("0x", "0x1\r\na\r\n0\r\n\r\n"), ("no size", "\r\na\r\n0\r\n\r\n"),
        ("no size but an extension", ";a=b\r\na\r\n0\r\n\r\n"), ("letters", "g\r\na\r\n0\r\n\r\n"), ("space before", " 1\r\na\r\n0\r\n\r\n"),
        ("space behind", "1 \r\na\r\n0\r\n\r\n"), ("tab behind", "1\t\r\na\r\n0\r\n\r\n"), ("space before the extension", "1 ;a\r\na\r\n0\r\n\r\n"),
        ("overflow", "ffffffffffffffff1\r\na\r\n0\r\n\r\n"), ("2^64", "10000000000000000\r\na\r\n0\r\n\r\n"), ("2^63", "8000000000000000\r\na\r\n0\r\n\r\n"),
        ("endless zeros", String(repeating: "0", count: 2000) + "1\r\na\r\n0\r\n\r\n"), ("bare LF behind the size", "1\na\r\n0\r\n\r\n"),
        ("bare LF behind the data", "1\r\na\n0\r\n\r\n"), ("no line end behind the data", "1\r\na0\r\n\r\n"), ("CR only behind the data", "1\r\na\r0\r\n\r\n"),
        ("more data than announced", "1\r\nab\r\n0\r\n\r\n"), ("less data than announced", "3\r\na\r\n0\r\n\r\n"), ("bare LF behind the last chunk", "1\r\na\r\n0\n\n"),
        ("NUL in the extension", "1;a=\u{0}\r\na\r\n0\r\n\r\n"), ("LF in the extension", "1;a=\nb\r\na\r\n0\r\n\r\n"), ("CR in the extension", "1;a=\rb\r\na\r\n0\r\n\r\n"),
        ("open quotes in the extension", "1;a=\"b\r\na\r\n0\r\n\r\n"), ("endless extension", "1;a=" + String(repeating: "b", count: 5000) + "\r\na\r\n0\r\n\r\n"),
        ("many extensions in all", String(repeating: "1;a=" + String(repeating: "b", count: 900) + "\r\na\r\n", count: 30) + "0\r\n\r\n"),
        ("length as a trailer", "1\r\na\r\n0\r\nContent-Length: 5\r\n\r\n"), ("encoding as a trailer", "1\r\na\r\n0\r\nTransfer-Encoding: chunked\r\n\r\n"),
        ("Host as a trailer", "1\r\na\r\n0\r\nHost: evil.test\r\n\r\n"), ("trailer without a colon", "1\r\na\r\n0\r\nnonsense\r\n\r\n"),
        ("trailer with a bare LF", "1\r\na\r\n0\r\nX: y\n\r\n"), ("folded trailer", "1\r\na\r\n0\r\nX: y\r\n z\r\n\r\n"),
        ("endless trailers", "1\r\na\r\n0\r\n" + String(repeating: "X: y\r\n", count: 200) + "\r\n"),
        ("huge trailer", "1\r\na\r\n0\r\nX: " + String(repeating: "y", count: 20_000) + "\r\n\r\n"),
        ("space before the colon of a trailer", "1\r\na\r\n0\r\nX : y\r\n\r\n"),
    ].map { chunks($0.0, $0.1 + smuggled, .brokenOff) } + [
        chunks("upper and lower case digits", "A\r\n0123456789\r\na\r\n0123456789\r\n00\r\n\r\n" + smuggled, .passed(["POST / o.test|01234567890123456789", "GET /smuggled o.test|"])),
        chunks("extensions and quotes", "1;a;b=c;d=\"e;\\\"f\"\r\na\r\n0;last\r\n\r\n" + smuggled, .passed(["POST / o.test|a", "GET /smuggled o.test|"])),
        chunks("an empty body", "0\r\n\r\n" + smuggled, .passed(["POST / o.test|", "GET /smuggled o.test|"])),
        chunks("data that looks like a last chunk", "5\r\n0\r\n\r\n\r\n0\r\n\r\n" + smuggled, .passed(["POST / o.test|0\r\n\r\n", "GET /smuggled o.test|"])),
    ]
}
