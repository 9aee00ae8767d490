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

    @Test(arguments: [
        ("localhost", true), ("127.0.0.9", true), ("::1", true), ("10.0.0.1", true), ("172.16.0.1", true), ("172.31.255.1", true),
        ("192.168.1.1", true), ("169.254.3.4", true), ("fd00::1", true), ("fe80::1", true), ("printer.local", true), ("db", true),
        ("172.32.0.1", false), ("11.0.0.1", false), ("192.169.1.1", false), ("10.0.0.1.example", false), ("10.0.0", false),
        ("2001:db8::1", false), ("a.example", false), ("local.example", false),
    ])
    func originsOnThisMachineOrNearItAreNear(host: String, isNear: Bool) {
        #expect(Origin(scheme: .http, host: host).isNear == isNear)
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
