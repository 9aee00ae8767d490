import LayoverTestSupport
import Testing

@testable import LayoverAdmin

struct ProxyConfigurationTests {
    @Test(
        arguments: [
            ("http://127.0.0.1:8080", nil, "\"PROXY 127.0.0.1:8080; DIRECT\""), ("http://[::1]:9", nil, "\"PROXY [::1]:9; DIRECT\""),
            ("https://127.0.0.1:8443", nil, "\"HTTPS 127.0.0.1:8443; DIRECT\""),
            ("http://127.0.0.1:1", "lay.lan", "\"PROXY lay.lan:1; DIRECT\""),
            ("https://127.0.0.1:1", "[fd00::1]", "\"HTTPS [fd00::1]:1; DIRECT\""),
            ("http://p.example", nil, "\"PROXY p.example:80; DIRECT\""),
            ("unix:/run/x", nil, "return \"DIRECT\";\n}"), (nil, "lay.lan", "return \"DIRECT\";\n}"),
        ] as [(String?, String?, String)])
    func scriptNamesTheProxy(proxy: String?, host: String?, part: String) {
        let text = ProxyConfigurationScript(proxy: proxy, host: host).text
        #expect(text.hasPrefix("function FindProxyForURL(url, host) {") && text.contains(part), "\(text)")
    }

    @Test func proxyConfigurationNeedsNoToken() async throws {
        let harness = AdminHarness(options: .with { $0.token = "hush" })
        #expect(try await harness.send("GET", "/proxy.pac").status == 200)
        #expect(try await harness.send("GET", "/v1/fleet").status == 401)
    }
}
