import Testing

@testable import layover

struct ProxyEnvironmentTests {
    private let proxy = ProxyEnvironment(proxyURL: "http://127.0.0.1:8080")

    @Test func programsGetTheProxyUnderEveryName() throws {
        let environment = try proxy.applied(to: ["http_proxy": "http://old:1", "PATH": "/bin"])
        for name in ProxyEnvironment.proxyNames { #expect(environment[name] == "http://127.0.0.1:8080") }
        #expect(environment["PATH"] == "/bin")
        #expect(environment["NODE_USE_ENV_PROXY"] == "1")
    }

    @Test func noProxyStaysAsItIs() throws {
        #expect(try proxy.applied(to: ["no_proxy": "a.example"])["no_proxy"] == "a.example")
        #expect(try proxy.applied(to: [:])["no_proxy"] == nil)
    }

    @Test func timeoutsAreRaisedUnlessTheyAreSet() throws {
        let environment = try proxy.applied(to: ["PIP_DEFAULT_TIMEOUT": "5"])
        #expect(environment["PIP_DEFAULT_TIMEOUT"] == "5")
        #expect(environment["CARGO_HTTP_TIMEOUT"] == "600")
        #expect(environment["npm_config_fetch_timeout"] == "600000")
    }

    /// Java reads no proxy variables.
    @Test func javaGetsTheProxyBesideItsOwnOptions() throws {
        let environment = try proxy.applied(to: ["JAVA_TOOL_OPTIONS": "-Xmx1g", "NO_PROXY": "a.example"])
        let options = try #require(environment["JAVA_TOOL_OPTIONS"])
        #expect(options.hasPrefix("-Xmx1g "))
        #expect(options.contains("-Dhttps.proxyHost=127.0.0.1 -Dhttps.proxyPort=8080 -Dhttp.nonProxyHosts=a.example|*.a.example"))
    }

    @Test func variablesCanBeUnset() throws {
        let set = try proxy.exports(over: [:])
        let environment = Dictionary(uniqueKeysWithValues: set.map { ($0.name, $0.value) })
        let changes = ProxyEnvironment.changes(takingBack: environment)
        #expect(set.map(\.name) == changes.map(\.name))
        #expect(changes.allSatisfy { $0.value == nil })
        #expect(set.contains { $0 == ("PIP_DEFAULT_TIMEOUT", "600") })
    }

    @Test func optionsOfJavaThatWereThereComeBack() throws {
        let environment = try proxy.applied(to: ["JAVA_TOOL_OPTIONS": "-Xmx1g"])
        #expect(ProxyEnvironment.changes(takingBack: environment).contains { $0 == ("JAVA_TOOL_OPTIONS", "-Xmx1g") })
    }

    @Test func timeoutThatTheUserSetIsNeitherSetNorUnset() throws {
        let own = ["PIP_DEFAULT_TIMEOUT": "5"]
        #expect(try !proxy.exports(over: own).contains { $0.name == "PIP_DEFAULT_TIMEOUT" })
        #expect(!ProxyEnvironment.changes(takingBack: own).contains { $0.name == "PIP_DEFAULT_TIMEOUT" })
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
