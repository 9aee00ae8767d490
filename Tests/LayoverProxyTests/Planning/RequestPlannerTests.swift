import LayoverCore
import LayoverEngine
import LayoverHTTP
import LayoverTestSupport
import NIOCore
import Testing

@testable import LayoverProxy

struct RequestPlannerTests {
    private static func plan(_ text: String, isLoopback: Bool, configuration: ProxyConfiguration = ProxyConfiguration()) throws
        -> RequestPlan
    {
        var decoder = RequestDecoder()
        var input = ByteBuffer(string: text)
        guard case .head(let head)? = try decoder.next(&input) else { throw WaitedTooLong(what: "a head") }
        var cache = RequestAddressCache()
        return try RequestPlanner(configuration: configuration, addressGuard: OwnAddressGuard())
            .plan(head, isLoopback: isLoopback, cache: &cache)
    }

    @Test(arguments: [(443, true), (8443, true), (22, true), (25, false), (80, false), (8081, false)])
    func remoteClientsMayConnectOnlyToAllowedPorts(port: Int, isAllowed: Bool) throws {
        let request = "CONNECT o.test:\(port) HTTP/1.1\r\nHost: o.test\r\n\r\n"
        guard case .forward = try Self.plan(request, isLoopback: true) else {
            Issue.record("refused for a client on this machine")
            return
        }
        do {
            _ = try Self.plan(request, isLoopback: false)
            #expect(isAllowed)
        } catch let refusal as Refusal {
            #expect(!isAllowed)
            #expect(refusal.problem.status == 403)
            #expect(refusal.problem.kind == "connect_port")
        }
    }

