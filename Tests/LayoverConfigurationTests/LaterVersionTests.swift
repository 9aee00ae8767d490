import Testing

@testable import LayoverConfiguration

/// Keys of parts that are not built yet are read, but only their defaults are taken.
@Suite struct LaterVersionTests {
    @Test(arguments: [
        (#""proxy": {"users": {"me": "hash"}}"#, "proxy.users: not in this version."),
        (
            #""proxy": {"tls": {"certificate": "a.pem"}}"#,
            "proxy.tls.certificate: \"a.pem\" is not in this version."
        ),
        (#""proxy": {"tls": {"key": "a.pem"}}"#, "proxy.tls.key: \"a.pem\" is not in this version."),
        (#""log": {"access": "json"}"#, "log.access: \"json\" is not in this version."),
        (#""upstreamProxy": {"url": "http://a:1"}"#, "upstreamProxy.url: not in this version."),
        (#""upstreamProxy": {"noProxy": ["a"]}"#, "upstreamProxy.noProxy: not in this version."),
        (#""tls": {"folder": "ca"}"#, "tls.folder: \"ca\" is not in this version."),
        (#""routes": {"r": {"intercept": true}}"#, "routes.r.intercept: true is not in this version."),
        (
            #""routes": {"r": {"interceptFallback": true}}"#,
            "routes.r.interceptFallback: true is not in this version."
        ),
        (#""routes": {"r": {"http2": true}}"#, "routes.r.http2: true is not in this version."),
    ])
    func aValueOfALaterVersionIsRefused(member: String, line: String) {
        #expect(complaints("{\(member)}") == ["config.json: \(line)"])
    }

    @Test func aVariableOfALaterVersionIsRefusedToo() {
        #expect(
            complaints("{}", environment: ["LAYOVER_LOG_ACCESS": "combined"]) == [
                "LAYOVER_LOG_ACCESS: log.access: \"combined\" is not in this version."
            ])
    }

    @Test func nonsenseInAKeyOfALaterVersionIsStillNonsense() {
        let text = #"{"log": {"access": "all"}, "tls": {"folder": 7}, "routes": {"r": {"http2": "yes"}}}"#
        #expect(
            complaints(text) == [
                "config.json: log.access: \"all\" is none of off, combined, json.",
                "config.json: tls.folder: 7 is a number, not a text (path).",
                "config.json: routes.r.http2: \"yes\" is a text, not true or false.",
            ])
    }

    @Test func theDefaultsOfLaterVersionsAreAccepted() {
        let text = """
            {"proxy": {"users": {}, "tls": {"certificate": null, "key": null}}, "log": {"access": "off"},
             "upstreamProxy": {"url": null, "noProxy": []}, "tls": {"folder": null},
             "routes": {"r": {"intercept": false, "interceptFallback": false, "http2": false}}}
            """
        #expect(complaints(text) == [])
    }
}
