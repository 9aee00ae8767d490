import LayoverCore
import LayoverEngine
import LayoverTestSupport
import Retry
import Testing

@testable import LayoverProxy

/// Effects of a reload on requests that are there already.
struct ReloadTests {
    private static func routes(_ delay: Duration, holdMax: Duration = .seconds(600)) -> RouteTable {
        var policy = Policy(name: "patient")
        policy.delay = DelaySchedule(.constant(delay))
        policy.holdMax = holdMax
        var route = Route(name: "r", policy: policy)
        route.host = .exact("o.test")
        return RouteTable(policies: ["patient": policy], routes: [route])
    }

    private static func adopt(_ routes: RouteTable, _ proxy: TestProxy) async throws {
        try await proxy.reload { $0.routes = routes }
        try await proxy.settle()
    }

    @Test func waitingRequestIsMatchedToTheReloadedRoutes() async throws {
        try await withProxy(configuration: { $0.routes = Self.routes(.seconds(1)) }) { proxy in
            let client = try await proxy.client(sending: .get("/"))
            let before = try await proxy.parkNext()
            #expect(before.route == "r")
            #expect(before.policy.name == "patient")
            try await Self.adopt(RouteTable(), proxy)
            let after = try #require(await proxy.engine.entry(before.id))
            #expect(after.route == nil)
            #expect(after.policy == .standard)
            #expect(after.url == before.url, "the target is fixed at acceptance")
            try await Self.adopt(Self.routes(.seconds(1), holdMax: .seconds(5)), proxy)
            try await proxy.advance(by: .seconds(5))
            let response = try await client.answer()
            #expect(response.status == 504, "its end has moved with its policy")
        }
    }

    /// A token was changed, and a field is not to be sent any more.
    @Test(arguments: [false, true])
    func fieldsOfARouteAreSetAgainAfterAReload(isTicket: Bool) async throws {
        func routes(_ token: String, removing removed: [String] = []) -> RouteTable {
            var route = Route(name: "r", policy: .standard)
            route.setFields = [.init(name: "X-Token", value: token), .init(name: "X-Key", value: "~uuid~")]
            route.addFields = [.init(name: "X-Added", value: token)]
            route.removeFields = removed
            return RouteTable(routes: [route])
        }
        try await withProxy(tickets: TestStore(), configuration: { $0.routes = routes("old") }) { proxy in
            let wish = isTicket ? "Prefer: respond-async, wait=0" : "X: 1"
            let client = try await proxy.client(sending: .get("/", "X-Token: mine", "X-Gone: 1", wish))
            let first = try await proxy.nextAttempt()
            #expect(first.values("X-Token") == ["old"])
            #expect(first.values("X-Gone") == ["1"])
            first.fail()
            _ = try await proxy.entry()
            try await Self.adopt(routes("new", removing: ["x-gone"]), proxy)
            try await proxy.advance(by: .seconds(60))
            let second = try await proxy.nextAttempt("the attempt after the reload")
            #expect(second.values("X-Token") == ["new"])
            #expect(second.values("X-Gone").isEmpty)
            #expect(second.values("X-Key") == first.values("X-Key"))
            #expect(second.values("X-Added") == ["old"])
            #expect(await second.mark())
            second.respond(200, ["Content-Length: 0"])
            #expect(try await client.answer().status == (isTicket ? 202 : 200))
        }
    }

    private static let parent = ParentProxy(scheme: .http, host: "parent.test", port: 3128, user: "me", password: "old")

    private static func routes(through parent: ParentProxy?, _ policy: Policy = .standard) -> RouteTable {
        var route = Route(name: "r", policy: policy)
        route.host = .exact("o.test")
        route.way = parent.map { Route.Way.through($0) } ?? .direct
        return RouteTable(policies: ["default": policy], routes: [route])
    }

    /// The attempt under way goes through the parent proxy of before. Its 407 is not that of the origin.
    @Test func refusalByTheParentProxyOfBeforeIsNotTheResponse() async throws {
        try await withProxy(tickets: TestStore(), configuration: { $0.routes = Self.routes(through: Self.parent) }) { proxy in
            let id = try await proxy.accept()
            let attempt = try await proxy.nextAttempt()
            #expect(await attempt.mark())
            try await Self.adopt(Self.routes(through: nil), proxy)
            attempt.respond(407)
            _ = try await proxy.until(id, is: .waiting)
            #expect(try await proxy.entry(.waiting).lastFailure == .parentProxyCredentialsRefused(remoteAddress: nil))
        }
    }

