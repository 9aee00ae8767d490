import Testing

@testable import layover

struct AdminAddressTests {
    @Test(arguments: [
        ("http://127.0.0.1:8081", "127.0.0.1", 8081, ""), ("127.0.0.1:8081/", "127.0.0.1", 8081, ""),
        ("HTTP://[::1]:9", "::1", 9, ""), ("http://admin.example", "admin.example", 80, ""),
        ("http://gate.example:1/layover/", "gate.example", 1, "/layover"),
    ])
    func addressesAreRead(text: String, host: String, port: Int, prefix: String) throws {
        let address = try AdminAddress(text)
        #expect(address.host == host)
        #expect(address.port == port)
        #expect(address.prefix == prefix)
    }

    @Test(arguments: [
        "", "https://a.example", "unix:", "http://", "http://:80", "a:b", "a:0", "a:65536", "a:+1",
        "http://u@a.example", "[::1", "[::1]x", "http://a.example/?q",
    ])
    func otherTextsAreUsageErrors(text: String) {
        #expect { try AdminAddress(text) } throws: { ($0 as? CommandFailure)?.code == .usage }
    }

    @Test func authorityHasBracketsAroundLiterals() throws {
        #expect(try AdminAddress("http://[::1]:9").authority == "[::1]:9")
    }
}
