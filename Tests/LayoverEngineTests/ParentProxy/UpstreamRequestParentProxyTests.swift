import LayoverCore
import Testing

@testable import LayoverEngine

@Suite struct UpstreamRequestParentProxyTests {
    /// libcurl opens a tunnel only for its own transfers, and through SOCKS.
    @Test(arguments: [
        (RequestPurpose.transfer, Origin.Scheme.http, ParentProxyUse.forward), (.transfer, .https, .tunnel), (.dial, .http, .forward),
        (.dial, .https, .reach), (.dial, .tunnel, .reach), (.upgrade, .http, .reach), (.upgrade, .https, .reach),
    ])
    func useFollowsPurposeAndScheme(purpose: RequestPurpose, scheme: Origin.Scheme, use: ParentProxyUse) {
        for kind in ParentProxy.Scheme.allCases {
            var request = UpstreamRequest(
                purpose: purpose, origin: Origin(scheme: scheme, host: "o.test"), method: "GET", target: "/", host: "o.test", fields: [:],
                mayBeSentTwice: true)
            #expect(request.parentProxyUse == .none)
            request.parentProxy = ParentProxy(scheme: kind, host: "p.test")
            #expect(request.parentProxyUse == (kind == .socks5h ? .tunnel : use))
        }
    }
}
