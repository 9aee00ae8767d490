import LayoverTestSupport
import Testing

@testable import LayoverAdmin

struct ProxyConfigurationTests {
    @Test(arguments: [
        ("http://127.0.0.1:8080", "\"PROXY 127.0.0.1:8080; DIRECT\""), ("http://[::1]:9", "\"PROXY [::1]:9; DIRECT\""),
        ("unix:/run/x", "return \"DIRECT\";\n}"), (nil, "return \"DIRECT\";\n}"),
    ] as [(String?, String)])
    func scriptNamesTheProxy(proxy: String?, part: String) {
        let text = ProxyConfigurationScript(proxy: proxy).text
        #expect(text.hasPrefix("function FindProxyForURL(url, host) {") && text.contains(part), "\(text)")
    }

    @Test func browserNeedsNoTokenForIt() async throws {
        var options = AdminOptions()
        options.token = "hush"
        try await AdminHarness.with(options: options) { harness in
            let script = try await harness.send("GET", "/proxy.pac")
            #expect(script.status == 200)
            let fleet = try await harness.send("GET", "/v1/fleet")
            #expect(fleet.status == 401)
        }
    }
}