    @Test(arguments: ["127.0.0.1", "127.1", "0x7f000001", "2130706433", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]"])
    func interceptedAddressMatchesInEverySpelling(host: String) throws {
        for spelling in ["127.0.0.1", "0x7f.1"] {
            var careful = Policy.standard
            careful.name = "careful"
            var route = Route(name: "local", policy: careful)
            (route.host, route.intercepts) = (.exact(spelling), true)
            var configuration = ProxyConfiguration()
            configuration.routes = RouteTable(routes: [route])
            guard
                case .intercept(let plan) = try Self.plan(
                    "CONNECT \(host):443 HTTP/1.1\r\nHost: a\r\n\r\n", isLoopback: true, configuration: configuration)
            else {
                Issue.record("not intercepted")
                continue
            }
            #expect(plan.route == "local" && plan.policy.name == "careful")
            guard
                case .forward = try Self.plan(
                    "CONNECT 127.0.0.2:443 HTTP/1.1\r\nHost: a\r\n\r\n", isLoopback: true, configuration: configuration)
            else {
                Issue.record("another address is intercepted")
                continue
            }
        }
    }

    /// CONNECT has no path and a method of its own.
    @Test func routeOfCONNECTIsFoundByItsHost() throws {
        var careful = Policy.standard
        (careful.name, careful.holdMax) = ("careful", .seconds(7))
        var route = Route(name: "files", policy: careful)
        route.host = .below("files.test")
        route.timeouts.connect = .seconds(3)
        route.allowAddresses = ["169.254.9.9"]
        route.way = .through(ParentProxy(scheme: .socks5h, host: "parent.test", port: 1080))
        var fetches = Route(name: "fetches", policy: .standard)
        (fetches.host, fetches.methods) = (.exact("a.files.test"), ["GET"])
        var pages = Route(name: "pages", policy: .standard)
        (pages.host, pages.pathPrefix) = (.exact("a.files.test"), "/pages")
        var configuration = ProxyConfiguration()
        configuration.routes = RouteTable(routes: [route, fetches, pages])

        let plan = try Self.tunnel(to: "a.files.test:443", configuration)
        #expect(plan.route == "files")
        #expect(plan.policy.holdMax == .seconds(7))
        #expect(plan.request.timeouts.connect == .seconds(3))
        #expect(plan.request.allowAddresses == ["169.254.9.9"])
        #expect(plan.request.parentProxy?.host == "parent.test")
        let other = try Self.tunnel(to: "files.test:443", configuration)
        #expect(other.route == nil && other.request.parentProxy == nil && other.request.allowAddresses == [])
        #expect(other.policy.name == Policy.standard.name)
    }

    /// An address that a route allows is allowed to its hosts only.
    @Test func addressesOfARouteAreForItsCONNECT() throws {
        var route = Route(name: "metadata", policy: .standard)
        route.host = .exact("169.254.169.254")
        var configuration = ProxyConfiguration()
        configuration.routes = RouteTable(routes: [route])
        #expect(throws: Refusal.self) { _ = try Self.tunnel(to: "169.254.169.254:443", configuration) }
        route.allowAddresses = ["169.254.169.254"]
        configuration.routes = RouteTable(routes: [route])
        #expect(try Self.tunnel(to: "169.254.169.254:443", configuration).route == "metadata")
        #expect(throws: Refusal.self) { _ = try Self.tunnel(to: "169.254.1.1:443", configuration) }
    }

    private static func tunnel(to authority: String, _ configuration: ProxyConfiguration) throws -> ForwardPlan {
        try forward("CONNECT \(authority) HTTP/1.1\r\nHost: \(authority)\r\n\r\n", configuration.routes)
    }

    private static func forward(_ text: String, _ routes: RouteTable) throws -> ForwardPlan {
        var configuration = ProxyConfiguration()
        configuration.routes = routes
        guard case .forward(let plan) = try plan(text, isLoopback: true, configuration: configuration) else {
            throw WaitedTooLong(what: "a request that is forwarded")
        }
        return plan
    }

    private static func lines(_ name: String, _ plan: ForwardPlan) -> [String] {
        plan.request.fields.map { String(buffer: $0.line) }.filter { $0.lowercased().hasPrefix(name + ": ") }
    }

    @Test func requestCanNameAConfiguredPolicy() throws {
        let routes = RouteTable(policies: ["never": Policy(name: "never")])
        #expect(try Self.forward(.get("/", "Layover-Policy: never"), routes).policy.name == "never")
    }

    @Test(arguments: [
        ("http://o.test/", "Upgrade: h2c"), ("http://o.test/", "Upgrade: websocket, h2c"), ("https://o.test/", "Upgrade: h2c"),
    ])
    func otherUpgradesAreNotForwarded(target: String, field: String) throws {
        let plan = try Self.forward("GET \(target) HTTP/1.1\r\nHost: o.test\r\nConnection: Upgrade\r\n\(field)\r\n\r\n", RouteTable())
        #expect(plan.request.purpose == .transfer)
        #expect(Self.lines("upgrade", plan) + Self.lines("connection", plan) == [])
    }

    /// No request is sent to a server that it did not name, unless the route says whose.
    @Test(arguments: [
        ("http://o.test/a", "o.test", "o.test", "/a", "mine"),
        ("/.layover/route/shop/a", "localhost", "shop.test", "/api/a", "Bearer shop"),
        ("http://hosted.test/a", "hosted.test", "shop.test", "/api/a", "Bearer shop"),
    ])
    func routeWithOnlyABaseURLMatchesNoOtherRequest(url: String, hostField: String, host: String, target: String, token: String) throws {
        var route = Route(name: "shop", policy: .standard)
        route.upstream = .init(origin: Origin(scheme: .http, host: "shop.test", port: nil), basePath: "/api")
        route.setFields = [.init(name: "Authorization", value: "Bearer shop")]
        var hosted = route
        (hosted.name, hosted.host) = ("hosted", .exact("hosted.test"))
        let plan = try Self.forward(
            "GET \(url) HTTP/1.1\r\nHost: \(hostField)\r\nAuthorization: mine\r\n\r\n", RouteTable(routes: [route, hosted]))
        #expect(plan.request.origin.host == host && plan.request.target == target)
        #expect(Self.lines("authorization", plan) == ["Authorization: \(token)"])
    }

    /// An unusable key is passed on as it came. The key of a route stands in for an empty one. Regression: the empty key made the POST
    /// repeatable, and it was sent twice.
    @Test(arguments: [
        (nil, ["Idempotency-Key:"], ["Idempotency-Key: "], false), (nil, [#"Idempotency-Key: """#], [#"Idempotency-Key: """#], false),
        (nil, ["Idempotency-Key: a", "Idempotency-Key: b"], ["Idempotency-Key: a", "Idempotency-Key: b"], false),
        ("route", ["Idempotency-Key:"], ["Idempotency-Key: route"], true), ("route", ["X-Other: 1"], ["Idempotency-Key: route"], true),
        ("route", ["Idempotency-Key: mine"], ["Idempotency-Key: mine"], true),
    ] as [(String?, [String], [String], Bool)])
    func onlyAUsableKeyMakesAPOSTRepeatable(keyOfTheRoute: String?, fields: [String], keys: [String], mayBeSentTwice: Bool) throws {
        var route = Route(name: "r", policy: .standard)
        route.addFields = keyOfTheRoute.map { [Route.Field(name: "Idempotency-Key", value: $0)] } ?? []
        let text = "POST http://o.test/ HTTP/1.1\r\nHost: o.test\r\nContent-Length: 0\r\n" + fields.map { $0 + "\r\n" }.joined() + "\r\n"
        let plan = try Self.forward(text, keyOfTheRoute == nil ? RouteTable() : RouteTable(routes: [route]))
        #expect(plan.request.mayBeSentTwice == mayBeSentTwice)
        #expect(Self.lines("idempotency-key", plan) == keys)
    }

    @Test func cachedAddressIsUsedOnlyForAnEqualAuthority() throws {
        var cache = RequestAddressCache()
        let planner = RequestPlanner(configuration: ProxyConfiguration(), addressGuard: OwnAddressGuard())
        for (target, expected) in [
            ("http://a.test/", "http://a.test"), ("http://a.test/2", "http://a.test"), ("https://a.test/", "https://a.test"),
            ("http://A.test/", "http://a.test"), ("http://a.test:80/", "http://a.test"), ("http://a.test:81/", "http://a.test:81"),
            ("http://[::1]:81/", "http://[::1]:81"),
        ] {
            var decoder = RequestDecoder()
            var input = ByteBuffer(string: "GET \(target) HTTP/1.1\r\nHost: x\r\n\r\n")
            guard case .head(let head)? = try decoder.next(&input),
                case .forward(let plan) = try planner.plan(head, isLoopback: true, cache: &cache)
            else {
                Issue.record("\(target)")
                continue
            }
            #expect(plan.request.origin.description == expected)
        }
    }
}
