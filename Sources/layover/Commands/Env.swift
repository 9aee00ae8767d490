import ArgumentParser
import Foundation

/// `layover env`: `eval "$(layover env)"`
struct Env: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print the variables that make programs use the proxy.",
        discussion: "For this shell: eval \"$(layover env)\"")

    @OptionGroup var options: ProxyURLOptions
    @Option(help: "The shell to write for. Default: that of SHELL.") var shell: Shell?
    @Flag(help: "Print what takes the variables away again.") var unset = false

    func run() async throws {
        let environment = ProcessInfo.processInfo.environment
        let shell = shell ?? Shell(environment: environment)
        if unset { return StandardOutput.write(ProxyEnvironment.exportedNames.map(shell.unsetting)) }
        let proxy = ProxyEnvironment(proxyURL: try await options.resolved(environment: environment))
        StandardOutput.write(proxy.exports.map { shell.setting($0.name, to: $0.value) })
    }
}
