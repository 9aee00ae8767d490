import LayoverCore
import NIOCore
import Testing

@testable import LayoverProxy

/// Addresses in responses, as a client of a base URL gets them.
struct RouteAddressesTests {
    static func addresses(
        _ base: String = "/api", target: String = "/api/a/b?q", scheme: Origin.Scheme = .https, port: Int? = nil,
        form: BaseURLForm = .plain, ownBase: String = "http://localhost:8080"
    ) -> RouteAddresses {
        var route = Route(name: "shop", policy: .standard)
        route.key = "k3y"
        let upstream = Route.Upstream(origin: Origin(scheme: scheme, host: "up.test", port: port), basePath: base)
        return RouteAddresses(
            BaseURLUse(route: route, upstream: upstream, form: form), target: target, ownBase: ownBase)
    }

    static func rewriting(_ lines: [String], by addresses: RouteAddresses) -> [String] {
        let head = ByteBuffer(string: lines.map { $0 + "\r\n" }.joined())
        return String(buffer: addresses.rewriting(head)).split(separator: "\r\n", omittingEmptySubsequences: false).dropLast().map(
            String.init)
    }

    private static let place = "/.layover/route/shop"
    private static let whole = "http://localhost:8080/.layover/route/shop"

    /// Nil if the address is not changed.
    @Test(
        arguments: [
            // An address below the upstream becomes an address of the route.
            ("https://up.test/api/x", "\(whole)/x"), ("https://up.test/api/", "\(whole)/"),
            ("https://UP.test:443/api/x?y=1#z", "\(whole)/x?y=1#z"),
            ("HTTPS://up.test/api/x", "\(whole)/x"), ("//up.test/api/x", "\(whole)/x"), ("/api/x", "\(place)/x"), ("c", "\(place)/a/c"),
            ("./", "\(place)/a/"), ("../c?d", "\(place)/c?d"), ("?d", "\(place)/a/b?d"), ("#f", "\(place)/a/b?q#f"),
            ("/api/../api/x", "\(place)/x"),
            ("https://up.test/api//x", "\(whole)//x"), ("/api/\u{E4}%2Fx y", "\(place)/\u{E4}%2Fx y"),
            ("/api/x?u=../..", "\(place)/x?u=../.."),
            ("/api/~user", "\(place)/~user"),
            // Absolute addresses of anything else stay.
            ("https://other.test/api/x", nil), ("http://up.test/api/x", nil), ("https://up.test:444/api/x", nil),
            ("https://up.test/apix", nil),
            ("https://up.test/", nil), ("https://up.test", nil), ("https://up.test.evil.test/api/x", nil),
            ("https://up.test@evil.test/api/x", nil),
            ("https://u:p@up.test/api/x", nil), ("https://up.test/api/../x", nil), ("https://up.test/api", nil), ("mailto:a@up.test", nil),
            ("javascript:alert(1)", nil), ("", nil), ("https://up.test/api/%2e%2E/x", nil), ("https://up.test/api/.%2e", nil),
            ("https://up.test/api/..\\..\\x", nil), ("https:/api/x", nil), ("https:api", nil), ("https://[::1/api/x", nil),
            // Relative ones that leave the upstream are absolute.
            ("/login?next=1#n", "https://up.test/login?next=1#n"), ("../../x", "https://up.test/x"),
            ("//other.test/api/x", "https://other.test/api/x"),
            ("/", "https://up.test/"), ("/api", "https://up.test/api"), ("/api/%2e%2e/x", "https://up.test/api/%2e%2e/x"),
            ("..", "\(place)/"), ("../..", "https://up.test/"), ("\\\\evil.test", "https://up.test/api/a/\\\\evil.test"),
        ] as [(String, String?)])
    func addressInTheUpstreamComesToTheRoute(address: String, expected: String?) {
        for name in ["Location", "content-location"] {
            let lines = Self.rewriting(["HTTP/1.1 302 Found: it", "\(name):  \(address)", "X: 1"], by: Self.addresses())
            #expect(lines == ["HTTP/1.1 302 Found: it", expected.map { "\(name):  \($0)" } ?? "\(name):  \(address)", "X: 1"])
        }
    }

    @Test(arguments: [
        ("https://up.test/", "\(whole)/"), ("https://up.test", "\(whole)/"), ("https://up.test?x", "\(whole)/?x"), ("/x", "\(place)/x"),
        ("../../../x", "\(place)/x"), ("https://up.test/.layover/route/other/x", "\(whole)/.layover/route/other/x"),
    ])
    func upstreamWithoutABasePathIsTheWholeOrigin(address: String, expected: String) {
        #expect(Self.rewriting(["Location: \(address)"], by: Self.addresses("", target: "/a/b")) == ["Location: \(expected)"])
    }

