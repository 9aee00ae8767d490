import LayoverEngine
import LayoverHTTP
import Testing

@testable import LayoverCore
@testable import LayoverProxy

/// A loop's view of origins and parent proxies.
struct NetworkViewTests {
    private static let origin = Origin(scheme: .http, host: "o.test")
    private static let parents = ["a.test", "b.test"].map { ParentProxy(scheme: .http, host: $0, port: 3128) }

    private static func request(through parent: ParentProxy?) -> UpstreamRequest {
        UpstreamRequest(
            purpose: .transfer, origin: origin, method: "GET", target: "/", host: "o.test", fields: [:], mayBeSentTwice: true,
            parentProxy: parent)
    }

    @Test func pauseThatAParentProxyAskedForParksRequestsThroughItOnly() {
        var view = NetworkView()
        let paused = ProxiedPolicy(policy: "default", gate: Self.parents[0].gate)
        view.announce(Self.origin, .paused([], through: [paused]))
        #expect(view.notice(for: Self.request(through: Self.parents[0])) == .paused(["default"]))
        for parent in [Self.parents[1], nil] { #expect(view.notice(for: Self.request(through: parent)) == .paused([])) }
    }
}
