import LayoverCore
import Testing

@testable import LayoverCache

/// RFC 9111 section 4.4, RFC 3986 section 5.
struct InvalidationRuleTests {
    private static let url = CacheURL(origin: Origin(scheme: .https, host: "a.test"), target: "/b/c/d?q")

    private func outdated(_ method: String, _ status: Int, _ fields: [String] = []) -> [String] {
        InvalidationRule.outdated(by: .made(status, fields), to: .made(method: method), for: Self.url).map(\.text)
    }

    @Test(
        arguments: ["POST", "PUT", "DELETE", "PATCH", "PROPPATCH", "get"],
        [(200, true), (201, true), (204, true), (303, true), (399, true), (400, false), (404, false), (409, false), (500, false)])
    func successOfAnUnsafeMethodOutdatesItsTarget(method: String, status: (Int, Bool)) {
        #expect(outdated(method, status.0) == (status.1 ? ["https://a.test/b/c/d?q"] : []))
    }

    @Test(arguments: ["GET", "HEAD", "OPTIONS", "TRACE"])
    func safeMethodsOutdateNothing(method: String) {
        #expect(outdated(method, 200, ["Location: /x"]) == [])
    }

    @Test func urlsNamedByTheResponseOnTheSameOriginAreOutdatedToo() {
        #expect(
            outdated("POST", 201, ["Location: /x", "Content-Location: e", "Location: https://A.test:443/y"])
                == ["https://a.test/b/c/d?q", "https://a.test/x", "https://a.test/y", "https://a.test/b/c/e"])
    }

    @Test(arguments: ["http://a.test/x", "https://b.test/x", "https://a.test:444/x", "//b.test/x", "mailto:a@b", "https://u@a.test/"])
    func foreignUrlsAreLeftAlone(location: String) {
        #expect(outdated("POST", 201, ["Location: \(location)"]) == ["https://a.test/b/c/d?q"])
    }

    @Test(arguments: [
        ("g", "/b/c/g"), ("./g", "/b/c/g"), ("g/", "/b/c/g/"), ("/g", "/g"), ("?y", "/b/c/d?y"), ("g?y", "/b/c/g?y"),
        ("", "/b/c/d?q"), (".", "/b/c/"), ("./", "/b/c/"), ("..", "/b/"), ("../", "/b/"), ("../g", "/b/g"),
        ("../..", "/"), ("../../g", "/g"), ("../../../g", "/g"), ("/./g", "/g"), ("/../g", "/g"), ("g.", "/b/c/g."),
        ("..g", "/b/c/..g"), ("./../g", "/b/g"), ("g/./h", "/b/c/g/h"), ("g/../h", "/b/c/h"), ("g?y/../x", "/b/c/g?y/../x"),
        ("g#s", "/b/c/g"), ("g:h/x", nil), ("https:g", nil), ("https://a.test", "/"), ("https://a.test?x", "/?x"),
        ("//a.test/z", "/z"), ("https:///x", nil), ("https://a b/x", nil),
    ] as [(String, String?)])
    func referencesAreResolved(reference: String, target: String?) {
        #expect(Self.url.resolving(reference)?.target == target)
    }
}
