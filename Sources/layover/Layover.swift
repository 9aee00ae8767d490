import ArgumentParser
import Foundation
import LayoverAdmin

/// The program. `run` is the proxy; most other commands are clients of a running one.
@main
struct Layover: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "layover",
        abstract: "A local HTTP proxy that holds requests while the network or a server is down.",
        version: "layover \(LayoverVersion.current)",
        subcommands: [
            Run.self, CheckConfig.self, Config.self, Status.self, Pending.self, Show.self, Explain.self,
            RetryEntries.self, CancelEntries.self, HoldEntries.self, ReleaseEntries.self, Force.self,
            Abort.self, Settle.self, Decide.self, Body.self, StoredResponseBody.self, Incidents.self,
            Open.self, Online.self, Offline.self, Auto.self, Rehearse.self, Reload.self, Drain.self, Fleet.self,
            Store.self, Cache.self, Authority.self, Users.self,
            Env.self, Exec.self, Healthcheck.self, Completions.self, Version.self,
        ])

    /// Exit codes: 0 done, 1 bad configuration or usage, 2 not running or unreachable, 3 refused.
    static func main() async {
        do {
            var command = try parseAsRoot()
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
        } catch {
            Foundation.exit(report(error))
        }
    }

    /// Prints the error and returns its exit code.
    static func report(_ error: any Error) -> Int32 {
        if let failure = error as? CommandFailure {
            StandardError.error(failure.message)
            return failure.code.rawValue
        }
        if let code = error as? ExitCode { return code.rawValue }
        switch exitCode(for: error) {
        case .success:
            print(fullMessage(for: error))
            return 0
        case .validationFailure:
            StandardError.write(StandardError.safeLines(fullMessage(for: error)))
        default:
            StandardError.error("\(error)")
        }
        return 1
    }
}

/// `layover version`
struct Version: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print the version.",
        discussion: "Example: layover version")

    func run() { StandardOutput.write("layover \(LayoverVersion.current)") }
}

/// `layover completions`: `source <(layover completions bash)`
struct Completions: ParsableCommand {
    enum Target: String, ExpressibleByArgument, CaseIterable {
        case bash, zsh, fish
    }

    static let configuration = CommandConfiguration(
        abstract: "Print a completion script.",
        discussion: "Example, for this shell: source <(layover completions bash)")

    @Argument(help: "The target shell. Default: from SHELL.") var shell: Target?

    func run() {
        let known = ProcessInfo.processInfo.environment["SHELL"]?.split(separator: "/").last
        let shell = self.shell ?? known.flatMap { Target(rawValue: String($0)) } ?? .bash
        StandardOutput.write(Layover.completionScript(for: CompletionShell(rawValue: shell.rawValue) ?? .bash))
    }
}
