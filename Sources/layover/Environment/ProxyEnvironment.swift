import LayoverTrust

/// The variables that make programs use the proxy, and wait for it.
struct ProxyEnvironment: Sendable {
    /// Both spellings: curl reads only the small one of `http_proxy`, others only the capitals.
    static let proxyNames = [
        "http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY",
    ]
    /// Node's fetch reads the variables above only if this is set (nodejs.org/api/cli.html).
    static let switches = [("NODE_USE_ENV_PROXY", "1")]

    /// Programs that give up sooner than Layover: ten minutes, as long as the default `holdMax`.
    ///
    /// How often a tool asks again stays its own choice: inside a tunnel nobody else can. Seconds unless the name says otherwise.
    /// git: 0 turns its low-speed abort off.
    static let timeouts = [
        ("PIP_DEFAULT_TIMEOUT", "600"), ("UV_HTTP_TIMEOUT", "600"),
        ("GIT_HTTP_LOW_SPEED_LIMIT", "0"), ("GIT_HTTP_LOW_SPEED_TIME", "600"),
        ("npm_config_fetch_timeout", "600000"),
        ("CARGO_HTTP_TIMEOUT", "600"), ("CARGO_HTTP_LOW_SPEED_LIMIT", "0"), ("BUNDLE_TIMEOUT", "600"),
        ("HF_HUB_DOWNLOAD_TIMEOUT", "600"),
    ]

    let proxyURL: String
    /// Makes programs trust the authority of interception. Nil: the trust of the programs does not change.
    var authority: AuthorityVariables?

    /// The variables that `env` and `exec` set. Time-outs that are already set stay. `no_proxy` stays as it is: servers on
    /// this machine are often the ones to wait for, so nothing is added to it.
    ///
    /// - Throws: A failure if files for `authority` cannot be written.
    func exports(over environment: [String: String]) throws(CommandFailure) -> [(name: String, value: String)] {
        Self.proxyNames.map { ($0, proxyURL) } + Self.switches.map { ($0.0, $0.1) }
            + Self.timeouts.filter { environment[$0.0] == nil }.map { ($0.0, $0.1) } + (try trusting(environment))
    }

    /// What takes more than the address of the proxy: Java reads none of the variables above.
    private func trusting(_ environment: [String: String]) throws(CommandFailure) -> [(name: String, value: String)] {
        guard let authority else {
            let noProxy = environment.nonempty("no_proxy") ?? environment.nonempty("NO_PROXY")
            let java = JavaOptions(proxyURL: proxyURL, noProxy: noProxy)
            return java.map { [(JavaOptions.name, $0.added(to: environment[JavaOptions.name]))] } ?? []
        }
        do throws(TrustError) {
            return try authority.exports(over: environment, proxyURL: proxyURL)
        } catch {
            throw CommandFailure(code: .usage, message: "tls.folder: \(error.message)")
        }
    }

    /// What `env --unset` changes: the value of before, or nil for a variable that goes. A time-out with another value is not ours.
    static func changes(takingBack environment: [String: String]) -> [(name: String, value: String?)] {
        let names = proxyNames + switches.map(\.0) + timeouts.filter { environment[$0.0] == $0.1 }.map(\.0)
        return names.map { ($0, nil) } + AuthorityVariables.changes(takingBack: environment)
    }

    /// An environment for a program that runs behind the proxy.
    func applied(to environment: [String: String]) throws(CommandFailure) -> [String: String] {
        var result = environment
        for (name, value) in try exports(over: environment) { result[name] = value }
        return result
    }
}
