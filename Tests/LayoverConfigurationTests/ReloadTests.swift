import LayoverCore
import Testing

@testable import LayoverConfiguration

/// Keys that a reload changes at once, and keys that it only reports because they need a restart.
@Suite struct ReloadTests {
    private func changes(_ old: String, _ new: String) throws -> ConfigurationChanges {
        try load(old).changes(to: load(new))
    }

    /// The type of a key requires an effect, so none can be forgotten. The list here names the keys that change at
    /// once.
    @Test func everyKeyIsClassified() {
        let atOnce = Schema.global.filter { $0.effect == .atOnce }.map { $0.path.joined(separator: ".") }
        #expect(
            atOnce.sorted() == [
                "log.level", "notify.command", "notify.interval", "notify.secret", "notify.webhook", "proxy.users", "timeouts.connect",
                "timeouts.deadPeer", "timeouts.firstByte", "timeouts.idle",
                "timeouts.unattended",
            ])
        #expect(Schema.policy.allSatisfy { $0.effect == .atOnce })
        #expect(Schema.route.allSatisfy { $0.effect == .atOnce })
    }

    /// Every key of the schema, each changed alone, must be noticed and put into the right list. Values
    /// of later versions cannot be loaded, so the settings are changed in place.
    @Test func noChangedKeyIsOverlooked() throws {
        let standard = try load("{}")
        for key in Schema.global {
            var settings = Settings()
            let value = try #require(Self.otherValues[key.path.joined(separator: ".")], "\(key.path)")
            do {
                try key.assign(value, &settings)
            } catch {
                // A key of a later version has only one value, so nothing can change.
                #expect(key.laterNote != nil, "\(key.path): \(error)")
                continue
            }
            let changed = LoadedConfiguration(
                settings: settings, entries: [], warnings: [], policies: standard.policies, routes: [:])
            let found = standard.changes(to: changed)
            let path = key.path.joined(separator: ".")
            #expect(found.atOnce == (key.effect == .atOnce ? [path] : []))
            #expect(found.afterRestart == (key.effect == .afterRestart ? [path] : []))
        }
    }

    private static let otherValues: [String: JSONValue] = [
        "proxy.publicURL": .text("http://a.example/"), "admin.viewToken": .text("t"),
        "store.url": .text("postgresql://a"), "store.passwordFile": .text("x"), "store.keyFile": .text("x"),
        "limits.cacheRefreshes": .integer(7), "limits.unattended": .integer(7), "timeouts.halfClosed": .text("7s"),
        "timeouts.unattended": .text("7s"), "notify.webhook": .text("http://a.example/"),
        "notify.secret": .text("t"), "notify.command": .array([.text("true")]), "notify.interval": .text("7s"),
        "proxy.listen": .text("127.0.0.1:1"), "proxy.identity": .text("other"), "proxy.threads": .integer(2),
        "proxy.upstream": .text("libcurl"),
        "proxy.allowedHosts": .array([]), "proxy.socketMode": .text("0600"),
        "proxy.users": .object(["me": .text("$2b$04$KBCwKxOzLha2MUDgW0PjXe/hE/UCO9qF89dOydoHjSwxcHev5LRn.")]),
        "proxy.connectPorts": .array([]),
        "proxy.insecureOpen": .bool(true), "proxy.tls.certificate": .text("c"), "proxy.tls.key": .text("k"),
        "admin.listen": .text("127.0.0.1:1"), "admin.token": .text("t"), "admin.allowedHosts": .array([]),
        "log.level": .text("debug"), "log.format": .text("json"), "log.access": .text("json"),
        "store.path": .text("x"), "store.spool": .text("x"), "store.encryptFields": .array([]),
        "store.history": .text("1d"), "limits.heldClients": .integer(7), "limits.entries": .integer(7),
        "limits.bodyInMemory": .text("7B"), "limits.bodyMax": .text("7B"), "limits.spoolTotal": .text("7B"),
        "limits.headerBytes": .text("7KiB"), "limits.connections": .integer(7), "limits.unsentTotal": .text("7MiB"),
        "limits.perOriginAttempts": .integer(7), "timeouts.connect": .text("7s"),
        "timeouts.firstByte": .text("7s"), "timeouts.idle": .text("7s"), "timeouts.deadPeer": .text("7s"),
        "timeouts.requestHead": .text("7s"), "timeouts.requestBody": .text("7s"), "timeouts.clientIdle": .text("7s"),
        "timeouts.clientStall": .text("7s"), "timeouts.tunnelIdle": .text("7s"),
        "timeouts.drain": .text("7s"), "reachability.mode": .text("online"),
        "reachability.probe.url": .text("http://a.example/"),
        "reachability.probe.expectStatus": .integer(200),
        "reachability.probe.interval": .text("7s"), "reachability.debounce": .text("7s"),
        "upstreamProxy.url": .text("http://a.example"), "upstreamProxy.noProxy": .array([.text("a")]),
        "tls.caFile": .text("ca.pem"), "tls.folder": .text("ca"),
    ]

    @Test func theRulesOfTicketsChangeAtOnceAndTheStoreDoesNot() throws {
        let found = try changes(
            #"{"policies": {"a": {}}, "routes": {"r": {}}}"#,
            """
            {"policies": {"a": {"mode": "defer", "clientGone": "adopt", "cache": "staleIfError", "lane": "origin",
               "undecidedInLane": "skip", "coalesce": "lastPut", "preflight": {}}},
             "routes": {"r": {"async": "never"}}, "store": {"history": "1d", "encryptFields": ["Authorization", "cookie", "X"]}}
            """)
        #expect(
            found.atOnce == [
                "policies.a.cache", "policies.a.clientGone", "policies.a.coalesce", "policies.a.lane",
                "policies.a.mode", "policies.a.preflight", "policies.a.undecidedInLane", "routes.r.async",
            ])
        #expect(found.afterRestart == ["store.encryptFields", "store.history"])
    }

    @Test func theSameConfigurationChangesNothing() throws {
        let text =
            #"{"admin": {"token": "t"}, "policies": {"a": {"priority": 1}}, "routes": {"r": {"policy": "a"}}}"#
        #expect(try changes(text, text).isEmpty)
        #expect(try changes("{}", #"{"log": {"level": "info"}, "policies": {"default": {}}}"#).isEmpty)
    }

    @Test func changesAreSortedIntoThoseThatTakeEffectAtOnceAndTheRest() throws {
        let found = try changes(
            #"{"admin": {"token": "one"}, "policies": {"a": {"priority": 1}}, "routes": {"r": {"host": "a.example"}}}"#,
            """
            {"admin": {"token": "two"}, "limits": {"entries": 9}, "log": {"level": "debug", "format": "json"},
             "timeouts": {"idle": "1s", "drain": "1s"}, "policies": {"a": {"priority": 2}, "ask": {"priority": 7}},
             "routes": {"r": {"host": "b.example", "timeouts": {"idle": "2s"}}}}
            """)
        #expect(
            found.atOnce == [
                "log.level", "policies.a.priority", "policies.ask.priority", "routes.r.host",
                "routes.r.timeouts.idle", "timeouts.idle",
            ])
        #expect(found.afterRestart == ["admin.token", "limits.entries", "log.format", "timeouts.drain"])
    }

    @Test func policiesAndRoutesThatComeOrGoAreNamedAsAWhole() throws {
        let found = try changes(
            #"{"policies": {"a": {}}, "routes": {"old": {}, "same": {"host": "a.example"}}}"#,
            #"{"policies": {"b": {}}, "routes": {"new.1": {}, "same": {"host": "a.example"}}}"#)
        #expect(found.atOnce == ["policies.a", "policies.b", "routes.new.1", "routes.old"])
        #expect(found.afterRestart == [])
    }

    @Test func aPolicyThatInheritsAChangedKeyChangesToo() throws {
        let found = try changes(
            #"{"policies": {"a": {}, "b": {"holdMax": "1s"}}}"#,
            #"{"policies": {"default": {"holdMax": "5s"}, "a": {}, "b": {"holdMax": "1s"}}}"#)
        #expect(found.atOnce == ["policies.a.holdMax", "policies.default.holdMax"])
    }

    @Test func keysThatNeedARestartStayInForceAndAreReportedAgain() throws {
        let old = try load(#"{"proxy": {"identity": "one"}, "timeouts": {"connect": "1s"}}"#)
        let new = try load(
            """
            {"proxy": {"identity": "two"}, "timeouts": {"connect": "2s"}, "policies": {"a": {"priority": 7}},
             "routes": {"r": {"policy": "a"}}}
            """)
        let inForce = try old.reloaded(as: new)
        #expect(inForce.settings.proxy.identity == "one")
        #expect(inForce.settings.timeouts.connect == .seconds(2))
        #expect(inForce.settings.routes.route(named: "r")?.policy.priority == 7)
        let values = Dictionary(uniqueKeysWithValues: inForce.entries.map { ($0.path, $0.value) })
        #expect(values["proxy.identity"] == .text("one"))
        #expect(values["timeouts.connect"] == .text("2s"))
        #expect(values["routes.r.policy"] == .text("a"))
        #expect(inForce.entries.map(\.path) == new.entries.map(\.path))
        let again = inForce.changes(to: new)
        #expect(again.atOnce == [])
        #expect(again.afterRestart == ["proxy.identity"])
        #expect(inForce.changes(to: old).afterRestart == [])
    }

    /// The listener stays where it is until a restart, and so does who can reach it.
    @Test func routeIsCheckedAgainstTheOpenListener() throws {
        let old = try load(#"{"proxy": {"listen": "0.0.0.0:8080", "insecureOpen": true}}"#)
        let routes = #""routes": {"api": {"upstream": "https://a.example", "setFields": {"Authorization": "hush"}}}"#
        let new = try load(#"{"proxy": {"listen": "127.0.0.1:8080"}, \#(routes)}"#)
        let errors = #expect(throws: ConfigurationErrors.self) { try old.reloaded(as: new) }
        #expect(errors?.errors.map(\.path) == ["routes.api.key"])
        #expect(throws: Never.self) { try new.reloaded(as: new) }
    }
}
