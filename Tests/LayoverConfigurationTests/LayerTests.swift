import LayoverCore
import Testing

@testable import LayoverConfiguration

@Suite struct LayerTests {
    @Test func withoutAnythingTheDefaultsAreInForce() throws {
        let loaded = try ConfigurationLoader.load(file: nil)
        let settings = loaded.settings
        #expect(loaded.warnings == [])
        #expect(settings.proxy == ProxySettings())
        #expect(settings.admin == AdminSettings())
        #expect(settings.limits == Limits())
        #expect(settings.timeouts == Timeouts())
        #expect(settings.store.spoolFolder == "spool")
        #expect(settings.routes.policies.keys.sorted() == Policy.builtIns.map(\.name).sorted())
        #expect(settings.routes.standardPolicy == .standard)
        #expect(settings.routes.isEmpty)
        #expect(Set(loaded.sources.values) == [.standard])
    }

    @Test func theCommandLineBeatsTheEnvironmentWhichBeatsTheFile() throws {
        let loaded = try load(
            #"{"limits": {"heldClients": 1, "entries": 1, "connections": 1}}"#,
            environment: ["LAYOVER_LIMITS_HELD_CLIENTS": "2", "LAYOVER_LIMITS_ENTRIES": "2"],
            overrides: ["limits.heldClients": "3"])
        #expect(loaded.settings.limits.heldClients == 3)
        #expect(loaded.settings.limits.entries == 2)
        #expect(loaded.settings.limits.connections == 1)
        #expect(loaded.settings.limits.perOriginAttempts == 64)
        #expect(loaded.sources["limits.heldClients"] == .commandLine)
        #expect(loaded.sources["limits.entries"] == .environment("LAYOVER_LIMITS_ENTRIES"))
        #expect(loaded.sources["limits.connections"] == .file("config.json"))
        #expect(loaded.sources["limits.perOriginAttempts"] == .standard)
    }

    @Test func badValueIsIgnoredIfAHigherLayerSetsTheKey() {
        #expect(complaints(#"{"log": {"level": "x"}}"#, overrides: ["log.level": "debug"]) == [])
    }

