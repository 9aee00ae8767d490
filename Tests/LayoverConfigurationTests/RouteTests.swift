import LayoverCore
import Testing

@testable import LayoverConfiguration

@Suite struct RouteTests {
    private func route(_ text: String) throws -> Route {
        let loaded = try load(#"{"policies": {"slow": {}}, "routes": {"r": \#(text)}}"#)
        return try #require(loaded.settings.routes.route(named: "r"))
    }

    @Test func anEmptyRouteMatchesEverythingByTheDefaultPolicy() throws {
        #expect(try route("{}") == Route(name: "r", policy: .standard))
    }

    @Test func everyKeyReachesTheRoute() throws {
        let made = try route(
            """
            {"host": "*.Example.com", "pathPrefix": "/v1/", "methods": ["GET", "PUT"], "policy": "slow",
             "upstream": "HTTPS://API.example.com:8443/base/", "setFields": {"B": "2", "A": ""}, "addFields": {"C": "3"},
             "removeFields": ["Cookie"], "async": "never", "allowAddresses": ["169.254.169.254", "fd00::/8"],
             "key": "k-1._~", "timeouts": {"connect": "1s", "firstByte": "2s", "idle": "3s", "deadPeer": "4s"}}
            """)
        var expected = Route(name: "r", policy: Policy(name: "slow"))
        expected.host = .below("example.com")
        expected.pathPrefix = "/v1/"
        expected.methods = ["GET", "PUT"]
        expected.upstream = .init(
            origin: Origin(scheme: .https, host: "api.example.com", port: 8443), basePath: "/base")
        expected.setFields = [.init(name: "A", value: ""), .init(name: "B", value: "2")]
        expected.addFields = [.init(name: "C", value: "3")]
        expected.removeFields = ["Cookie"]
        expected.async = .never
        expected.allowAddresses = ["169.254.169.254", "fd00::/8"]
        expected.key = "k-1._~"
        expected.timeouts.connect = .seconds(1)
        expected.timeouts.firstByte = .seconds(2)
        expected.timeouts.idle = .seconds(3)
        expected.timeouts.deadPeer = .seconds(4)
        #expect(made == expected)
    }

    private static let asyncValues: [(String, Policy.AsyncRule?)] = [
        ("null", nil), ("\"whenAway\"", .whenAway), ("\"always\"", .always), ("\"never\"", .never), ("true", .always),
        ("false", .never),
    ]

    @Test(arguments: asyncValues)
    func asyncIsReadForRoutesAndPolicies(text: String, rule: Policy.AsyncRule?) throws {
        #expect(try route(#"{"async": \#(text)}"#).async == rule)
        #expect(try route("{}").async == nil && Policy.standard.async == .whenAway)
        guard let rule else { return }
        let loaded = try load(#"{"policies": {"p": {"async": \#(text)}}, "routes": {"r": {"async": \#(text)}}}"#)
        #expect(loaded.settings.routes.policies["p"]?.async == rule)
        let isFormer = !text.hasPrefix("\"")
        #expect(
            loaded.warnings == (isFormer ? ["policies.p", "routes.r"] : []).map {
                "\($0).async: \(text) is the former spelling of \"\(rule.rawValue)\"."
            })
    }

    @Test func otherValuesOfAsyncAreRefused() {
        for text in ["\"sometimes\"", "1", "\"\""] {
            #expect(throws: (any Error).self) { _ = try route(#"{"async": \#(text)}"#) }
        }
    }

    @Test(arguments: [
        ("http://a.example", Origin(scheme: .http, host: "a.example"), ""),
        ("https://a.example/", Origin(scheme: .https, host: "a.example"), ""),
        ("http://[2001:DB8::1]:81/x/y", Origin(scheme: .http, host: "2001:db8::1", port: 81), "/x/y"),
        ("http://10.0.0.1:80//", Origin(scheme: .http, host: "10.0.0.1"), ""),
    ])
    func upstreamsAreRead(url: String, origin: Origin, basePath: String) throws {
        #expect(try route(#"{"upstream": "\#(url)"}"#).upstream == .init(origin: origin, basePath: basePath))
    }

    @Test(arguments: ["setFields", "addFields"])
    func aRouteThatSetsCredentialsNeedsAKeyWhereOthersCanReachIt(fields: String) {
        func complaintsAbout(_ listen: String, _ route: String) -> [String] {
            complaints(#"{"proxy": {"listen": "\#(listen)", "insecureOpen": true}, "routes": {"api": \#(route)}}"#)
        }
        let setting = #""upstream": "https://a.example", "\#(fields)": {"X-Api-Key": "hush"}"#
        #expect(
            complaintsAbout("0.0.0.0:8080", "{\(setting)}") == [
                "config.json: routes.api.key: the route sets X-Api-Key, and 0.0.0.0:8080 is reachable from other machines, so a key is required."
            ])
        #expect(complaintsAbout("0.0.0.0:8080", #"{\#(setting), "host": "a.example"}"#).count == 1)
        #expect(complaintsAbout("0.0.0.0:8080", #"{\#(setting), "key": "k"}"#).isEmpty)
        #expect(complaintsAbout("127.0.0.1:8080", "{\(setting)}").isEmpty)
        #expect(complaintsAbout("[::1]:8080", "{\(setting)}").isEmpty)
        #expect(complaintsAbout("unix:/run/l.sock", "{\(setting)}").isEmpty)
        #expect(complaintsAbout("0.0.0.0:8080", #"{"\#(fields)": {"Accept": "a", "Idempotency-Key": "~uuid~"}}"#).isEmpty)
    }

    @Test(arguments: [
        (#""a": {"host": "A.example"}, "b": {"host": "a.example"}"#, #"host "a.example", pathPrefix "/""#),
        (#""a": {}, "b": {"policy": "ask"}"#, #"host null, pathPrefix "/""#),
        (
            #""a": {"host": "*.b.example", "pathPrefix": "/v1", "upstream": "http://c.example"}, "b": {"host": "*.b.example", "pathPrefix": "/v1"}"#,
            #"host "*.b.example", pathPrefix "/v1""#
        ),
        (
            #""a": {"host": "a.example", "methods": ["PUT", "GET"]}, "b": {"host": "a.example", "methods": ["GET"]}"#,
            #"host "a.example", pathPrefix "/", methods GET"#
        ),
    ])
    func routesForTheSameRequestsAreRefused(routes: String, overlap: String) {
        #expect(
            complaints(#"{"routes": {\#(routes)}}"#) == [
                "config.json: routes.b: matches the same requests as routes.a (\(overlap)); give them different hosts, path prefixes or "
                    + "methods."
            ])
    }

    @Test(arguments: [
        #""a": {"host": "a.example"}, "b": {"host": "a.example", "pathPrefix": "/v1"}"#,
        #""a": {"host": "a.example"}, "b": {"host": "*.a.example"}, "c": {}"#,
        #""a": {"host": "a.example"}, "b": {"host": "a.example", "methods": ["GET"]}, "c": {"host": "a.example", "methods": ["PUT"]}"#,
        // Each is reached by its own base URL only.
        #""a": {"upstream": "http://a.example"}, "b": {"upstream": "http://b.example"}"#,
    ])
    func routesForDifferentRequestsAreAccepted(routes: String) {
        #expect(complaints(#"{"routes": {\#(routes)}}"#) == [])
    }

    @Test(arguments: ["", "a/b", "a b", "a?b", "a%41", "\u{E9}"])
    func aKeyThatAPathCannotCarryIsRefusedWithoutRepeatingIt(key: String) {
        let lines = complaints(#"{"routes": {"api": {"key": "\#(key)"}}}"#)
        #expect(
            lines == ["config.json: routes.api.key: the key must consist of letters, digits and -._~."])
    }

    @Test func anIPv6HostIsMatchedWithoutItsBrackets() throws {
        #expect(try route(#"{"host": "[::1]"}"#).host == .exact("::1"))
    }
}
