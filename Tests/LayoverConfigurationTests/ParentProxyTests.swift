import LayoverCore
import Testing

@testable import LayoverConfiguration

@Suite struct ParentProxyTests {
    @Test(arguments: [
        ("http://proxy.example:3128", ParentProxy(scheme: .http, host: "proxy.example", port: 3128)),
        ("http://proxy.example", ParentProxy(scheme: .http, host: "proxy.example", port: 80)),
        ("HTTPS://Proxy.Example/", ParentProxy(scheme: .https, host: "proxy.example", port: 443)),
        ("socks5h://[fd00::1]", ParentProxy(scheme: .socks5h, host: "fd00::1", port: 1080)),
        ("http://me:p%40ss%3A%2Fw@p:1", ParentProxy(scheme: .http, host: "p", port: 1, user: "me", password: "p@ss:/w")),
        ("http://me@p:1", ParentProxy(scheme: .http, host: "p", port: 1, user: "me")),
    ])
    func theURLOfAParentProxyIsRead(text: String, proxy: ParentProxy) throws {
        let loaded = try load(#"{"upstreamProxy": {"url": "\#(text)"}}"#)
        #expect(loaded.settings.routes.parentProxies.general == proxy)
        #expect(loaded.settings.routes.hasParentProxies)
    }

    @Test(arguments: [
        ("ftp://p", "expected a URL that begins with http://, https:// or socks5h://."),
        ("p:3128", "expected a URL that begins with http://, https:// or socks5h://."),
        ("socks5://p", "only socks5h:// is supported: the proxy resolves the names of origins."),
        ("http://p/x", "the URL of a proxy must not have a path or a query."),
        ("http://a%3Ab:c@p", "the user name must not contain a colon (RFC 7617)."),
        ("http://a%0D:c@p", "the user name or the password has invalid percent-encoding or control characters."),
        ("http://a%ZZ:c@p", "the user name or the password has invalid percent-encoding or control characters."),
        ("http://p:99999", "the URL has no valid port."),
    ])
    func aBadURLIsRefused(text: String, complaint: String) {
        #expect(complaints(#"{"upstreamProxy": {"url": "\#(text)"}}"#) == ["config.json: upstreamProxy.url: \(complaint)"])
    }

    @Test func exceptionsAreRead() throws {
        let loaded = try load(
            #"{"upstreamProxy": {"noProxy": ["*", "a.example", ".b.example", "*.c.example", "10.0.0.0/8", "192.0.2.1", "[::1]", "fd00::/8"]}}"#)
        #expect(
            loaded.settings.routes.parentProxies.exceptions == [
                .all, .domain("a.example"), .domain("b.example"), .below("c.example"), .network("10.0.0.0/8"), .network("192.0.2.1"),
                .network("::1"), .network("fd00::/8"),
            ])
    }

    @Test(arguments: ["a.example:80", "10.0.0.0/33", "a b", "", "[::1]:80", "*.*"])
    func aBadExceptionIsRefused(text: String) {
        #expect(complaints(#"{"upstreamProxy": {"noProxy": ["\#(text)"]}}"#).count == 1)
    }

    @Test func aRouteHasAWayOfItsOwn() throws {
        let loaded = try load(#"{"routes": {"a": {"host": "a.example", "upstreamProxy": "direct"}, "b": {"upstreamProxy": "http://p:1"}}}"#)
        let routes = loaded.settings.routes
        #expect(routes.route(named: "a")?.way == .direct)
        #expect(routes.route(named: "b")?.way == .through(ParentProxy(scheme: .http, host: "p", port: 1)))
        #expect(routes.hasParentProxies)
    }

    @Test func credentialsAreNotShown() throws {
        let loaded = try load(
            #"{"upstreamProxy": {"url": "http://me:hush@p:1"}, "routes": {"r": {"upstreamProxy": "socks5h://me:hush@q:1"}}}"#)
        let shown = loaded.entries.map { "\($0.path)=\($0.value.text)" }.joined(separator: "\n")
        #expect(shown.contains("http://***@p:1") && shown.contains("socks5h://***@q:1"))
        #expect(!shown.contains("hush"))
        #expect(!"\(loaded.settings)".contains("hush"))
    }
}
