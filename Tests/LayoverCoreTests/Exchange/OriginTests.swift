import Testing

@testable import LayoverCore

struct OriginTests {
    private static let texts: [(Origin, String, String, String)] = [
        (Origin(scheme: .http, host: "a.example"), "a.example:80", "a.example", "http://a.example"),
        (Origin(scheme: .https, host: "a.example"), "a.example:443", "a.example", "https://a.example"),
        (
            Origin(scheme: .http, host: "a.example", port: 443), "a.example:443", "a.example:443",
            "http://a.example:443"
        ),
        (Origin(scheme: .https, host: "::1", port: 8443), "[::1]:8443", "[::1]:8443", "https://[::1]:8443"),
        (Origin(scheme: .http, host: "::1"), "[::1]:80", "[::1]", "http://[::1]"),
        (Origin(scheme: .tunnel, host: "a.example"), "a.example:443", "a.example:443", "a.example:443"),
        (Origin(scheme: .tunnel, host: "::1", port: 22), "[::1]:22", "[::1]:22", "[::1]:22"),
    ]

    @Test(arguments: texts)
    func originsAreWrittenAsURLsWriteThem(origin: Origin, authority: String, host: String, text: String) {
        #expect(origin.authority == authority)
        #expect(origin.hostField == host)
        #expect(origin.description == text)
    }

    @Test func schemeHostAndPortMakeAnOrigin() {
        let origins: Set<Origin> = [
            Origin(scheme: .http, host: "a"), Origin(scheme: .http, host: "a", port: 80),
            Origin(scheme: .https, host: "a", port: 80), Origin(scheme: .http, host: "b"),
            Origin(scheme: .tunnel, host: "a", port: 80), Origin(scheme: .http, host: "a", port: 81),
        ]
        #expect(origins.count == 5)
    }
}
