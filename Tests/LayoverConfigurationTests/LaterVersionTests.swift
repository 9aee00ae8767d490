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
        (#""store": {"history": "1d"}"#, "store.history: \"1d\" is not in this version."),
        (#""store": {"encryptFields": []}"#, "store.encryptFields: not in this version."),
        (#""upstreamProxy": {"url": "http://a:1"}"#, "upstreamProxy.url: not in this version."),
        (#""upstreamProxy": {"noProxy": ["a"]}"#, "upstreamProxy.noProxy: not in this version."),
        (#""tls": {"folder": "ca"}"#, "tls.folder: \"ca\" is not in this version."),
        (#""policies": {"a": {"mode": "defer"}}"#, "policies.a.mode: \"defer\" is not in this version."),
        (
            #""policies": {"a": {"clientGone": "adopt"}}"#,
            "policies.a.clientGone: \"adopt\" is not in this version."
        ),
        (
            #""policies": {"a": {"cache": "staleIfError"}}"#,
            "policies.a.cache: \"staleIfError\" is not in this version."
        ),
        (#""policies": {"a": {"lane": "path:2"}}"#, "policies.a.lane: \"path:2\" is not in this version."),
        (
            #""policies": {"a": {"coalesce": "lastPut"}}"#,
            "policies.a.coalesce: \"lastPut\" is not in this version."
        ),
        (
            #""policies": {"a": {"preflight": {"method": "HEAD"}}}"#,
            "policies.a.preflight: not in this version."
        ),
        (#""policies": {"outbox": {"lifetime": "1h"}}"#, "policies.outbox: not in this version."),
        (#""policies": {"outbox": {"mode": "hold"}}"#, "policies.outbox: not in this version."),
        (
            #""policies": {"default": {"mode": "defer"}}"#,
            "policies.default.mode: \"defer\" is not in this version."
        ),
        (
            #""policies": {"ask": {"clientGone": "adopt"}}"#,
            "policies.ask.clientGone: \"adopt\" is not in this version."
        ),
        (#""routes": {"r": {"policy": "outbox"}}"#, "routes.r.policy: \"outbox\" is not in this version."),
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

    @Test func aVariableForAPolicyOfALaterVersionIsRefusedToo() {
        #expect(
            complaints("{}", environment: ["LAYOVER_POLICIES_OUTBOX_HOLD_MAX": "1s"]) == [
                "LAYOVER_POLICIES_OUTBOX_HOLD_MAX: policies.outbox: not in this version."
            ])
    }

    @Test func nonsenseInAKeyOfALaterVersionIsStillNonsense() {
        let text = """
            {"policies": {"a": {"lane": "left", "preflight": {"dropOn": ["40x"]}, "cache": "all"},
              "b": {"preflight": {"askIn": []}}, "c": {"preflight": 7}}}
            """
        #expect(
            complaints(text) == [
                "config.json: policies.a.cache: \"all\" is none of none, staleIfError.",
                "config.json: policies.a.lane: \"left\" is not a lane (write origin, path:2 or field:Account).",
                "config.json: policies.a.preflight.dropOn[0]: \"40x\" is not a status.",
                "config.json: policies.b.preflight.askIn: unknown key (did you mean askOn?).",
                "config.json: policies.c.preflight: 7 is a number, not an object.",
            ])
    }

    @Test func theDefaultsOfLaterVersionsAreAccepted() {
        let text = """
            {"proxy": {"users": {}, "tls": {"certificate": null, "key": null}}, "log": {"access": "off"},
             "store": {"path": "x.sqlite", "encryptFields": ["Authorization", "Cookie"], "history": "7d"},
             "upstreamProxy": {"url": null, "noProxy": []}, "tls": {"folder": null},
             "policies": {"default": {"cache": "none", "lane": null, "coalesce": "none", "preflight": null,
               "clientGone": "cancel", "mode": "hold"}},
             "routes": {"r": {"intercept": false, "interceptFallback": false, "http2": false, "async": false}}}
            """
        #expect(complaints(text) == [])
    }
}
