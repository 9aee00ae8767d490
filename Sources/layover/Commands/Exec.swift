import ArgumentParser
import Foundation
import LayoverConfiguration
import LayoverCore
import LayoverTLS
import LayoverTrust

/// `layover exec`: a command behind the running proxy, or behind one of its own.
///
/// Where nothing has to be done while the command runs, the command takes this process's place.
struct Exec: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Run a command through the proxy.",
        discussion: """
            Sets the proxy variables and raises the timeouts of common tools, so that they wait with the proxy. If no proxy \
            runs, a private one is started, which ends with the command and keeps nothing; it accepts no tickets. --config, \
            --intercept and --policy always start a private one.

            With --intercept, requests by HTTPS to a host wait and go on like others: the proxy shows the command certificates of \
            its own authority (layover ca), and variables make usual tools trust it. The private proxy then trusts the certificates that \
            SSL_CERT_FILE, REQUESTS_CA_BUNDLE, CURL_CA_BUNDLE and NODE_EXTRA_CA_CERTS name, besides its own.

            On a terminal, a line tells what the command waits for, and another one when it goes on.

            Example: layover exec -- make build
            """)

    @OptionGroup var options: ProxyURLOptions
    @OptionGroup var own: PrivateOptions
    @Flag(help: "Do not tell what the command waits for.") var quiet = false

    @OptionGroup var passthrough: PassthroughCommand

    var words: [String] { passthrough.words }

    func validate() throws {
        try passthrough.check(for: Self.self)
        guard own.isGiven, let name = options.namedInstance else { return }
        throw ValidationError("\(name) is for a proxy that runs, but \(own.names) start a private one. Leave one of them out.")
    }

    func run() async throws {
        let inheritance = Inheritance()
        let environment = ProcessInfo.processInfo.environment
        let isTold = !quiet && isatty(STDERR_FILENO) == 1
        let target: ExecTarget
        let choice = own.isGiven ? .own(instead: nil) : try await options.choice(environment: environment)
        switch choice {
        case .running(let running):
            var proxy = ProxyEnvironment(proxyURL: running.proxyURL)
            proxy.authority = own.authority(of: running, environment: environment)
            guard isTold, let client = running.client else { throw try replace(by: proxy, environment, inheritance) }
            target = .shared(proxy, client)
        case .own(let failure):
            if let failure, !quiet { StandardError.warning("\(failure.message). A private proxy is used.") }
            target = .own(
                try await Self.blocking { [own, quiet] in
                    let trust = own.trust(environment: environment)
                    if let trust, !quiet {
                        StandardError.write("layover: the private proxy also trusts the certificates of \(trust.names)")
                    }
                    return try PrivateInstance.start(own.arguments, environment: environment, trust: trust, inheritance)
                },
                authority: try own.authority(environment: environment))
        }
        let ending = try await carryOut(with: target, environment, inheritance, isTold: isTold)
        ending.passOn()
    }

    /// Returns only if it fails.
    private func replace(
        by proxy: ProxyEnvironment, _ environment: [String: String], _ inheritance: Inheritance
    ) throws -> ExitCode {
        let code = ProcessReplacement.replace(with: words, environment: try proxy.applied(to: environment), inheritance)
        return failed(SpawnFailure(code: code))
    }

    private func carryOut(
        with target: ExecTarget, _ environment: [String: String], _ inheritance: Inheritance, isTold: Bool
    ) async throws -> CommandEnding {
        // The reporter counts time from here. It connects after the command was started, so that the command inherits no connection.
        let reporter = isTold ? try target.client().map { WaitingReporter($0) } : nil
        let ending: Result<CommandEnding, any Error>
        do {
            let variables = try target.variables(over: environment)
            ending = .success(
                try await Self.blocking { [words] in
                    let command = try ForegroundCommand(words, environment: variables, inheritance)
                    Task { await reporter?.run() }
                    return command.wait { target.checkLife() }
                })
        } catch {
            ending = .failure((error as? SpawnFailure).map(failed) ?? error)
        }
        await reporter?.finish()
        try await Self.blocking { target.stop() }
        return try ending.get()
    }

    private func failed(_ failure: SpawnFailure) -> ExitCode {
        StandardError.error("\(words[0]): \(failure.message)")
        return ExitCode(failure.exitCode)
    }

    /// Runs what waits for processes on a thread of its own.
    private static func blocking<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread { continuation.resume(with: Result(catching: body)) }
        }
    }
}

/// Options that only a private proxy can follow.
struct PrivateOptions: ParsableArguments {
    @Option(
        name: .customLong("config"),
        help: "Configuration file of the private proxy: its routes and policies. Default: as for layover run.")
    var file: String?

    @Option(help: "Intercept HTTPS to this host, so that requests inside wait too. May be repeated.")
    var intercept: [String] = []

    @Option(help: "The policy of all requests, whatever their routes say.")
    var policy: String?

    var isGiven: Bool { !arguments.isEmpty }

