import LayoverAdmin
import Testing

@testable import layover

struct RouteVariablesTests {
    private static let base = "http://127.0.0.1:8080/.layover/route/r"

    private static func set(_ host: String, _ path: String = "", port: Int = 443, family: ProgramFamily? = nil, route: String = "r")
        -> RouteVariables
    {
        RouteVariables(route: route, base: base, host: host, port: port, path: path, family: family)
    }

    private static func lines(_ found: RouteVariables) -> [String] { found.variables.map { "\($0.name)=\($0.value)" } }

    @Test(arguments: [
        ("api.openai.com", "", ["OPENAI_BASE_URL=\(base)/v1"]), ("api.openai.com", "/v1", ["OPENAI_BASE_URL=\(base)"]),
        ("api.anthropic.com", "", ["ANTHROPIC_BASE_URL=\(base)"]), ("me.openai.azure.com", "", ["AZURE_OPENAI_ENDPOINT=\(base)"]),
        ("pypi.org", "", ["PIP_INDEX_URL=\(base)/simple", "UV_DEFAULT_INDEX=\(base)/simple"]),
        ("pypi.org", "/simple", ["PIP_INDEX_URL=\(base)", "UV_DEFAULT_INDEX=\(base)"]),
        ("registry.npmjs.org", "", ["npm_config_registry=\(base)/"]), ("proxy.golang.org", "", ["GOPROXY=\(base)"]),
        ("index.crates.io", "", ["CARGO_REGISTRIES_R_INDEX=sparse+\(base)/"]), ("huggingface.co", "", ["HF_ENDPOINT=\(base)"]),
        ("s3.eu-west-1.amazonaws.com", "", ["AWS_ENDPOINT_URL_S3=\(base)"]),
        ("ec2.us-east-1.amazonaws.com", "", ["AWS_ENDPOINT_URL=\(base)"]),
        ("sts.cn-north-1.amazonaws.com.cn", "", ["AWS_ENDPOINT_URL_STS=\(base)"]),
        ("amazonaws.com.evil.test", "", ["LAYOVER_ROUTE_URL=\(base)"]), ("shop.test", "/v1", ["LAYOVER_ROUTE_URL=\(base)"]),
    ])
    func hostOfTheUpstreamChoosesTheVariables(host: String, path: String, expected: [String]) {
        #expect(Self.lines(Self.set(host, path)) == expected)
    }

    @Test(arguments: [
        (ProgramFamily.openai, "", ["OPENAI_BASE_URL=\(base)/v1"]), (.openai, "/v1", ["OPENAI_BASE_URL=\(base)"]),
        (.openai, "/llm/v1", ["OPENAI_BASE_URL=\(base)"]), (.aws, "", ["AWS_ENDPOINT_URL=\(base)"]),
        (.python, "/mirror/pypi/+simple", ["PIP_INDEX_URL=\(base)", "UV_DEFAULT_INDEX=\(base)"]),
        (.npm, "/npm", ["npm_config_registry=\(base)/", "npm_config_replace_registry_host=always"]), (.ollama, "", ["OLLAMA_HOST=\(base)"]),
    ])
    func familyThatIsGivenBeatsTheHost(family: ProgramFamily, path: String, expected: [String]) {
        let found = Self.set("own.test", path, family: family)
        #expect(Self.lines(found) == expected)
        #expect(found.notes.isEmpty)
    }

    @Test func ollamaIsKnownByItsPort() {
        #expect(Self.lines(Self.set("localhost", port: 11434)) == ["OLLAMA_HOST=\(Self.base)"])
        #expect(Self.lines(Self.set("localhost", port: 443)) == ["LAYOVER_ROUTE_URL=\(Self.base)"])
    }

    @Test func nameOfTheRouteIsWrittenAsVariablesHaveIt() {
        #expect(Self.lines(Self.set("index.crates.io", route: "my-crates.1"))[0].hasPrefix("CARGO_REGISTRIES_MY_CRATES_1_INDEX="))
    }

