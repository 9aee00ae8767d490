import Testing

@testable import LayoverUpstream

/// Which hosts are asked for.
struct HostNameTests {
    @Test(arguments: [
        "127.0.0.1", "127.1", "0x7f000001", "2130706433", "0", "017700000001", "::1", "fe80::1",
        "::ffff:127.0.0.1",
    ])
    func addressesInAnySpellingAreNotResolved(host: String) {
        #expect(HostName(host) == .literal)
    }

    @Test(arguments: ["localhost", "LOCALHOST", "localhost.", "a.localhost", "a.b.localhost."])
    func localhostIsLoopbackByDefinition(host: String) {
        #expect(HostName(host) == .loopback)
    }

    @Test(arguments: [
        "", ".", "..", "a..b", ".a", String(repeating: "a", count: 64),
        Array(repeating: "abc", count: 64).joined(separator: "."),
    ])
    func namesThatTheDNSCannotHoldAreNotResolved(host: String) {
        #expect(HostName(host) == .impossible)
    }

    @Test(arguments: [
        ("Example.COM", "example.com"), ("example.com.", "example.com."), ("notlocalhost", "notlocalhost"),
        ("localhost.example", "localhost.example"), ("_a.-b.example", "_a.-b.example"),
        ("1.2.3.4.5", "1.2.3.4.5"), ("256.256.256.256", "256.256.256.256"), ("08.1", "08.1"),
        ("0xyz", "0xyz"), ("single", "single"),
    ])
    func namesAreResolvedInLowerCase(host: String, name: String) {
        #expect(HostName(host) == .name(name))
    }

    @Test func longestNameIsResolved() {
        let name = [63, 63, 63, 61].map { String(repeating: "a", count: $0) }.joined(separator: ".")
        #expect(name.utf8.count == 253)
        #expect(HostName(name) == .name(name))
        #expect(HostName(name + ".") == .name(name + "."))
        #expect(HostName(name + "d") == .impossible)
    }
}
