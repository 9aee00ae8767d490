import LayoverCore
import LayoverEngine
import LayoverTestSupport
import Testing

@testable import LayoverProxy

/// A route with a key is only for requests that give it.
struct RouteKeyTests {
    private static let answers: @Sendable (ScriptedAttempt) -> Void = { $0.respondOnceSent(200, ["Content-Length: 2"], body: "ok") }

    private static func routes(_ configuration: inout ProxyConfiguration) {
        var api = Route(name: "api", policy: .standard)
        api.upstream = .init(origin: Origin(scheme: .https, host: "api.test"), basePath: "/base")
        api.setFields = [.init(name: "Authorization", value: "Bearer t")]
        api.methods = ["GET", "TRACE"]
        api.key = "k3y-._~"
        var hosted = Route(name: "hosted", policy: .standard)
        hosted.host = .exact("hosted.test")
        hosted.setFields = [.init(name: "Authorization", value: "Bearer h")]
        hosted.key = "other"
        var open = Route(name: "open", policy: .standard)
        open.upstream = .init(origin: Origin(scheme: .https, host: "open.test"), basePath: "")
        configuration.routes = RouteTable(routes: [api, hosted, open])
    }

    @Test(arguments: [
        ("/.layover/route/api/~k3y-._~/a/b?q=1", "", "/base/a/b?q=1"), ("/.layover/route/api/~k3y-._~", "", "/base/"),
        ("/.layover/route/api/~k3y-._~/", "", "/base/"), ("/.layover/route/api/~k3y-._~?q=1", "", "/base/?q=1"),
        ("/.layover/route/api/%7Ek3y-._%7e/a", "", "/base/a"), ("/.layover/route/api/%7ek3y-._~/a", "Layover-Key: k3y-._~", "/base/a"),
        ("/.layover/route/api/~k3y-._~/~k3y-._~/x", "", "/base/~k3y-._~/x"), ("/.layover/route/api/a", "Layover-Key: k3y-._~", "/base/a"),
        ("/.layover/route/api/~user/a", "layover-key: k3y-._~", "/base/~user/a"),
        ("/.layover/route/api/~k3y-._~/a", "Layover-Key: k3y-._~", "/base/a"), ("http://hosted.test/a", "Layover-Key: other", "/a"),
        ("/.layover/route/open/~any/a", "", "/~any/a"), ("/.layover/route/open/a", "Layover-Key: x", "/a"),
    ])
    func requestWithTheRouteKeyIsForwardedWithoutTheKey(path: String, field: String, target: String) async throws {
        try await withProxy(script: Self.answers, configuration: Self.routes) { proxy in
            #expect(try await proxy.answer(to: .own("GET", path, field.isEmpty ? [] : [field])).status == 200)
            let attempt = try await proxy.nextAttempt()
            #expect(attempt.request.target == target)
            #expect(!attempt.fields.contains { $0.lowercased().contains("layover-key") })
        }
    }

    @Test(arguments: [
        ("/.layover/route/api/a", ""), ("/.layover/route/api", ""), ("/.layover/route/api/~/a", ""), ("/.layover/route/api/~k3y-._/a", ""),
        ("/.layover/route/api/~k3y-._~~/a", ""), ("/.layover/route/api/k3y-._~/a", ""), ("/.layover/route/api/a/~k3y-._~", ""),
        ("/.layover/route/api/~K3Y-._~/a", ""), ("/.layover/route/api/a", "Layover-Key: wrong"), ("/.layover/route/api/a", "Layover-Key:"),
        ("/.layover/route/api/~k3y-._~/a", "Layover-Key: wrong"), ("/.layover/route/api/~other/a", ""),
        ("http://hosted.test/a", ""), ("http://hosted.test/~other/a", ""), ("http://hosted.test/a", "Layover-Key: k3y-._~"),
    ])
    func requestWithoutTheRouteKeyIsRefused(path: String, field: String) async throws {
        try await withProxy(script: Self.answers, configuration: Self.routes) { proxy in
            let response = try await proxy.answer(to: .own("GET", path, field.isEmpty ? [] : [field])).expectProblem(403, "route_key")
            #expect(!response.body.contains("k3y"))
            #expect(proxy.upstream.startedCount == 0)
        }
    }

    @Test func routeReachedByItsHostNeedsItsKey() async throws {
        try await withProxy(script: Self.answers, configuration: Self.routes) { (proxy: TestProxy) async throws in
            #expect(try await proxy.answer(to: "GET /a HTTP/1.1\r\nHost: hosted.test\r\n\r\n").status == 403)
            #expect(try await proxy.answer(to: "GET /a HTTP/1.1\r\nHost: hosted.test\r\nLayover-Key: other\r\n\r\n").status == 200)
            #expect(proxy.upstream.startedCount == 1)
        }
    }

    /// A page that came by the base URL names its own address in the requests that it makes.
    @Test(arguments: [
        ("http://127.0.0.1:1/.layover/route/api/~k3y-._~/page?a=1", "http://127.0.0.1:1/.layover/route/api/page?a=1"),
        ("http://127.0.0.1:1/.layover/route/ap/%7Ek3y-._~/page", "http://127.0.0.1:1/.layover/route/ap/page"),
        ("http://elsewhere.test/~k3y/a", "http://elsewhere.test/~k3y/a"),
    ])
    func refererReachesTheOriginWithoutTheKey(referer: String, sent: String) async throws {
        try await withProxy(script: Self.answers, configuration: Self.routes) { proxy async throws in
            #expect(try await proxy.answer(to: .own("GET", "/.layover/route/api/~k3y-._~/a", ["Referer: \(referer)"])).status == 200)
            #expect(try await proxy.nextAttempt().values("Referer") == [sent])
        }
    }

    @Test func traceDoesNotEchoTheKey() async throws {
        try await withProxy(configuration: Self.routes) { proxy in
            let response = try await proxy.answer(
                to: .own(
                    "TRACE", "/.layover/route/api/~k3y-._~/a",
                    ["Max-Forwards: 0", "Layover-Key: k3y-._~", "Referer: http://localhost/.layover/route/api/~k3y-._~/b"]))
            #expect(response.status == 200)
            #expect(response.body.contains("/.layover/route/api/~***/a") && response.body.contains("/.layover/route/api/~***/b"))
            #expect(!response.body.contains("k3y"))
        }
    }
}
