import Testing

@testable import LayoverHTTP

struct URLReferenceTests {
    /// RFC 3986 section 5.4.1 and 5.4.2.
    @Test(arguments: [
        ("g:h", "g:h"), ("g", "http://a/b/c/g"), ("./g", "http://a/b/c/g"), ("g/", "http://a/b/c/g/"), ("/g", "http://a/g"),
        ("//g", "http://g"), ("?y", "http://a/b/c/d;p?y"), ("g?y", "http://a/b/c/g?y"), ("#s", "http://a/b/c/d;p?q#s"),
        ("g#s", "http://a/b/c/g#s"), ("g?y#s", "http://a/b/c/g?y#s"), (";x", "http://a/b/c/;x"), ("g;x", "http://a/b/c/g;x"),
        ("g;x?y#s", "http://a/b/c/g;x?y#s"), ("", "http://a/b/c/d;p?q"), (".", "http://a/b/c/"), ("./", "http://a/b/c/"),
        ("..", "http://a/b/"), ("../", "http://a/b/"), ("../g", "http://a/b/g"), ("../..", "http://a/"), ("../../", "http://a/"),
        ("../../g", "http://a/g"), ("../../../g", "http://a/g"), ("../../../../g", "http://a/g"), ("/./g", "http://a/g"),
        ("/../g", "http://a/g"), ("g.", "http://a/b/c/g."), (".g", "http://a/b/c/.g"), ("g..", "http://a/b/c/g.."),
        ("..g", "http://a/b/c/..g"), ("./../g", "http://a/b/g"), ("./g/.", "http://a/b/c/g/"), ("g/./h", "http://a/b/c/g/h"),
        ("g/../h", "http://a/b/c/h"), ("g;x=1/./y", "http://a/b/c/g;x=1/y"), ("g;x=1/../y", "http://a/b/c/y"),
        ("g?y/./x", "http://a/b/c/g?y/./x"), ("g?y/../x", "http://a/b/c/g?y/../x"), ("g#s/./x", "http://a/b/c/g#s/./x"),
        ("g#s/../x", "http://a/b/c/g#s/../x"), ("http:g", "http:g"),
    ])
    func referencesAreResolvedByRFC3986(reference: String, target: String) {
        let base = URLReference(Array("http://a/b/c/d;p?q".utf8))
        #expect(String(decoding: URLReference(Array(reference.utf8)).resolved(against: base).text, as: UTF8.self) == target)
    }

    @Test func aBaseWithoutPathIsMergedAtItsRoot() {
        let base = URLReference(Array("http://a?q".utf8))
        #expect(URLReference(Array("g".utf8)).resolved(against: base).text == Array("http://a/g".utf8))
    }

    @Test(arguments: [
        ("https://API.example.com/x", ["https", "api.example.com", "443"]), ("HTTPS://a:8443", ["https", "a", "8443"]),
        ("http://a?x", ["http", "a", "80"]), ("http://[::1]:81/", ["http", "::1", "81"]), ("ftp://a/", nil), ("//a/", nil), ("/x", nil),
        ("http:a", nil), ("https://user@a/", nil), ("https://a:b/", nil), (#"https://a\@b/"#, nil), ("https:///x", nil),
    ] as [(String, [String]?)])
    func originsAreCompared(url: String, origin: [String]?) {
        #expect(URLReference(Array(url.utf8)).origin == origin)
    }
}
