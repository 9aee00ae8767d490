import LayoverCore
import LayoverEngine
import LayoverTestSupport
import Testing

@testable import LayoverProxy

/// Requests that name the proxy itself, and addresses that must not be reached.
struct OurselvesTests {
    private static let answers: @Sendable (ScriptedAttempt) -> Void = { $0.respondOnceSent(200, ["Content-Length: 2"], body: "ok") }

    private static func routes(_ configuration: inout ProxyConfiguration) {
        var api = Route(name: "api", policy: .standard)
        api.host = .exact("nowhere.invalid")
        api.upstream = .init(origin: Origin(scheme: .https, host: "api.example.com"), basePath: "/base")
        api.setFields = [.init(name: "Authorization", value: "Bearer t")]
        api.addFields = [.init(name: "X-Added", value: ""), .init(name: "X-Added", value: "2")]
        api.removeFields = ["Cookie"]
        api.methods = ["GET", "POST"]
        var named = Route(name: "named", policy: .standard)
        named.host = .exact("dev.test")
        named.upstream = .init(origin: Origin(scheme: .http, host: "up.test", port: 81), basePath: "")
        configuration.routes = RouteTable(routes: [api, named])
    }

    @Test func helpPageIsServedAtTheProxysOwnAddress() async throws {
        try await withProxy { proxy in
            for host in ["localhost", "localhost:8080", "127.0.0.1:1", "[::1]", "LocalHost"] {
                let client = try await proxy.client(sending: "GET / HTTP/1.1\r\nHost: \(host)\r\n\r\nHEAD /?x HTTP/1.1\r\nHost: \(host)\r\n\r\n")
                #expect(try await client.answer().status == 200)
                let head = try await client.answer(toHead: true).expectStatus(200)
                #expect(Int(head["Content-Length"] ?? "0") ?? 0 > 0)
            }
            #expect(try await proxy.answer(to: "GET / HTTP/1.0\r\n\r\n").status == 200)
        }
    }

    @Test(arguments: [
        ("POST", "/", 405), ("GET", "/x", 404), ("GET", "/.layover/tickets/1", 404), ("GET", "/.layover/route/none/x", 404),
        ("GET", "/.layover/route/", 404), ("DELETE", "/.layover/route/api/x", 405),
    ])
    func pathsAndMethodsThatTheProxyDoesNotHaveAreRefused(method: String, path: String, status: Int) async throws {
        try await withProxy(script: Self.answers, configuration: Self.routes) { proxy async throws in
            #expect(try await proxy.answer(to: .own(method, path, ["Content-Length: 0"])).status == status)
            #expect(proxy.upstream.startedCount == 0)
        }
    }

    @Test(arguments: [
        ("evil.test", "", 421), ("169.254.169.254", "", 421), ("localhost.evil.test", "", 421),
        ("localhost", "Sec-Fetch-Site: cross-site", 403), ("localhost", "Sec-Fetch-Site: same-site", 403),
        ("localhost", "Sec-Fetch-Site: none", 200), ("localhost", "Sec-Fetch-Site: same-origin", 200),
        ("localhost:8080", "Origin: http://localhost:8080", 200), ("localhost:8080", "Origin: http://localhost:8081", 403),
        ("localhost", "Origin: https://evil.test", 403), ("localhost", "Origin: null", 403),
        ("localhost", "Origin: http://localhost\r\nSec-Fetch-Site: cross-site", 403),
    ])
    func requestFromAForeignWebPageIsRefused(host: String, field: String, status: Int) async throws {
        try await withProxy(script: Self.answers, configuration: Self.routes) { proxy async throws in
            let fields = field.isEmpty ? "" : field + "\r\n"
            for path in ["/", "/.layover/route/api/x"] {
                #expect(try await proxy.answer(to: "GET \(path) HTTP/1.1\r\nHost: \(host)\r\n\(fields)\r\n").status == status)
            }
            #expect(proxy.upstream.startedCount == (status == 200 ? 1 : 0))
        }
    }

    @Test(arguments: [
        ("/.layover/route/api/a/b?q=1", "/base/a/b?q=1"), ("/.layover/route/api", "/base/"), ("/.layover/route/api/", "/base/"),
        ("/.layover/route/api?q=1", "/base/?q=1"), ("/.layover/route/api/%2e%2e/x", "/base/%2e%2e/x"),
    ])
    func routeIsReachedByItsBaseURL(path: String, target: String) async throws {
        try await withProxy(script: Self.answers, configuration: Self.routes) { proxy in
            let response = try await proxy.answer(
                to: "GET \(path) HTTP/1.1\r\nHost: localhost\r\nCookie: a=1\r\nauthorization: mine\r\nX-Added: 1\r\n\r\n")
            #expect(response.status == 200)
            let attempt = try await proxy.nextAttempt()
            #expect(attempt.request.origin.description == "https://api.example.com")
            #expect(attempt.request.host == "api.example.com")
            #expect(attempt.request.target == target)
            #expect(attempt.fields.dropLast() == ["X-Added: 1", "Authorization: Bearer t", "X-Added: ", "X-Added: 2"])
        }
    }

    @Test func routeIsReachedByItsHostField() async throws {
        try await withProxy(script: Self.answers, configuration: Self.routes) { proxy in
            #expect(try await proxy.answer(to: "GET /x?y HTTP/1.1\r\nHost: Dev.test:8080\r\n\r\n").status == 200)
            let attempt = try await proxy.nextAttempt()
            #expect(attempt.request.host == "up.test:81")
            #expect(attempt.request.target == "/x?y")
            #expect(try await proxy.answer(to: "GET /x HTTP/1.1\r\nHost: dev.test\r\nOrigin: http://evil.test\r\n\r\n").status == 403)
        }
    }