    @Test func keyInThePathStaysInThePath() {
        let keyed = Self.addresses(form: .keyed)
        #expect(Self.rewriting(["Location: /api/x"], by: keyed) == ["Location: \(Self.place)/~k3y/x"])
        #expect(Self.rewriting(["Location: /x"], by: keyed) == ["Location: https://up.test/x"])
        #expect(Self.rewriting(["Set-Cookie: a=1"], by: keyed) == ["Set-Cookie: a=1; Path=\(Self.place)/~k3y/a"])
    }

    @Test func pathOfThePublicURLStandsBefore() {
        let behind = Self.addresses(ownBase: "https://gate.test:1/way")
        #expect(Self.rewriting(["Location: /api/x"], by: behind) == ["Location: /way\(Self.place)/x"])
        #expect(Self.rewriting(["Location: https://up.test/api/x"], by: behind) == ["Location: https://gate.test:1/way\(Self.place)/x"])
        #expect(Self.rewriting(["Set-Cookie: a=1; Path=/"], by: behind) == ["Set-Cookie: a=1; Path=/way\(Self.place)"])
    }

    @Test func pathAloneIsWrittenWhereTheProxyHasNoAddress() {
        #expect(Self.rewriting(["Location: https://up.test/api/x"], by: Self.addresses(ownBase: "")) == ["Location: \(Self.place)/x"])
    }

    @Test func portThatIsNotTheSchemesOwnIsPartOfTheOrigin() {
        let other = Self.addresses("", target: "/", scheme: .http, port: 8443)
        #expect(Self.rewriting(["Location: http://up.test:8443/x"], by: other) == ["Location: \(Self.whole)/x"])
        #expect(Self.rewriting(["Location: http://up.test/x"], by: other) == ["Location: http://up.test/x"])
        #expect(Self.rewriting(["Location: //up.test:8443/x"], by: other) == ["Location: \(Self.whole)/x"])
    }

    @Test(arguments: [
        (
            "<https://up.test/api/x?page=2>; rel=\"next\", <https://up.test/api/x?page=9>; rel=\"last\"",
            "<\(whole)/x?page=2>; rel=\"next\", <\(whole)/x?page=9>; rel=\"last\""
        ),
        (
            "</api/s.css>;rel=preload,,<https://other.test/>; title=\"a, <b>\\\", c\" ,\t< c >; rel=up",
            "<\(place)/s.css>;rel=preload,,<https://other.test/>; title=\"a, <b>\\\", c\" ,\t<\(place)/a/c>; rel=up"
        ),
        ("<>; rel=self", "<>; rel=self"), ("</login>; rel=l", "<https://up.test/login>; rel=l"),
        ("</api/x", "</api/x"), ("junk, </api/x>", "junk, </api/x>"), ("</api/x>; a=\"open, </api/y>", "<\(place)/x>; a=\"open, </api/y>"),
        (",", ","), ("</api/x>\\, </api/y>", "<\(place)/x>\\, <\(place)/y>"),
    ])
    func targetsOfLinksComeToTheRoute(value: String, expected: String) {
        #expect(Self.rewriting(["Link: \(value)"], by: Self.addresses()) == ["Link: \(expected)"])
    }

    @Test(arguments: [
        ("5; url=https://up.test/api/x", "5; url=\(whole)/x"), ("0;URL='/api/x' tail", "0;URL='\(place)/x' tail"),
        ("1, url = \"c\"", "1, url = \"\(place)/a/c\""), ("3; /api/x", "3; \(place)/x"), ("5", "5"),
        ("5; url=https://other.test/", "5; url=https://other.test/"),
        ("soon; url=/api/x", "soon; url=/api/x"), ("5; url=/x", "5; url=https://up.test/x"), ("5; url=", "5; url="),
    ])
    func targetOfARefreshComesToTheRoute(value: String, expected: String) {
        #expect(Self.rewriting(["Refresh: \(value)"], by: Self.addresses()) == ["Refresh: \(expected)"])
    }

    @Test func otherFieldsAndRepeatedOnesStayByteForByte() {
        let lines = [
            "HTTP/1.1 200 OK", "X-Location: /api/x", "Locations: /api/x", "location:/api/x", "LOCATION: /api/y", "Empty:", "Location:",
            "Content-Type: text/plain", "X: a=\u{E4}; Path=/", "Refresh: 5",
        ]
        var expected = lines
        expected[3] = "location:\(Self.place)/x"
        expected[4] = "LOCATION: \(Self.place)/y"
        #expect(Self.rewriting(lines, by: Self.addresses()) == expected)
    }
}