    /// The engine knows both as one attempt, and shuts or opens the gate of the parent proxy of that one.
    @Test func requestFollowsItsPreflightThroughTheParentProxyOfBefore() async throws {
        var policy = Policy.standard
        policy.preflight = Preflight()
        let (before, after) = (Self.routes(through: Self.parent, policy), Self.routes(through: nil, policy))
        try await withProxy(tickets: TestStore(), configuration: { $0.routes = before }) { proxy in
            _ = try await proxy.accept()
            let question = try await proxy.nextAttempt()
            #expect(question.request.method == "HEAD")
            try await Self.adopt(after, proxy)
            question.respond(200)
            let attempt = try await proxy.nextAttempt("the request itself")
            #expect(attempt.request.method == "POST")
            #expect(attempt.request.parentProxy == Self.parent)
        }
    }

    /// Nobody's request goes to a server that it did not name, unless the route says whose.
    @Test func routeWithOnlyABaseURLMatchesNoOtherRequest() async throws {
        var route = Route(name: "shop", policy: .standard)
        route.upstream = .init(origin: Origin(scheme: .http, host: "shop.test", port: nil), basePath: "/api")
        route.setFields = [.init(name: "Authorization", value: "Bearer shop")]
        var hosted = route
        hosted.name = "hosted"
        hosted.host = .exact("hosted.test")
        let routes = RouteTable(routes: [route, hosted])
        try await withProxy(script: { $0.respond(200, ["Content-Length: 0"]) }, configuration: { $0.routes = routes }) { proxy in
            for (request, host, target, token) in [
                ("GET http://o.test/a HTTP/1.1\r\nHost: o.test", "o.test", "/a", ["mine"]),
                ("GET /.layover/route/shop/a HTTP/1.1\r\nHost: localhost", "shop.test", "/api/a", ["Bearer shop"]),
                ("GET http://hosted.test/a HTTP/1.1\r\nHost: hosted.test", "shop.test", "/api/a", ["Bearer shop"]),
            ] {
                _ = try await proxy.answer(to: request + "\r\nAuthorization: mine\r\n\r\n")
                let attempt = try await proxy.nextAttempt()
                #expect(attempt.request.origin.host == host)
                #expect(attempt.request.target == target)
                #expect(attempt.values("Authorization") == token)
            }
        }
    }

    @Test func policyNamedByTheClientIsKeptAfterAReload() async throws {
        try await withProxy(configuration: { $0.routes = Self.routes(.seconds(1)) }) { proxy in
            _ = try await proxy.client(sending: .get("/", "Layover-Policy: ask"))
            let entry = try await proxy.parkNext()
            #expect(entry.policy.name == "ask")
            try await Self.adopt(Self.routes(.seconds(2)), proxy)
            #expect(await proxy.engine.entry(entry.id)?.policy.name == "ask")
        }
    }

    @Test func newRequestUsesTheReloadedRoutes() async throws {
        try await withProxy { proxy in
            var route = Route(name: "tagged", policy: .standard)
            route.setFields = [.init(name: "X-Tag", value: "1")]
            let client = try await proxy.client(sending: .get("/"))
            try await proxy.nextAttempt().respond(200, ["Content-Length: 0"])
            _ = try await client.answer()
            try await Self.adopt(RouteTable(routes: [route]), proxy)
            try await client.send(.get("/"))
            let attempt = try await proxy.nextAttempt()
            #expect(attempt.values("X-Tag") == ["1"])
            attempt.respond(200, ["Content-Length: 0"])
            _ = try await client.answer()
        }
    }

    /// The key takes effect at once, but tickets kept the limit of the start.
    @Test func ticketTakesTheReloadedLimitForItsResponseHead() async throws {
        try await withProxy(tickets: TestStore()) { proxy in
            try await proxy.reload { $0.ticketFirstByte = .seconds(7) }
            _ = try await proxy.accept()
            #expect(try await proxy.nextAttempt().request.timeouts.firstByte == .seconds(7))
        }
    }

    @Test(arguments: ["outbox"])
    func policyOutboxIsRefusedWithoutAStore(name: String) async throws {
        try await withProxy { proxy in
            let response = try await proxy.answer(to: .get("/", "Layover-Policy: \(name)"))
            #expect(response.status == 507)
            #expect(response.member("detail")?.contains("store.path") == true)
        }
    }

    /// A mistyped host fails fast while the network is there, and is parked while it is away.
    @Test func requestForAnUnknownHostIsParkedOnlyWhileTheNetworkIsDown() async throws {
        try await withProxy { proxy in
            let unknown = Failure(
                phase: .resolving, kind: .dnsError, evidence: .neverSent, message: "No such name.",
                isNameUnknown: true)
            let client = try await proxy.client(sending: .get("/"))
            try await proxy.nextAttempt().deliver([.failed(unknown)])
            let response = try await client.answer()
            #expect(response.status == 502)
            #expect(response.member("kind") == "dns_error")
            proxy.loop.setNetwork(.init(isAway: true))
            _ = try await proxy.client(sending: .get("/"))
            try await proxy.nextAttempt().deliver([.failed(unknown)])
            _ = try await proxy.entry()
        }
    }
}
