import LayoverCore
import Testing

@testable import LayoverEngine

@Suite struct ParentProxyRulesTests {
    private static let exceptions: [ParentProxyRules.Exception] = [
        .domain("a.example"), .below("c.example"), .network("10.0.0.0/8"), .network("fd00::/8"), .domain("localhost"),
    ]

    @Test(arguments: [
        ("a.example", true), ("www.a.example", true), ("nota.example", false), ("a.example.", true), ("c.example", false),
        ("x.c.example", true), ("10.1.2.3", true), ("10.1", true), ("11.0.0.1", false), ("fd12::1", true), ("fe00::1", false),
        ("localhost", true), ("b.example", false),
    ])
    func exceptionsAreThoseOfCurl(host: String, isExcepted: Bool) {
        var rules = ParentProxyRules()
        rules.exceptions = Self.exceptions
        #expect(rules.isExcepted(Origin(scheme: .http, host: host)) == isExcepted)
    }

    @Test func aRouteDecidesForItself() {
        var rules = ParentProxyRules()
        let (general, own) = (ParentProxy(scheme: .http, host: "p"), ParentProxy(scheme: .socks5h, host: "q"))
        rules.general = general
        rules.exceptions = [.all]
        var (through, direct) = (Route(name: "through", policy: .standard), Route(name: "direct", policy: .standard))
        through.way = .through(own)
        direct.way = .direct
        let origin = Origin(scheme: .https, host: "a.example")
        #expect(RouteTable(routes: [through, direct], parentProxies: rules).parentProxy(for: origin, route: "through") == own)
        #expect(RouteTable(routes: [through, direct], parentProxies: rules).parentProxy(for: origin, route: nil) == nil)
        rules.exceptions = []
        let table = RouteTable(routes: [through, direct], parentProxies: rules)
        #expect(table.parentProxy(for: origin, route: nil) == general)
        #expect(table.parentProxy(for: origin, route: "direct") == nil)
        #expect(!RouteTable().hasParentProxies)
    }
}
