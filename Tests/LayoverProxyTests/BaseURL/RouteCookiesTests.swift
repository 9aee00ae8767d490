import LayoverCore
import Testing

@testable import LayoverProxy

/// Cookies that come by a base URL are for their route only.
struct RouteCookiesTests {
    private static let place = "/.layover/route/shop"

    private static func cookie(_ value: String, _ addresses: RouteAddresses = RouteAddressesTests.addresses()) -> String? {
        addresses.cookie(Array(value.utf8)).map { String(decoding: $0, as: UTF8.self) }
    }

    /// Nil if the cookie is not passed on.
    @Test(
        arguments: [
            // The path.
            ("a=1", "a=1; Path=\(place)/a"), ("a=1; Path=/", "a=1; Path=\(place)"), ("a=1; path=/api", "a=1; Path=\(place)"),
            ("a=1;PATH=/api/", "a=1; Path=\(place)/"), ("a=1; Path=/api/v1", "a=1; Path=\(place)/v1"),
            ("a=1; Path=", "a=1; Path=\(place)/a"),
            ("a=1; Path=x", "a=1; Path=\(place)/a"), ("a=1; Path", "a=1; Path=\(place)/a"), ("a=1; Path=/x; Path=/", "a=1; Path=\(place)"),
            ("a=1; Path=/; Path=x", "a=1; Path=\(place)/a"), ("a=1; Path=/x", nil), ("a=1; Path=/ap", nil), ("a=1; Path=/apis", nil),
            ("a=1; Path=/.layover/route/other", nil),
            // The domain.
            ("a=1; Domain=up.test; Path=/", "a=1; Path=\(place)"), ("a=1; domain=.test; Path=/", "a=1; Path=\(place)"),
            ("a=1; Domain=.UP.Test; Path=/", "a=1; Path=\(place)"), ("a=1; Domain=; Path=/", "a=1; Path=\(place)"),
            ("a=1; Domain=other.test; Path=/", nil), ("a=1; Domain=p.test; Path=/", nil), ("a=1; Domain=x.up.test; Path=/", nil),
            ("a=1; Domain=localhost; Path=/", nil), ("a=1; Domain=other.test; Domain=up.test; Path=/", "a=1; Path=\(place)"),
            // Secure, on a way by http.
            ("a=1; Secure; HttpOnly; Path=/", "a=1; HttpOnly; Path=\(place)"),
            ("a=1; secure ; SameSite=None; Partitioned; Path=/", "a=1; Path=\(place)"),
            ("a=1; SameSite=Lax; Path=/", "a=1; SameSite=Lax; Path=\(place)"),
            ("__Secure-a=1; Secure; Path=/", "__Secure-a=1; Secure; Path=\(place)"),
            ("__Host-a=1; Path=/; Secure", "__Host-a=1; Secure; Path=\(place)"),
            // The rest stays byte for byte.
            (
                "a=\"1,2=3\"; Expires=Wed, 21 Oct 2026 07:28:00 GMT;  Max-Age=5 ; x ; Path=/",
                "a=\"1,2=3\"; Expires=Wed, 21 Oct 2026 07:28:00 GMT;  Max-Age=5 ; x ; Path=\(place)"
            ),
            ("a", "a; Path=\(place)/a"), ("=1;;Path=/", "=1;; Path=\(place)"), ("a=Secure; Path=/", "a=Secure; Path=\(place)"),
            ("Domain=x; Path=/", "Domain=x; Path=\(place)"),
        ] as [(String, String?)])
    func cookieIsForItsRouteOnly(value: String, expected: String?) {
        #expect(Self.cookie(value) == expected)
    }

    @Test func secureStaysWhereTheClientComesByHTTPS() {
        let secure = RouteAddressesTests.addresses(ownBase: "https://gate.test")
        #expect(Self.cookie("a=1; Secure; SameSite=None; Path=/", secure) == "a=1; Secure; SameSite=None; Path=\(Self.place)")
    }

    @Test(arguments: [("/", place), ("/x", place), ("/x/y", "\(place)/x"), ("/x/", "\(place)/x"), ("*", place), ("/x?a/b", place)])
    func pathThatIsMissingIsTheFolderOfTheResource(target: String, path: String) {
        #expect(Self.cookie("a=1", RouteAddressesTests.addresses("", target: target)) == "a=1; Path=\(path)")
    }

    @Test func cookieThatNoClientWouldTakeFromTheOriginIsRemoved() {
        let lines = ["HTTP/1.1 200 OK", "Set-Cookie: a=1; Domain=evil.test", "set-cookie: b=2; Path=/", "Set-Cookie:"]
        #expect(
            RouteAddressesTests.rewriting(lines, by: RouteAddressesTests.addresses())
                == ["HTTP/1.1 200 OK", "set-cookie: b=2; Path=\(Self.place)", "Set-Cookie:"])
    }
}
