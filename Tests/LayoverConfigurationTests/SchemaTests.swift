import Testing

@testable import LayoverConfiguration

@Suite struct SchemaTests {
    @Test func keysAndEnvironmentNamesAreUnique() {
        let addresses =
            Schema.global.map { KeyAddress(section: .global, key: $0.path) }
            + Schema.policy.map { KeyAddress(section: .policy("default"), key: $0.path) }
            + Schema.route.map { KeyAddress(section: .route("r"), key: $0.path) }
        #expect(Set(addresses).count == addresses.count)
        let names = addresses.map(\.environmentName)
        #expect(Set(names).count == names.count)
        #expect(Schema.foreignEnvironmentNames.isDisjoint(with: names))
    }

    /// Every default in the documentation must be a value that a file can contain.
    @Test func everyDefaultCanBeWrittenIntoAFile() throws {
        var settings = Settings()
        for key in Schema.global { try key.assign(key.write(Settings()), &settings) }
        #expect(settings.proxy == ProxySettings())
        #expect(settings.store == StoreSettings())
        var policy = PolicySettings()
        // The two keys without a default belong to other types of delay; null is their nothing.
        for key in Schema.policy { try key.assign(key.write(PolicySettings()), &policy) }
        #expect(policy == PolicySettings())
        var route = RouteSettings()
        for key in Schema.route { try key.assign(key.write(RouteSettings()), &route) }
        #expect(route == RouteSettings())
    }

    @Test(arguments: [
        ("proxy.socketMode", "LAYOVER_PROXY_SOCKET_MODE"), ("tls.caFile", "LAYOVER_TLS_CA_FILE"),
        ("limits.heldClients", "LAYOVER_LIMITS_HELD_CLIENTS"),
        ("policies.slow.api.delay.initial", "LAYOVER_POLICIES_SLOW_API_DELAY_INITIAL"),
        ("policies.slowAPI.priority", "LAYOVER_POLICIES_SLOW_API_PRIORITY"),
        ("routes.a-1.timeouts.firstByte", "LAYOVER_ROUTES_A_1_TIMEOUTS_FIRST_BYTE"),
        ("routes.r.http2", "LAYOVER_ROUTES_R_HTTP2"),
    ])
    func environmentNamesAreUpperSnakeCase(path: String, name: String) {
        #expect(GivenValues.address(ofDotted: path)?.environmentName == name)
    }

    @Test(arguments: [
        "", "proxy", "proxy.", "proxy.listen.x", "policies.slow", "policies..mode", "routes.r.delay.initial",
    ])
    func pathsThatNameNoKeyAreNotFound(path: String) {
        #expect(GivenValues.address(ofDotted: path) == nil)
    }
}
