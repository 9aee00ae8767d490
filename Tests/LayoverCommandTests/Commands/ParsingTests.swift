import ArgumentParser
import Testing

@testable import layover

struct ParsingTests {
    @Test(arguments: [
        "", "nonsense", "pending --colour", "show", "retry", "retry a --all", "cancel --host", "hold", "release a --host b", "force a",
        "force --acknowledge duplicate-risk", "explain", "incidents retry", "incidents nonsense", "config", "config hide", "exec",
        "exec --", "env --shell cmd.exe", "completions tcsh", "store", "store rotate", "drain now", "cache", "cache purge",
        "cache purge --all --host a", "cache purge http://a/", "cache list a", "rehearse", "rehearse a", "rehearse a refuse b",
        "rehearse --list a", "rehearse --stop", "rehearse --stop --list", "rehearse --stop 1 --all", "rehearse --stop 1 --for 1s",
        "rehearse a cut --after-bytes x", "exec --hepl curl", "exec -x", "exec --version -- curl",
    ])
    func wrongUsageExitsWithOne(line: String) async {
        await exits(line.split(separator: " ").map(String.init), with: ["", "config", "store", "cache"].contains(line) ? 0 : 1)
    }

    @Test(arguments: [
        "--help", "help", "--version", "pending --help", "--generate-completion-script bash", "--generate-completion-script zsh",
        "--generate-completion-script fish", "incidents --help", "incidents retry --help", "force --help", "drain --help", "store --help",
        "store rotate-key --help", "completions --help", "rehearse --help", "cache --help", "cache list --help", "cache purge --help",
    ])
    func askingForHelpExitsWithZero(line: String) async {
        await exits(line.split(separator: " ").map(String.init), with: 0)
    }

    @Test func helpOfEveryCommandHasAnExample() {
        func check(_ command: any ParsableCommand.Type) {
            guard command.configuration.subcommands.isEmpty else { return command.configuration.subcommands.forEach(check) }
            #expect(command.configuration.discussion.contains("Example"), "\(command._commandName)")
        }
        check(Layover.self)
    }

    @Test(arguments: ["bash", "zsh", "fish"])
    func completionKnowsEveryCommand(shell: String) {
        let script = Layover.completionScript(for: CompletionShell(rawValue: shell) ?? .bash)
        for name in ["hold", "release", "force", "explain", "incidents", "reload", "config", "drain", "store", "rotate-key", "cache", "purge"] {
            #expect(script.contains(name), "\(name)")
        }
    }

    @Test(arguments: [
        ["exec", "--proxy-url", "http://p:1", "--", "curl", "--version", "-x"],
        ["exec", "--proxy-url", "http://p:1", "curl", "--version", "-x"],
        ["exec", "--proxy-url=http://p:1", "--token", "t", "--", "curl", "--version", "-x"],
        ["exec", "--admin-url", "http://a:2", "--proxy-url", "http://p:1", "--", "curl", "--version", "-x"],
    ])
    func execLeavesTheCommandAlone(arguments: [String]) throws {
        let command = try #require(try Layover.parseAsRoot(arguments) as? Exec)
        #expect(command.words == ["curl", "--version", "-x"])
        #expect(command.options.proxyURL == "http://p:1")
    }

    @Test(arguments: [
        ["exec", "--help"], ["exec", "-h"], ["exec", "--proxy-url", "http://p:1", "--help"],
        ["exec", "--proxy-url", "http://p:1", "-h", "curl"],
    ])
    func execShowsItsHelpAndRunsNothing(arguments: [String]) throws {
        #expect {
            _ = try Layover.parseAsRoot(arguments)
        } throws: {
            Layover.exitCode(for: $0) == .success && Layover.fullMessage(for: $0).contains("USAGE: layover exec")
        }
    }

    @Test(arguments: [["exec", "--", "--help"], ["exec", "--", "-x", "--help"], ["exec", "curl", "--help"]])
    func execLeavesOptionsToTheCommand(arguments: [String]) throws {
        let command = try #require(try Layover.parseAsRoot(arguments) as? Exec)
        #expect(command.words == arguments.dropFirst().filter { $0 != "--" })
    }

    @Test(arguments: zip([CommandFailure.Code.usage, .unreachable, .refused], [Int32(1), 2, 3]))
    func failuresHaveTheirExitCodes(code: CommandFailure.Code, exitCode: Int32) {
        #expect(Layover.report(CommandFailure(code: code, message: "x")) == exitCode)
    }

    @Test func connectionComesFromOptionsThenEnvironmentThenDefaults() throws {
        let environment = ["LAYOVER_ADMIN_URL": "http://env.example:1", "LAYOVER_TOKEN": "env"]
        let given = try ConnectionOptions.parse(["--admin-url", "http://opt.example:2", "--token", "opt"])
        let silent = try ConnectionOptions.parse([])

        #expect(try given.client(environment: environment).address.host == "opt.example")
        #expect(try given.client(environment: environment).token == "opt")
        #expect(try silent.client(environment: environment).address.host == "env.example")
        #expect(try silent.client(environment: environment).token == "env")
        #expect(try silent.client(environment: ["LAYOVER_TOKEN": ""]).address.authority == "127.0.0.1:8081")
        #expect(try silent.client(environment: ["LAYOVER_TOKEN": ""]).token == nil)
    }
}

/// Runs a command line as the program would.
func run(_ arguments: [String]) async throws {
    var command = try Layover.parseAsRoot(arguments)
    if var command = command as? any AsyncParsableCommand {
        try await command.run()
    } else {
        try command.run()
    }
}

/// Runs a command line that is to end without its work done, and compares its exit code.
func exits(_ arguments: [String], with code: Int32, sourceLocation: SourceLocation = #_sourceLocation) async {
    do {
        try await run(arguments)
        Issue.record("\(arguments) succeeded", sourceLocation: sourceLocation)
    } catch {
        #expect(Layover.report(error) == code, "\(arguments)", sourceLocation: sourceLocation)
    }
}