    @Test func textsAreReadByTheTypeOfTheirKey() throws {
        let loaded = try load(
            #"{"policies": {"slow-api": {}}, "routes": {"api.v1": {}}}"#,
            environment: [
                "LAYOVER_PROXY_LISTEN": "unix:/run/l.sock", "LAYOVER_PROXY_SOCKET_MODE": "0600",
                "LAYOVER_PROXY_THREADS": "", "LAYOVER_PROXY_CONNECT_PORTS": "443, 22",
                "LAYOVER_PROXY_ALLOWED_HOSTS": "[\"a.example\", \"[::1]:80\"]",
                "LAYOVER_PROXY_INSECURE_OPEN": "true",
                "LAYOVER_TIMEOUTS_FIRST_BYTE": "null", "LAYOVER_ADMIN_ALLOWED_HOSTS": "",
                "LAYOVER_POLICIES_DEFAULT_HOLD_MAX": "5m",
                "LAYOVER_POLICIES_SLOW_API_DELAY_MULTIPLIER": "1.5",
                "LAYOVER_ROUTES_API_V1_SET_FIELDS": "{\"X-A\": \"1\"}",
                "LAYOVER_REACHABILITY_PROBE_EXPECT_STATUS": "200",
            ])
        let settings = loaded.settings
        #expect(loaded.warnings == [])
        #expect(settings.proxy.listen == .unix(path: "/run/l.sock"))
        #expect(settings.proxy.socketMode == 0o600)
        #expect(settings.proxy.threads == nil)
        #expect(settings.proxy.connectPorts == [443, 22])
        #expect(settings.proxy.allowedHosts == ["a.example", "[::1]"])
        #expect(settings.proxy.insecureOpen)
        #expect(settings.timeouts.firstByte == .standard)
        #expect(settings.admin.allowedHosts == [])
        #expect(settings.reachability.probe.expectStatus == 200)
        #expect(settings.routes.standardPolicy.holdMax == .seconds(300))
        #expect(settings.routes.policies["slow-api"]?.holdMax == .seconds(300))
        #expect(
            settings.routes.policies["slow-api"]?.delay.pattern
                == .exponential(initial: .milliseconds(250), multiplier: 1.5, max: .seconds(30)))
        #expect(settings.routes.route(named: "api.v1")?.setFields == [.init(name: "X-A", value: "1")])
    }

    @Test func unknownVariablesOnlyWarnAndThoseOfTheCommandLineDoNot() throws {
        let loaded = try load(
            "{}",
            environment: [
                "LAYOVER_PROXY_LISTN": "x", "LAYOVER_SOMETHING_ELSE_ALTOGETHER": "x", "PATH": "/bin",
                "LAYOVER_ADMIN_URL": "http://a", "LAYOVER_TOKEN": "t", "LAYOVER_CONFIG": "c", "LAYOVER_PROXY_URL": "http://p",
            ])
        #expect(
            loaded.warnings == [
                "LAYOVER_PROXY_LISTN: no configuration key has this name (did you mean LAYOVER_PROXY_LISTEN?).",
                "LAYOVER_SOMETHING_ELSE_ALTOGETHER: no configuration key has this name.",
            ])
    }

    @Test func ambiguousVariableIsRefused() {
        #expect(
            complaints(
                #"{"policies": {"a-b": {}, "a_b": {}}}"#, environment: ["LAYOVER_POLICIES_A_B_HOLD_MAX": "1s"]
            )
                == [
                    "LAYOVER_POLICIES_A_B_HOLD_MAX: matches both policies.a-b.holdMax and policies.a_b.holdMax; "
                        + "set the key in the file instead."
                ])
    }

    @Test func theCommandLineCanMakeRoutesWithDotsInTheirNames() throws {
        let loaded = try load(
            "{}",
            overrides: [
                "routes.api.v1.timeouts.connect": "1s", "routes.api.v1.host": "API.example.com",
                "policies.slow.delay.initial": "1s",
            ])
        let route = try #require(loaded.settings.routes.route(named: "api.v1"))
        #expect(route.timeouts.connect == .seconds(1))
        #expect(route.host == .exact("api.example.com"))
        #expect(
            loaded.settings.routes.policies["slow"]?.delay.pattern
                == .exponential(initial: .seconds(1), multiplier: 2, max: .seconds(30)))
    }

    @Test(arguments: [
        ("config.json", "", ""), ("etc/config.json", "etc/", "etc"), ("/config.json", "/", "/"),
        ("/etc/layover/config.json", "/etc/layover/", "/etc/layover"),
    ])
    func relativePathsStartAtTheFolderOfTheFile(name: String, prefix: String, folder: String) throws {
        let text =
            #"{"proxy": {"listen": "unix:l.sock"}, "store": {"spool": "bodies"}, "tls": {"caFile": "/ca.pem"}}"#
        let settings = try load(text, named: name).settings
        #expect(settings.proxy.listen == .unix(path: prefix + "l.sock"))
        #expect(settings.store.file == prefix + "layover.sqlite")
        #expect(settings.store.folder == folder)
        #expect(settings.store.spoolFolder == prefix + "bodies")
        #expect(settings.tls.caFile == "/ca.pem")
        #expect(try load("{}", named: name).settings.store.spoolFolder == prefix + "spool")
    }

    @Test func anOpenProxyIsAllowedWithAWarning() throws {
        let loaded = try load(#"{"proxy": {"listen": "0.0.0.0:8080", "insecureOpen": true}}"#)
        #expect(
            loaded.warnings == [
                "proxy.insecureOpen: anyone who can reach 0.0.0.0:8080 can use this proxy."
            ])
    }

    @Test func freePortsMayBeAskedForTwice() throws {
        let settings = try load(
            "{}", overrides: ["proxy.listen": "127.0.0.1:0", "admin.listen": "127.0.0.1:0"]
        )
        .settings
        #expect(settings.proxy.listen.port == 0)
        #expect(settings.admin.listen.port == 0)
    }

    @Test func theAdminPortMayBeOpenWithAToken() throws {
        let settings = try load(#"{"admin": {"listen": "0.0.0.0:8081", "token": "t0ken"}}"#).settings
        #expect(settings.admin.token == "t0ken")
    }
}
