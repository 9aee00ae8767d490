import Testing

@testable import layover

struct ProxyEnvironmentTests {
    private let proxy = ProxyEnvironment(proxyURL: "http://127.0.0.1:8080")

    @Test func programsGetTheProxyUnderEveryName() {
        let environment = proxy.applied(to: ["http_proxy": "http://old:1", "PATH": "/bin"])
        for name in ProxyEnvironment.proxyNames { #expect(environment[name] == "http://127.0.0.1:8080") }
        #expect(environment["PATH"] == "/bin")
        #expect(environment["NODE_USE_ENV_PROXY"] == "1")
    }

    @Test func noProxyStaysAsItIs() {
        #expect(proxy.applied(to: ["no_proxy": "a.example"])["no_proxy"] == "a.example")
        #expect(proxy.applied(to: [:])["no_proxy"] == nil)
    }

    @Test func timeoutsAreRaisedUnlessTheyAreSet() {
        let environment = proxy.applied(to: ["PIP_DEFAULT_TIMEOUT": "5"])
        #expect(environment["PIP_DEFAULT_TIMEOUT"] == "5")
        #expect(environment["CARGO_HTTP_TIMEOUT"] == "600")
        #expect(environment["npm_config_fetch_timeout"] == "600000")
    }

    @Test func variablesCanBeUnset() {
        let set = proxy.exports(over: [:])
        let environment = Dictionary(uniqueKeysWithValues: set.map { ($0.name, $0.value) })
        #expect(set.map(\.name) == ProxyEnvironment.exportedNames(in: environment))
        #expect(set.contains { $0 == ("PIP_DEFAULT_TIMEOUT", "600") })
    }

    @Test func timeoutThatTheUserSetIsNeitherSetNorUnset() {
        let own = ["PIP_DEFAULT_TIMEOUT": "5"]
        #expect(!proxy.exports(over: own).contains { $0.name == "PIP_DEFAULT_TIMEOUT" })
        #expect(!ProxyEnvironment.exportedNames(in: own).contains("PIP_DEFAULT_TIMEOUT"))
    }

    @Test(arguments: [
        (Shell.bash, "export a='x'\\''y\\z'", "unset a"), (.fish, "set -gx a 'x\\'y\\\\z'", "set -e a"),
        (.zsh, "export a='x'\\''y\\z'", "unset a"), (.sh, "export a='x'\\''y\\z'", "unset a"),
        (.tcsh, "setenv a 'x'\\''y\\z';", "unsetenv a;"),
        (.pwsh, "$env:a = 'x''y\\z'", "Remove-Item Env:a -ErrorAction SilentlyContinue"),
    ])
    func eachShellGetsItsSyntax(shell: Shell, setting: String, unsetting: String) {
        #expect(shell.setting("a", to: "x'y\\z") == setting)
        #expect(shell.unsetting("a") == unsetting)
    }

    @Test(arguments: [
        ("/usr/bin/fish", Shell.fish), ("/bin/zsh", .zsh), ("/bin/tcsh", .tcsh), ("/usr/bin/pwsh", .pwsh),
        ("/bin/bash", .bash), ("/bin/unknown", .sh), ("", .sh),
    ])
    func shellIsKnownFromTheEnvironment(path: String, shell: Shell) {
        #expect(Shell(environment: ["SHELL": path]) == shell)
    }
}