    @Test func optionsIsAnsweredByTheProxyItself() async throws {
        try await withProxy { proxy in
            let response = try await proxy.answer(to: "OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n").expectStatus(200)
            #expect(response["Allow"]?.contains("CONNECT") == true)
            #expect(try await proxy.answer(to: "OPTIONS http://o.test/ HTTP/1.1\r\nHost: o\r\nMax-Forwards: 0\r\n\r\n").status == 200)
            #expect(proxy.upstream.startedCount == 0)
        }
    }

    @Test func traceEchoesNoSecrets() async throws {
        try await withProxy { proxy in
            let response = try await proxy.answer(
                to: "TRACE http://me:hush@o.test/p HTTP/1.1\r\nHost: o\r\nMax-Forwards: 0\r\nAuthorization: s1\r\nCookie: s2\r\n"
                    + "Proxy-Authorization: s3\r\nX-Kept: yes\r\n\r\n")
            #expect(response["Content-Type"] == "message/http")
            #expect(response.body.hasPrefix("TRACE http://o.test/p HTTP/1.1\r\n"))
            #expect(response.body.contains("X-Kept: yes"))
            for secret in ["s1", "s2", "s3", "hush"] { #expect(!response.body.contains(secret)) }
            #expect(proxy.upstream.startedCount == 0)
        }
    }

    // MARK: Loops

    @Test func requestWithTheProxysOwnViaIsALoop() async throws {
        try await withProxy(script: Self.answers) { proxy in
            for via in ["1.1 layover-0a1b2c3d", "1.0 a, 1.1 layover-0a1b2c3d (us), 1.1 b", "HTTP/1.1 layover-0a1b2c3d"] {
                let response = try await proxy.answer(to: .get("/", "Via: \(via)")).expectProblem(502, "proxy_loop_detected")
                #expect(response["Proxy-Status"]?.contains("error=proxy_loop_detected") == true)
            }
            #expect(proxy.upstream.startedCount == 0)
            for via in ["1.1 layover", "1.1 layover-0a1b2c3e", "1.1 Layover-0a1b2c3d", "1.1 x (layover-0a1b2c3d)", "1.1 layover-0a1b2c3d:80"] {
                #expect(try await proxy.answer(to: .get("/", "Via: \(via)")).status == 200)
            }
        }
    }

    @Test func tunnelWithTheProxysOwnViaIsALoop() async throws {
        try await withProxy { proxy in
            let request = "CONNECT o.test:443 HTTP/1.1\r\nHost: o.test:443\r\nVia: 1.1 layover-0a1b2c3d, 1.1 b\r\n\r\n"
            let response = try await proxy.answer(to: request).expectProblem(502, "proxy_loop_detected")
            #expect(response["Proxy-Status"]?.contains("error=proxy_loop_detected") == true)
            #expect(proxy.upstream.startedCount == 0)
        }
    }

    @Test(arguments: [
        "127.0.0.1", "localhost", "LOCALHOST", "localhost.", "127.1", "0x7f000001", "2130706433", "0177.1", "0", "0.0.0.0",
        "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::]", "x.localhost",
    ])
    func proxysOwnAddressIsRefusedInEverySpelling(host: String) async throws {
        try await withProxy(script: Self.answers) { proxy in
            let get = try await proxy.answer(to: "GET http://\(host):\(proxy.port)/ HTTP/1.1\r\nHost: x\r\n\r\n")
            get.expectProblem(502, "proxy_loop_detected")
            #expect(try await proxy.answer(to: "CONNECT \(host):\(proxy.port) HTTP/1.1\r\nHost: x\r\n\r\n").status == 502)
            #expect(proxy.upstream.startedCount == 0)
            #expect(await proxy.engine.liveEntries().isEmpty)
        }
    }

    @Test(arguments: ["169.254.169.254", "0xa9fea9fe", "[fe80::1]", "[fd00:ec2::254]", "[::ffff:169.254.169.254]"])
    func metadataAddressesAreRefusedUnlessARouteAllowsThem(host: String) async throws {
        try await withProxy(script: Self.answers) { proxy in
            try await proxy.answer(to: "GET http://\(host)/ HTTP/1.1\r\nHost: x\r\n\r\n").expectProblem(403, "destination_ip_prohibited")
            #expect(try await proxy.answer(to: "CONNECT \(host):443 HTTP/1.1\r\nHost: x\r\n\r\n").status == 403)
            #expect(proxy.upstream.startedCount == 0)
        }
        try await withProxy(
            script: Self.answers,
            configuration: { configuration in
                var route = Route(name: "metadata", policy: .standard)
                route.allowAddresses = ["169.254.0.0/16", "fe80::/10", "fd00:ec2::254"]
                configuration.routes = RouteTable(routes: [route])
            }
        ) { (proxy: TestProxy) async throws in
            #expect(try await proxy.answer(to: "GET http://\(host)/ HTTP/1.1\r\nHost: x\r\n\r\n").status == 200)
            #expect(try await proxy.nextAttempt().request.allowAddresses.count == 3)
        }
    }

    @Test func problemTextDoesNotRepeatTheTarget() async throws {
        try await withProxy { proxy in
            let response = try await proxy.answer(to: "GET /<script> HTTP/1.1\r\nHost: localhost\r\n\r\n")
            #expect(response["Content-Type"] == "application/problem+json")
            #expect(!response.body.contains("<script>"))
        }
    }
}
