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
            #""policies": {"a": {"retryOn": ["connectivity", "503"]}}"#,
            "policies.a.retryOn: not in this version."
        ),
        (
            #""policies": {"a": {"retryAfterMax": "2h"}}"#,
            "policies.a.retryAfterMax: \"2h\" is not in this version."
        ),
        (
            #""policies": {"a": {"onExhausted": "ask"}}"#,
            "policies.a.onExhausted: \"ask\" is not in this version."
        ),
        (
            #""policies": {"a": {"onExhausted": {"status": 200}}}"#,
            "policies.a.onExhausted: not in this version."
        ),
        (
            #""policies": {"a": {"onMaybeApplied": "ask"}}"#,
            "policies.a.onMaybeApplied: \"ask\" is not in this version."
        ),
        (#""policies": {"a": {"budget": null}}"#, "policies.a.budget: not in this version."),
        (
            #""policies": {"a": {"budget": {"ratio": 0.5, "minimum": 3}}}"#,
            "policies.a.budget: not in this version."
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
        (#""routes": {"r": {"policy": "sidecar"}}"#, "routes.r.policy: \"sidecar\" is not in this version."),
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

    @Test func nonsenseInAKeyOfALaterVersionIsStillNonsense() {
        let text = """
            {"policies": {"a": {"lane": "left", "budget": {"ratoi": 1}, "preflight": {"dropOn": ["40x"]},
             "onExhausted": {"status": 99}}}}
            """
        #expect(
            complaints(text) == [
                "config.json: policies.a.onExhausted.status: 99 is not from 100 to 599.",
                "config.json: policies.a.budget.ratoi: unknown key (did you mean ratio?).",
                "config.json: policies.a.lane: \"left\" is not a lane (write origin, path:2 or field:Account).",
                "config.json: policies.a.preflight.dropOn[0]: \"40x\" is not a status.",
            ])
    }

    @Test func theDefaultsOfLaterVersionsAreAccepted() {
        let text = """
            {"proxy": {"users": {}, "tls": {"certificate": null, "key": null}}, "log": {"access": "off"},
             "store": {"path": "x.sqlite", "encryptFields": ["Authorization", "Cookie"], "history": "7d"},
             "upstreamProxy": {"url": null, "noProxy": []}, "tls": {"folder": null},
             "policies": {"default": {"retryAfterMax": "1h", "onExhausted": "fail", "onMaybeApplied": "fail",
               "budget": {"ratio": 0.2, "minimum": 3}, "cache": "none", "lane": null, "coalesce": "none",
               "preflight": null, "clientGone": "cancel", "retryOn": ["dns", "connection_refused"]}},
             "routes": {"r": {"intercept": false, "interceptFallback": false, "http2": false, "async": false}}}
            """
        #expect(complaints(text) == [])
    }
}
