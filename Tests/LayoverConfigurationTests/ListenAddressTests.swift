import Testing

@testable import LayoverConfiguration

@Suite struct ListenAddressTests {
    @Test(arguments: [
        ("127.0.0.1:8080", ListenAddress.tcp(host: "127.0.0.1", port: 8080), true),
        ("127.8.9.1:0", .tcp(host: "127.8.9.1", port: 0), true),
        ("[::1]:8080", .tcp(host: "::1", port: 8080), true),
        ("localhost:65535", .tcp(host: "localhost", port: 65535), true),
        ("0.0.0.0:80", .tcp(host: "0.0.0.0", port: 80), false),
        ("[::]:80", .tcp(host: "::", port: 80), false),
        ("[::ffff:127.0.0.1]:80", .tcp(host: "::ffff:127.0.0.1", port: 80), false),
        ("proxy.example:80", .tcp(host: "proxy.example", port: 80), false),
        ("127.example.com:80", .tcp(host: "127.example.com", port: 80), false),
        ("unix:/run/layover.sock", .unix(path: "/run/layover.sock"), true),
        ("unix:layover.sock", .unix(path: "layover.sock"), true),
    ])
    func addressesAreRead(text: String, expected: ListenAddress, isLoopback: Bool) throws {
        let address = try Codec<ListenAddress>.listen(standard: "127.0.0.1:8080").read(.text(text))
        #expect(address == expected)
        #expect(address.isLoopback == isLoopback)
        #expect(address.description == text)
    }

    @Test(arguments: [
        "", "8080", ":8080", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:-1", "127.0.0.1:+80",
        "127.0.0.1:8080x", "127.1:80", "0x7f000001:80", "256.0.0.1:80", "::1:8080", "[::1]", "[::1]8080",
        "[fe80::1%eth0]:80",
        "[127.0.0.1]:80", "*:80", "a b:80", "-a:80", "http://127.0.0.1:80", "unix:", "unix:/run/",
        "127.0.0.1:٨٠",
    ])
    func invalidAddressIsRefused(text: String) {
        let refusal = #expect(throws: Refusal.self) {
            try Codec<ListenAddress>.listen(standard: "127.0.0.1:8080").read(.text(text))
        }
        #expect(
            refusal?.message == "\"\(text)\" is not an address to listen on "
                + "(write 127.0.0.1:8080, [::1]:8080 or unix:/path)")
    }

    @Test func thePathOfASocketFitsTheKernel() throws {
        let codec = Codec<ListenAddress>.listen(standard: "127.0.0.1:8080")
        let path = "/" + String(repeating: "a", count: 106)
        #expect(try codec.read(.text("unix:" + path)) == .unix(path: path))
        #expect(throws: Refusal.self) { try codec.read(.text("unix:" + path + "a")) }
    }
}
