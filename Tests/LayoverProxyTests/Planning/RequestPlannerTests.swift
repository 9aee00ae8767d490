import LayoverCore
import LayoverEngine
import LayoverHTTP
import LayoverTestSupport
import NIOCore
import Testing

@testable import LayoverProxy

struct RequestPlannerTests {
    private static func plan(_ text: String, isLoopback: Bool) throws -> RequestPlan {
        var decoder = RequestDecoder()
        var input = ByteBuffer(string: text)
        guard case .head(let head)? = try decoder.next(&input) else { throw WaitedTooLong(what: "a head") }
        var cache = RequestAddressCache()
        return try RequestPlanner(rules: ProxyRules(), addressGuard: OwnAddressGuard())
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

    @Test func cachedAddressIsUsedOnlyForAnEqualAuthority() throws {
        var cache = RequestAddressCache()
        let planner = RequestPlanner(rules: ProxyRules(), addressGuard: OwnAddressGuard())
        for (target, expected) in [
            ("http://a.test/", "http://a.test"), ("http://a.test/2", "http://a.test"), ("http://A.test/", "http://a.test"),
            ("https://a.test/", "https://a.test"), ("http://a.test:80/", "http://a.test"), ("http://a.test:81/", "http://a.test:81"),
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
