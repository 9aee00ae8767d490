import ArgumentParser
import Foundation

/// `layover env`: `eval "$(layover env)"`
struct Env: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print shell commands that set the proxy variables.",
        discussion: "For this shell: eval \"$(layover env)\"")

    @OptionGroup var options: ProxyURLOptions
    @Option(help: "The target shell. Default: from SHELL.") var shell: Shell?
    @Flag(help: "Print commands that unset the variables.") var unset = false

    func run() async throws {
        let environment = ProcessInfo.processInfo.environment
        let shell = shell ?? Shell(environment: environment)
        if unset { return StandardOutput.write(ProxyEnvironment.exportedNames.map(shell.unsetting)) }
        let proxy = ProxyEnvironment(proxyURL: try await options.resolved(environment: environment))
        StandardOutput.write(proxy.exports.map { shell.setting($0.name, to: $0.value) })
    }
}
