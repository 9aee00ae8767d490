import ArgumentParser
import LayoverAdmin
import LayoverConfiguration
import LayoverCore

/// `layover config`
struct Config: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show the configuration.", subcommands: [ShowConfig.self])
}

/// `layover config show`: every key with its value; secrets are masked.
struct ShowConfig: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show the value of every key, from the files or from the running proxy.",
        discussion: "Example: layover config show --sources")

    @OptionGroup var source: ConfigurationOptions
    @OptionGroup var connection: ConnectionOptions
    @Flag(help: "Show where each value comes from.") var sources = false
    @Flag(help: "Show the configuration of the running proxy.") var running = false
    @Flag(help: "Print one JSON object per line.") var json = false

    func run() async throws {
        let values = running ? try await asked() : try loaded()
        StandardOutput.write(json ? values.map(Self.object).map(Terminal.safeJSON) : Self.lines(values, sources: sources))
    }

    private func loaded() throws -> [ConfigurationValue] {
        try source.load().entries.map {
            ConfigurationValue(key: $0.path, value: $0.value.text, source: $0.source.description)
        }
    }

    private func asked() async throws -> [ConfigurationValue] {
        let response = try await connection.client().send(AdminCall("/v1/config"))
        return try response.decoded(ConfigurationDocument.self).data.map {
            ConfigurationValue(key: $0.key, value: try $0.value.text, source: $0.source)
        }
    }

    static func lines(_ values: [ConfigurationValue], sources: Bool) -> [String] {
        values.map { Terminal.safe("\($0.key) = \($0.value)" + (sources ? " (\($0.source))" : "")) }
    }

    private static func object(_ value: ConfigurationValue) -> String {
        let (key, source) = (AnyJSON.text(value.key), AnyJSON.text(value.source))
        return
            "{\"key\":\((try? key.text) ?? "null"),\"value\":\(value.value),\"source\":\((try? source.text) ?? "null")}"
    }
}

/// `layover check-config`: checks whether `run` would start with this configuration.
struct CheckConfig: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check-config", abstract: "Check the configuration without starting the proxy.",
        discussion: "Example: layover check-config --config /etc/layover/config.json")

    @OptionGroup var source: ConfigurationOptions

    func run() throws {
        let loaded = try source.load()
        let routes = loaded.settings.routes
        print("configuration ok: \(routes.policies.count) policies, \(routes.routes.count) routes")
    }
}

/// `layover reload`
struct Reload: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Reload the configuration of the running proxy.",
        discussion: """
            If the file has errors, nothing changes and the exit code is 1.

            Example: layover reload
            """)

    @OptionGroup var connection: ConnectionOptions
    @Flag(help: "Print JSON.") var json = false

    func run() async throws {
        let response = try await connection.client().response(to: AdminCall("POST", "/v1/reload", body: OrderBody()))
        guard response.status < 300 else {
            let errors = (try? response.decoded(ProblemDocument.self))?.errors ?? []
            guard !errors.isEmpty else { throw response.failure }
            for error in errors { StandardError.error(error) }
            throw ExitCode(response.failure.code.rawValue)
        }
        let report = try response.decoded(ReloadDocument.self)
        StandardOutput.write(json ? [response.text] : Self.lines(report))
    }

    /// - Parameter count: At most how many requests have yet to find their routes.
    static func left(_ count: Int) -> String {
        count == 1
            ? "1 request that waits gets its new route and policy later, before its next attempt"
            : "\(count) requests that wait get their new route and policy later, before their next attempt"
    }

    static func lines(_ report: ReloadDocument) -> [String] {
        guard !report.applied.isEmpty || !report.needsRestart.isEmpty || report.entriesLeft != nil else {
            return ["configuration reloaded: no changes"]
        }
        var facts = Facts()
        for key in report.applied { facts.add("applied", key) }
        for key in report.needsRestart { facts.add("restart needed", key) }
        facts.add("still to come", report.entriesLeft.map(Self.left))
        return facts.lines
    }
}
