import ArgumentParser
import Foundation

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
