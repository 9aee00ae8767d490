import Testing

@testable import LayoverConfiguration

/// Keys of parts that are not built yet are read, but only their defaults are taken.
@Suite struct LaterVersionTests {

    @Test func aVariableOfALaterVersionIsRefusedToo() {
        #expect(
            complaints("{}", environment: ["LAYOVER_STORE_KEY_FILE": "k"]) == [
                "LAYOVER_STORE_KEY_FILE: store.keyFile: \"k\" is not in this version."
            ])
    }

    @Test func invalidValueOfALaterKeyIsRefused() {
        let text = #"{"log": {"access": "all"}, "store": {"keyFile": 7}, "routes": {"r": {"http2": "yes"}}}"#
        #expect(
            complaints(text) == [
                "config.json: log.access: \"all\" is not one of off, combined, json.",
                "config.json: store.keyFile: expected a string (path).",
                "config.json: routes.r.http2: expected true or false, not \"yes\".",
            ])
    }

    @Test func theDefaultsOfLaterVersionsAreAccepted() {
        let text = """
            {"proxy": {"publicURL": null, "users": {}, "tls": {"certificate": null, "key": null}}, "log": {"access": "off"},
             "admin": {"viewToken": null}, "store": {"url": null, "passwordFile": null, "keyFile": null},
             "limits": {"cacheRefreshes": 64}, "timeouts": {"firstByte": "none"},
             "notify": {"webhook": null, "secret": null, "command": null, "interval": "1m"},
             "upstreamProxy": {"url": null, "noProxy": []}, "tls": {"folder": null},
             "routes": {"r": {"intercept": false, "interceptFallback": false, "http2": false, "upstreamProxy": null}}}
            """
        #expect(complaints(text) == [])
    }

    @Test func budgetSaysWhatFollowsWhenItIsSpent() throws {
        let deliver = try load(#"{"policies": {"a": {"budget": {"ratio": 0.5, "whenSpent": "deliver"}}}}"#)
        #expect(deliver.warnings == [])
        #expect(deliver.settings.routes.policies["a"]?.budget == .init(ratio: 0.5, whenSpent: .deliver))
        let wait = try load(#"{"policies": {"a": {"budget": {"minimum": 4}}}}"#)
        #expect(wait.warnings == [])
        #expect(wait.settings.routes.policies["a"]?.budget == .init(minimum: 4, whenSpent: .wait))
        #expect(complaints(#"{"policies": {"a": {"budget": {"whenSpent": "no"}}}}"#).count == 1)
    }

    /// Section 5 of the contract, key by key.
    @Test(arguments: [
        (
            "proxy",
            "publicURL listen identity threads upstream allowedHosts socketMode users connectPorts insecureOpen "
                + "tls.certificate tls.key"
        ),
        ("admin", "listen token viewToken allowedHosts"),
        ("log", "level format access"),
        ("store", "path url passwordFile keyFile spool encryptFields history"),
        (
            "limits",
            "heldClients entries bodyInMemory bodyMax spoolTotal headerBytes cacheRefreshes unattended connections "
                + "unsentTotal perOriginAttempts"
        ),
        (
            "timeouts",
            "connect firstByte idle deadPeer requestHead requestBody clientIdle drain clientStall tunnelIdle halfClosed "
                + "unattended"
        ),
        ("reachability", "mode probe.url probe.expectStatus probe.interval debounce"),
        ("upstreamProxy", "url noProxy"),
        ("notify", "webhook secret command interval"),
        ("tls", "caFile folder"),
    ])
    func everyKeyOfTheContractIsKnown(section: String, names: String) {
        let known = Schema.global.map { $0.path.joined(separator: ".") }.filter { $0.hasPrefix(section + ".") }
        #expect(Set(names.split(separator: " ").map { "\(section).\($0)" }).subtracting(known) == [])
    }
}
