import LayoverTestSupport
import Testing

@testable import LayoverCore

struct RouteTableTests {
    private func route(
        _ name: String, host: Route.HostPattern = .any, path: String = "/", methods: Set<String>? = nil
    ) -> Route {
        var route = Route(name: name, policy: .standard)
        route.host = host
        route.pathPrefix = path
        route.methods = methods
        return route
    }

    /// From the most to the least specific.
    private var ranked: [Route] {
        [
            route("exact-path-method", host: .exact("a.b.example"), path: "/v1", methods: ["GET"]),
            route("exact-path", host: .exact("a.b.example"), path: "/v1"),
            route("exact-method", host: .exact("a.b.example"), methods: ["GET"]),
            route("exact", host: .exact("a.b.example")),
            route("below-b", host: .below("b.example"), path: "/"),
            route("below-path", host: .below("example"), path: "/v1/long"),
            route("below", host: .below("example")),
            route("any-path", path: "/v1"),
            route("any-method", methods: ["GET"]),
            route("any-a"), route("any-b"),
        ]
    }

    @Test(arguments: 1...20)
    func theMostSpecificRouteWinsInWhateverOrderTheyAreGiven(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let table = RouteTable(routes: ranked.shuffled(using: &generator))
        #expect(table.routes.map(\.name) == ranked.map(\.name))
    }

    /// The dot marks a name as complete (RFC 1034 section 3.1).
    @Test func dotAtTheEndOfAHostChangesNothing() {
        let table = RouteTable(routes: ranked)
        for (host, name) in [("a.b.example", "exact"), ("c.b.example", "below-b"), ("example", "any-a"), ("elsewhere", "any-a")] {
            #expect(table.route(host: host, path: "/v2", method: "POST")?.name == name)
            #expect(table.route(host: host + ".", path: "/v2", method: "POST")?.name == name, "\(host).")
        }
    }

    private static let requests: [(String, String, String, String)] = [
        ("a.b.example", "/v1/x", "GET", "exact-path-method"), ("a.b.example", "/v1/x", "POST", "exact-path"),
        ("a.b.example", "/v2", "GET", "exact-method"), ("a.b.example", "/v2", "POST", "exact"),
        ("c.b.example", "/v1/long", "GET", "below-b"), ("b.example", "/v1/longer", "GET", "below-path"),
        ("b.example", "/", "GET", "below"), ("example", "/v1", "GET", "any-path"),
        ("xexample", "/", "GET", "any-method"), (".example", "/", "POST", "any-a"),
        ("other", "/", "get", "any-a"),
    ]

    @Test(arguments: requests)
    func requestsFindTheirRoute(host: String, path: String, method: String, expected: String) {
        let table = RouteTable(routes: ranked.reversed())
        #expect(table.route(host: host, path: path, method: method)?.name == expected)
    }

    @Test func emptyRouteTableMatchesNothing() {
        #expect(RouteTable().isEmpty)
        #expect(RouteTable().route(host: "a", path: "/", method: "GET") == nil)
        let table = RouteTable(routes: [route("one", host: .exact("a"), path: "/x")])
        #expect(!table.isEmpty)
        #expect(table.route(host: "a", path: "/", method: "GET") == nil)
        #expect(table.route(named: "one")?.name == "one")
        #expect(table.route(named: "two") == nil)
    }

    @Test(arguments: ["127.0.0.1", "127.1", "0x7f000001", "2130706433"])
    func hostIsFoundInEverySpellingOfItsAddress(host: String) {
        let table = RouteTable(routes: [route("here", host: .exact("127.0.0.1"))])
        #expect(table.route(host: host, path: "/", method: "GET")?.name == "here")
        let origin = Origin(scheme: .http, host: host)
        #expect(table.foundRoute(origin: origin, path: "/", method: "GET", route: "here", wish: PolicyWish()).route == "here")
        #expect(table.foundRoute(origin: origin, path: "/", method: "GET", route: nil, wish: PolicyWish()).route == "here")
        #expect(!table.intercepts(host))
        #expect(table.intercepting([.exact("127.0.0.1")]).intercepts(host))
        #expect(RouteTable().intercepting([.exact("127.1")]).intercepts(host), "the spelling of the rule is another one")
        var relayed = route("relayed", host: .exact("127.0.0.1"))
        (relayed.intercepts, relayed.interceptFallback) = (true, true)
        #expect(RouteTable(routes: [relayed]).relaysRejected(host))
    }

    @Test func ticketAcceptedWithoutAKeyMatchesNoRouteWithAKey() {
        var keyed = route("keyed", host: .exact("a"))
        keyed.key = "k"
        let table = RouteTable(routes: [keyed, route("open")])
        func foundRoute(_ name: String?) -> String? {
            table.foundRoute(
                origin: Origin(scheme: .http, host: "a"), path: "/", method: "GET", route: name, wish: PolicyWish()
            ).route
        }
        #expect(foundRoute(nil) == nil)
        #expect(foundRoute("open") == nil)
        #expect(foundRoute("keyed") == "keyed")
    }

    @Test func theStandardPolicyCanBeChangedByItsName() {
        #expect(RouteTable().standardPolicy == .standard)
        var changed = Policy.standard
        changed.priority = 0
        #expect(RouteTable(policies: ["default": changed]).standardPolicy.priority == 0)
    }
}
