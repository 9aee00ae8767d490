import ArgumentParser
import Foundation
import LayoverAdmin
import LayoverConfiguration
import LayoverTrust

/// `layover run`: the proxy itself.
struct Run: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Run the proxy until it is stopped.",
        discussion: """
            SIGHUP reloads the configuration. SIGTERM or SIGINT drains: the proxy takes no new connections, held \
            clients get their ticket or a 503 with Retry-After (a 502 if the server may have processed the request), \
            running attempts get timeouts.drain. The same signal again stops the proxy at once.

            Example: layover run --config config.json
            """)

    @OptionGroup var source: ConfigurationOptions

    @Option(help: "Proxy address, such as 127.0.0.1:8080 or unix:/path. Overrides proxy.listen.")
    var listen: String?

    @Option(help: "Admin address, such as 127.0.0.1:8081. Overrides admin.listen.")
    var admin: String?

    @Option(help: "Write {\"proxy\":port,\"admin\":port} to this file when both ports listen.")
    var portFile: String?

    @Option(
        help: """
            Intercept HTTPS to this host, such as api.example.com or *.example.com, besides those of routes with intercept. May be \
            repeated.
            """)
    var intercept: [String] = []

    @Option(name: .customLong("private"), help: ArgumentHelp("The folder of the proxy of one command (exec).", visibility: .private))
    var privateFolder: String?

    @Option(help: ArgumentHelp("With --private: the policy of all requests.", visibility: .private))
    var policy: String?

    func run() async throws {
        var overrides: [String: String] = [:]
        overrides["proxy.listen"] = listen
        overrides["admin.listen"] = admin
        var layers = source.layers(overrides: overrides)
        layers.intercepted = intercept
        layers.command = privateFolder.map { .init(folder: $0, policy: policy) }
        let activated = privateFolder == nil ? try Self.activatedSocket() : nil
        layers.activated = activated?.address
        let loaded = try source.load(layers)
        if privateFolder == nil { Self.warnOfShellTrust(loaded.settings) }
        try await Application(loaded: loaded, source: layers, portFile: portFile, activated: activated).run()
    }

    /// The programs of this shell trust what the proxy, which verifies origins in their place, does not.
    private static func warnOfShellTrust(_ settings: Settings) {
        guard settings.verifiesOrigins else { return }
        let trust = ShellTrust(environment: ProcessInfo.processInfo.environment, caFile: settings.tls.caFile)
        guard !trust.variables.isEmpty else { return }
        StandardError.warning(
            "\(trust.names): the proxy does not trust the certificates that are named there. "
                + "Put them into a file and name it as tls.caFile")
    }

    /// - Throws: `ExitCode` after one line, if a service manager gave a socket that cannot be used.
    private static func activatedSocket() throws -> ActivatedSocket? {
        do throws(ActivatedSocket.Unusable) {
            return try ActivatedSocket.given()
        } catch {
            StandardError.error(error.message)
            throw ExitCode(1)
        }
    }
}

/// Where the configuration comes from.
struct ConfigurationOptions: ParsableArguments {
    @Option(
        name: .customLong("config"),
        help: """
            Configuration file. Default: LAYOVER_CONFIG, $XDG_CONFIG_HOME/layover/config.json, /etc/layover/config.json; \
            without them, built-in defaults.
            """)
    var file: String?

    func layers(overrides: [String: String] = [:]) -> ConfigurationSource {
        ConfigurationSource(file: file, environment: ProcessInfo.processInfo.environment, overrides: overrides)
    }

    /// Reads all layers, or prints a line for each thing that is wrong and ends with exit code 1.
    func load(_ layers: ConfigurationSource? = nil) throws -> LoadedConfiguration {
        do throws(ConfigurationErrors) {
            let loaded = try (layers ?? self.layers()).load()
            for warning in loaded.warnings { StandardError.warning(warning) }
            return loaded
        } catch {
            for problem in error.errors { StandardError.error(problem.description) }
            throw ExitCode(1)
        }
    }
}

/// `layover drain`: stops the running proxy as SIGTERM does.
struct Drain: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Stop the running proxy after current requests finish.",
        discussion: """
            Like SIGTERM: the proxy takes no new connections, held clients get their ticket or a 503 with \
            Retry-After (a 502 if the server may have processed the request), running attempts get timeouts.drain. \
            Tickets continue after the next start.

            Example: layover drain
            """)

    @OptionGroup var connection: ConnectionOptions
    @Flag(help: "Print JSON.") var json = false

    func run() async throws {
        let response = try await connection.client().send(AdminCall("POST", "/v1/drain", body: OrderBody()))
        StandardOutput.write(json ? response.text : Terminal.safe(try response.decoded(HealthDocument.self).status))
    }
}
