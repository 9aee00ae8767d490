import Testing

@testable import LayoverTrust

struct JavaOptionsTests {
    private static let plain =
        "-Dlayover.env=1 -Dhttp.proxyHost=127.0.0.1 -Dhttp.proxyPort=8080 -Dhttps.proxyHost=127.0.0.1 "
        + "-Dhttps.proxyPort=8080 -Dhttp.nonProxyHosts="

    private func options(_ noProxy: String? = nil, trustStore: String? = nil) -> JavaOptions {
        JavaOptions(proxyURL: "http://127.0.0.1:8080", noProxy: noProxy, trustStore: trustStore)!
    }

    @Test(arguments: [(nil, plain), ("-Xmx1g -Dname='a b'", "-Xmx1g -Dname='a b' " + plain)] as [(String?, String)])
    func everyHostIsReachedThroughTheProxyAndFormerOptionsStayInFront(former: String?, expected: String) {
        #expect(options().added(to: former) == expected)
    }

    @Test func aSecondTimeChangesNothing() {
        let once = options(trustStore: "/a/java.p12").added(to: "-Xmx1g")
        #expect(options(trustStore: "/a/java.p12").added(to: once) == once)
    }

    @Test func theTrustStoreStaysWhenOnlyTheProxyIsSet() {
        let trusting = options(trustStore: "/a b/java.p12").added(to: nil)
        #expect(trusting.contains("\"-Djavax.net.ssl.trustStore=/a b/java.p12\""))
        #expect(options().added(to: trusting) == trusting)
        #expect(!options().added(to: "-Djavax.net.ssl.trustStore=/mine").contains("PKCS12"))
    }

    @Test(
        arguments: [
            (nil, nil), ("-Xmx1g", "-Xmx1g"), (plain, nil), ("-Xmx1g " + plain, "-Xmx1g"),
            ("-Xmx1g \(plain) -Dlater=1", "-Xmx1g -Dlater=1"),
        ] as [(String?, String?)])
    func takingBackLeavesWhatIsNotOurs(value: String?, former: String?) {
        #expect(JavaOptions.without(value) == former)
    }

    @Test(
        arguments: [
            (nil, ""), ("", ""), ("localhost,127.0.0.1", "localhost|*.localhost|127.0.0.1"), (".example.com", "*.example.com"),
            ("*.example.com", "*.example.com"), ("*", "*"), ("10.0.0.0/8, a.test:8443", "a.test|*.a.test"), ("::1", "::1"),
        ] as [(String?, String)])
    func noProxyIsTranslated(noProxy: String?, patterns: String) {
        #expect(JavaOptions.nonProxyHosts(noProxy) == patterns)
    }

    @Test(arguments: [
        ("http://[::1]:8080", "::1", "8080"), ("http://user:word@proxy.test:3128/", "proxy.test", "3128"),
        ("http://proxy.test", "proxy.test", "80"),
    ])
    func hostAndPortAreTakenFromTheURL(url: String, host: String, port: String) throws {
        let value = try #require(JavaOptions(proxyURL: url, noProxy: nil)).added(to: nil)
        #expect(value.contains("-Dhttp.proxyHost=\(host) -Dhttp.proxyPort=\(port) "), "\(value)")
    }

    @Test(arguments: ["https://proxy.test:3128", "socks5h://proxy.test", "http://", "http://a b:1"])
    func otherProxiesCannotBeNamed(url: String) {
        #expect(JavaOptions(proxyURL: url, noProxy: nil) == nil)
    }
}
