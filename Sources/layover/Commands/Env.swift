import ArgumentParser
import Foundation

/// `layover env`: `eval "$(layover env)"`
struct Env: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print shell commands that set the proxy variables and raise the timeouts of common tools.",
        discussion: """
            For this shell: eval "$(layover env)"; in fish: layover env --shell fish | source; in csh: eval `layover env`. \
            Timeouts that are set already stay as they are.

            Example: layover env --shell fish | source
            """)

    @OptionGroup var options: ProxyURLOptions
    @Option(help: "The target shell. Default: from SHELL, otherwise sh.") var shell: Shell?
    @Flag(help: "Print commands that unset the variables.") var unset = false

    func run() async throws {
        let environment = ProcessInfo.processInfo.environment
        let shell = shell ?? Shell(environment: environment)
        if unset { return StandardOutput.write(ProxyEnvironment.exportedNames(in: environment).map(shell.unsetting)) }
        let proxy = ProxyEnvironment(proxyURL: try await options.resolved(environment: environment))
        StandardOutput.write(proxy.exports(over: environment).map { shell.setting($0.name, to: $0.value) })
    }
}
