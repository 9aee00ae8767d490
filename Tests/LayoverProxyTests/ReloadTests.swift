import LayoverCore
import LayoverEngine
import LayoverTestSupport
import Retry
import Testing

@testable import LayoverProxy

/// Effects of a reload on requests that are there already.
struct ReloadTests {
    /// It keeps its target and the policy that its client named.
    @Test func waitingRequestIsMatchedToTheReloadedRoutes() async throws {
        let routes = Self.routes(through: nil)
        try await withParked(.get("/", "Layover-Policy: ask"), configuration: { $0.routes = routes }) { proxy, _, before in
            #expect(before.route == "r" && before.policy.name == "ask")
            try await proxy.adopt(RouteTable())
            let after = try #require(await proxy.engine.entry(before.id))
            #expect(after.route == nil && after.policy.name == "ask")
            #expect(after.url == before.url, "the target is fixed at acceptance")
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
            try await proxy.adopt(routes("new", removing: ["x-gone"]))
            let second = try await proxy.nextAttempt(after: .seconds(60), "the attempt after the reload")
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
            try await proxy.adopt(Self.routes(through: nil))
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
            try await proxy.adopt(after)
            question.respond(200)
            let attempt = try await proxy.nextAttempt("the request itself")
            #expect(attempt.request.method == "POST")
            #expect(attempt.request.parentProxy == Self.parent)
        }
    }

    /// The engine has the reload first. By then the loop judges the first attempt by the policy of before, which allows another one.
    @Test func requestWithoutAnAttemptLeftGetsTheStandInResponseOfTheReloadedPolicy() async throws {
        try await withAttempt(configuration: { $0.routes = .standard { _ in } }) { proxy, client, attempt in
            await proxy.engine.adopt(
                .standard {
                    $0.automaticAttemptsMax = 1
                    $0.onExhausted = .standIn(StandInResponse(status: 299, body: "later"))
                })
            attempt.fail()
            let response = try await client.answer()
            #expect(response.status == 299 && response.body == "later")
            try await proxy.expectAttempts(1)
        }
    }

    @Test func newRequestUsesTheReloadedRoutes() async throws {
        try await withProxy { proxy in
            var route = Route(name: "tagged", policy: .standard)
            route.setFields = [.init(name: "X-Tag", value: "1")]
            let client = try await proxy.client(sending: .get("/"))
            try await proxy.nextAttempt().respond(200, ["Content-Length: 0"])
            _ = try await client.answer()
            try await proxy.adopt(RouteTable(routes: [route]))
            try await client.send(.get("/"))
            #expect(try await proxy.nextAttempt().values("X-Tag") == ["1"])
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
}
