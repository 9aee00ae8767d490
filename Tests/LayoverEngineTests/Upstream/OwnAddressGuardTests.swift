import LayoverCore
import LayoverEngine
import Testing

struct OwnAddressGuardTests {
    private static func loopback() -> OwnAddressGuard {
        let own = OwnAddressGuard()
        own.add(host: "127.0.0.1", port: 8080)
        return own
    }

    @Test(arguments: [
        "127.0.0.1", "localhost", "LOCALHOST", "localhost.", "app.localhost", "127.1", "127.0.1", "0x7f000001", "0x7f.1",
        "0177.0.0.1", "2130706433", "017700000001", "0", "0.0.0.0", "0x0", "::ffff:127.0.0.1", "::ffff:7f00:1", "::",
        "0:0:0:0:0:ffff:127.0.0.1",
    ])
    func ownListenerIsRefusedUnderEverySpelling(host: String) {
        #expect(Self.loopback().refusal(ofLiteral: host, port: 8080, allow: []) == .proxyLoopDetected)
        #expect(Self.loopback().refusal(ofLiteral: host, port: 8081, allow: []) == nil, "another port is not ours")
    }

    @Test(arguments: ["127.0.0.2", "example.com", "1.2.3.4", "localhost.example.com", "deadbeef.example", "::1"])
    func otherAddressesAreAllowed(host: String) {
        #expect(Self.loopback().refusal(ofLiteral: host, port: 8080, allow: []) == nil)
    }

    @Test(arguments: ["127.0.0.1", "127.9.9.9", "localhost", "0", "::1", "::ffff:127.0.0.1", "::"])
    func aWildcardListenerIsReachedByEveryLocalAddress(host: String) {
        for wildcard in ["0.0.0.0", "::"] {
            let own = OwnAddressGuard()
            own.add(host: wildcard, port: 8080)
            #expect(own.refusal(ofLiteral: host, port: 8080, allow: []) == .proxyLoopDetected)
        }
    }

    @Test(arguments: [
        "169.254.169.254", "169.254.0.1", "fe80::1", "febf::1", "fd00:ec2::254", "::ffff:169.254.169.254", "0xa9fea9fe",
        "::169.254.169.254", "64:ff9b::a9fe:a9fe", "2002:a9fe:a9fe::1", "100.100.100.200", "192.0.0.192", "fd20:ce::254",
        "168.63.129.16", "::ffff:168.63.129.16", "64:ff9b::a83f:8110", "64:ff9b:1::1", "64:ff9b:1:ffff::a9fe:a9fe", "2852039166", "224.0.0.1", "255.255.255.255", "ff02::1",
    ])
    func linkLocalAndMetadataAreRefusedUnlessAllowed(host: String) {
        let own = OwnAddressGuard()
        #expect(own.refusal(ofLiteral: host, port: 80, allow: []) == .destinationIPProhibited)
        #expect(own.refusal(ofLiteral: host, port: 80, allow: ["10.0.0.0/8", "nonsense", "1.2.3.4/99", "/"]) == .destinationIPProhibited)
        #expect(own.refusal(ofLiteral: host, port: 80, allow: [host.hasPrefix("0x") || host.hasPrefix("28") ? "169.254.169.254" : host]) == nil)
    }

    @Test(arguments: [
        ("169.254.169.254", "169.254.0.0/16", true), ("169.254.169.254", "169.254.169.254/32", true),
        ("169.254.169.254", "169.253.0.0/16", false), ("fe80::1", "fe80::/10", true), ("fe80::1", "169.254.0.0/0", false),
        ("169.254.1.1", "::/0", false), ("169.254.1.1", "0.0.0.0/0", true), ("169.254.1.1", "169.254.1.1/-1", false),
    ])
    func prefixCoversItsAddresses(address: String, rule: String, isCovered: Bool) {
        let refusal = OwnAddressGuard().refusal(of: address, port: 80, allow: [rule])
        #expect((refusal == nil) == isCovered)
    }

    @Test func ownListenersAreRefusedWhateverIsAllowed() {
        #expect(Self.loopback().refusal(of: "127.0.0.1", port: 8080, allow: ["127.0.0.0/8"]) == .proxyLoopDetected)
    }

    @Test func listenerThatIsNamedIsFoundByItsAddresses() {
        let own = OwnAddressGuard()
        own.add(host: "localhost", port: 8080)
        #expect(own.refusal(of: "127.0.0.1", port: 8080, allow: []) == .proxyLoopDetected)
    }

    @Test func nameIsNotRefused() {
        #expect(Self.loopback().refusal(of: "not an address", port: 8080, allow: []) == nil)
        #expect(Self.loopback().refusal(of: "fe80::1%eth0", port: 80, allow: []) == .destinationIPProhibited)
    }
}