    /// Of `layover run`.
    var arguments: [String] {
        (file.map { ["--config", $0] } ?? []) + intercept.flatMap { ["--intercept", $0] } + (policy.map { ["--policy", $0] } ?? [])
    }

    /// What makes the command trust the authority of interception. The private proxy has the same, by the same configuration. Nil:
    /// nothing is intercepted.
    fileprivate func authority(environment: [String: String]) throws -> AuthorityVariables? {
        let settings: Settings
        do throws(ConfigurationErrors) {
            settings = try source(environment).load().settings
        } catch {
            for problem in error.errors { StandardError.error(problem.description) }
            throw ExitCode(1)
        }
        guard settings.routes.hasInterceptions else { return nil }
        let files = AuthorityFiles(settings)
        return AuthorityVariables(authority: try files.findOrMake().certificate, folder: files.folder)
    }

    private func source(_ environment: [String: String]) -> ConfigurationSource {
        var source = ConfigurationSource(file: file, environment: environment, overrides: [:])
        source.intercepted = intercept
        return source
    }

    /// Certificates that the command trusts by its variables and the private proxy would not. Nil: there are none, or the configuration
    /// is wrong, which the proxy reports.
    fileprivate func trust(environment: [String: String]) -> ShellTrust? {
        guard let settings = try? source(environment).load().settings else { return nil }
        let trust = ShellTrust(environment: environment, caFile: settings.tls.caFile)
        return settings.verifiesOrigins && !trust.variables.isEmpty ? trust : nil
    }

    /// The same for a proxy that runs, if its authority is the one of this user's configuration and the files can be written.
    fileprivate func authority(of running: ProxyURLOptions.Running, environment: [String: String]) -> AuthorityVariables? {
        guard let fingerprint = running.authority,
            let settings = try? ConfigurationSource(file: nil, environment: environment, overrides: [:]).load().settings
        else { return nil }
        let files = AuthorityFiles(settings)
        guard let certificate = try? files.find(), certificate.fingerprint == fingerprint else { return nil }
        let variables = AuthorityVariables(authority: certificate, folder: files.folder)
        return (try? variables.exports(over: environment, proxyURL: running.proxyURL)) == nil ? nil : variables
    }

    fileprivate var names: String { Set(arguments.filter { $0.hasPrefix("--") }).sorted().joined(separator: ", ") }
}

/// The proxy of a command.
enum ExecTarget: Sendable {
    case shared(ProxyEnvironment, AdminClient)
    /// With what makes the command trust the authority of interception, where hosts are intercepted.
    case own(PrivateInstance, authority: AuthorityVariables?)

    /// For the event stream.
    func client() throws(CommandFailure) -> AdminClient? {
        switch self {
        case .shared(_, let client): client
        case .own(let instance, _): AdminClient(address: try AdminAddress(instance.ports.adminURL), token: instance.ports.token)
        }
    }

    /// The environment of the command. In it, `layover exec` uses the same proxy and leaves the lines to this one.
    func variables(over environment: [String: String]) throws(CommandFailure) -> [String: String] {
        switch self {
        case .shared(let proxy, _):
            return try proxy.applied(to: environment).merging(["LAYOVER_PROXY_URL": proxy.proxyURL]) { $1 }
        case .own(let instance, let authority):
            let url = instance.ports.proxyURL ?? ""
            var proxy = ProxyEnvironment(proxyURL: url)
            proxy.authority = authority
            var result = try proxy.applied(to: environment)
            result["LAYOVER_PROXY_URL"] = url
            // Commands that steer a proxy mean this one.
            result["LAYOVER_ADMIN_URL"] = instance.ports.adminURL
            result["LAYOVER_TOKEN"] = instance.ports.token?.revealed
            return result
        }
    }

    func checkLife() { if case .own(let instance, _) = self { instance.checkLife() } }

    /// Blocks.
    func stop() { if case .own(let instance, _) = self { instance.stop() } }
}

/// The last arguments of a subcommand that runs another program: that program and its arguments, all of which are the
/// program's own.
///
/// The parser stops at the first unknown argument. An argument like `--help` or a misspelt option would be taken
/// for the program then, so a program whose name begins with a dash needs `--` before it, as in shells.
struct PassthroughCommand: ParsableArguments {
    @Argument(
        parsing: .captureForPassthrough,
        help: "The command and its arguments. Put -- before a command that begins with a dash.")
    var command: [String] = []

    /// Without the `--` before it.
    var words: [String] { command.first == "--" ? Array(command.dropFirst()) : command }

    /// - Parameter subcommand: Whose help is shown where help is asked for before the command.
    func check(for subcommand: any ParsableCommand.Type) throws {
        switch command.first {
        case "-h", "--help": throw CleanExit.helpRequest(subcommand)
        case "--": break
        case let word? where word.hasPrefix("-"):
            throw ValidationError("Unknown option '\(word)'. Put -- before a command that begins with a dash.")
        case _: break
        }
        guard !words.isEmpty else { throw ValidationError("Give a command after --.") }
    }
}