    @Test(arguments: [
        ("shop.test", "--for"), ("s3.amazonaws.com", "signature"), ("pypi.org", "files.pythonhosted.org"),
        ("index.crates.io", "replace-with"),
    ])
    func noteStatesTheLimitsOfTheVariables(host: String, text: String) {
        #expect(Self.set(host).notes.count == 1)
        #expect(Self.set(host).notes.first?.contains(text) == true)
    }

    private static let routes: @Sendable (inout AdminSources) -> Void = { sources in
        sources.configuration = {
            [
                ConfigurationValue(key: "routes.ai.upstream", value: "\"https://api.openai.com\"", source: "file"),
                ConfigurationValue(key: "routes.ai.key", value: "\"***\"", source: "file"),
                ConfigurationValue(key: "routes.slow.upstream", value: "null", source: "default"),
                ConfigurationValue(key: "routes.pip.upstream", value: "\"https://pypi.org/\"", source: "file"),
                ConfigurationValue(key: "routes.pip.key", value: "null", source: "default"),
            ]
        }
    }

    private static let routesForUsers: @Sendable (inout AdminSources) -> Void = { sources in
        routes(&sources)
        sources.asksForUser = { true }
    }

    private static func variables(_ arguments: [String], _ environment: [String: String] = [:]) async throws -> RouteVariables {
        let env = try Env.parse(["--admin-url", admin.url] + arguments)
        return try await env.route.variables(of: try #require(env.route.name), env.options, environment: environment)
    }

    @Test(.liveAdmin(sources: routes)) func runningProxySaysWhereTheRouteLeads() async throws {
        let found = try await Self.variables(["--route", "pip"])
        #expect(Self.lines(found)[0] == "PIP_INDEX_URL=http://127.0.0.1:18080/.layover/route/pip/simple")
        let own = try await Self.variables(["--route", "pip", "--for", "go"])
        #expect(Self.lines(own) == ["GOPROXY=http://127.0.0.1:18080/.layover/route/pip"])
    }

    @Test(.liveAdmin(sources: routes)) func keyOfTheRouteIsInThePath() async throws {
        let expected = ["OPENAI_BASE_URL=http://127.0.0.1:18080/.layover/route/ai/~k3y/v1"]
        let given = try await Self.variables(["--route", "ai", "--route-key", "k3y"])
        #expect(Self.lines(given) == expected)
        let fromEnvironment = try await Self.variables(["--route", "ai"], ["LAYOVER_ROUTE_KEY": "k3y"])
        #expect(Self.lines(fromEnvironment) == expected)
    }

    /// Credentials of the proxy are for the proxy: in a base URL they would be sent to the origin.
    @Test(.liveAdmin(sources: routes)) func credentialsOfTheProxyAreNotInTheBaseURL() async throws {
        for url in ["http://me:se%40cret@127.0.0.1:18080/", "http://127.0.0.1:18080/", "http://127.0.0.1:18080"] {
            let found = try await Self.variables(["--route", "pip", "--proxy-url", url])
            #expect(Self.lines(found)[0] == "PIP_INDEX_URL=http://127.0.0.1:18080/.layover/route/pip/simple")
        }
    }

    /// The key of a route stands for a user.
    @Test(.liveAdmin(sources: routesForUsers)) func keyedRouteOfAProxyWithUsersNeedsNoUser() async throws {
        let keyed = try await Self.variables(["--route", "ai", "--route-key", "k3y"])
        #expect(Self.lines(keyed) == ["OPENAI_BASE_URL=http://127.0.0.1:18080/.layover/route/ai/~k3y/v1"])
        let failure = await #expect(throws: CommandFailure.self) { try await Self.variables(["--route", "pip"]) }
        #expect(failure?.code == .usage)
        #expect(failure?.message.contains("routes.pip.key") == true)
    }

    @Test(
        .liveAdmin(sources: routes),
        arguments: [
            ("none", "there is no route none; routes with one: ai, pip"), ("slow", "the route slow has no upstream, and so no base URL"),
        ])
    func unknownRouteIsAnError(name: String, text: String) async throws {
        let failure = await #expect(throws: CommandFailure.self) { try await Self.variables(["--route", name]) }
        #expect(failure?.code == .usage)
        #expect(failure?.message.hasPrefix(text) == true)
    }
}
