import LayoverCore
import Testing

@testable import LayoverConfiguration

struct ForOneCommandTests {
    private func load(_ text: String) throws -> LoadedConfiguration {
        try ConfigurationLoader.load(text: Array(text.utf8), named: "/etc/layover/config.json").storing(in: "/var/lib/layover")
    }

    @Test func listenersStoreAndProtectionAreItsOwn() throws {
        let loaded = try load(
            #"{"proxy":{"listen":"127.0.0.1:3128","publicURL":"https://p.example/"},"admin":{"listen":"127.0.0.1:9999","token":"secretsecretsecret"},"store":{"path":"/data/s.sqlite"},"log":{"access":"json"},"timeouts":{"drain":"60s"}}"#)
        let settings = try loaded.forOneCommand(in: "/tmp/own", policy: nil).settings
        #expect(settings.proxy.listen == .tcp(host: "127.0.0.1", port: 0))
        #expect(settings.admin.listen == .tcp(host: "127.0.0.1", port: 0))
        #expect(settings.admin.token == nil && settings.proxy.publicURL == nil)
        #expect(settings.store.folder == "/tmp/own" && settings.store.spoolFolder == "/tmp/own/spool" && !settings.store.isOnDisk)
        #expect(settings.log.access == .off && settings.timeouts.drain == .zero)
    }

    @Test func authorityStaysWhereTheUserHasIt() throws {
        #expect(try load("{}").forOneCommand(in: "/tmp/own", policy: nil).settings.tls.folder == "/var/lib/layover")
    }

    @Test func routesPoliciesAndLimitsStay() throws {
        let text = #"{"policies":{"slow":{"holdMax":"2h"}},"routes":{"a":{"host":"a.example","policy":"slow"}},"limits":{"bodyMax":"1MiB"}}"#
        let settings = try load(text).forOneCommand(in: "/tmp/own", policy: nil).settings
        #expect(settings.routes.route(named: "a")?.policy.holdMax == .seconds(7200))
        #expect(settings.limits.bodyMax == 1 << 20)
    }

    @Test func policyIsThatOfAllRequests() throws {
        let text = #"{"policies":{"slow":{"holdMax":"2h"}},"routes":{"a":{"host":"a.example","policy":"ai"}}}"#
        let routes = try load(text).forOneCommand(in: "/tmp/own", policy: "slow").settings.routes
        #expect(routes.standardPolicy.name == "slow")
        #expect(routes.route(named: "a")?.policy.name == "slow")
        #expect(routes.standardPolicy.holdMax == .seconds(7200))
    }

    @Test func unknownPolicyIsAnErrorThatNamesTheNearest() throws {
        #expect {
            _ = try load("{}").forOneCommand(in: "/tmp/own", policy: "sidecr")
        } throws: {
            "\($0)" == #"command line: --policy: no policy is named "sidecr" (did you mean sidecar?)."#
        }
    }
}
