import ArgumentParser
import Foundation
import LayoverConfiguration
import LayoverTrust

/// `layover env`: `eval "$(layover env)"`
struct Env: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print shell commands that set the proxy variables and raise the timeouts of common tools.",
        discussion: """
            For this shell: eval "$(layover env)"; in fish: layover env --shell fish | source; in csh: eval `layover env`. \
            Timeouts that are set already stay as they are.

            With --ca, programs trust the certificate authority of interception too, beside those that they trust already: \
            certificates that these variables name stay trusted. Without an authority, one is made.

            Example: layover env --shell fish | source
            """)

    @OptionGroup var options: ProxyURLOptions
    @OptionGroup var route: RouteOptions
    @Option(help: "The target shell. Default: from SHELL, otherwise sh.") var shell: Shell?
    @Flag(name: .customLong("ca"), help: "Also set the variables by which programs trust the certificate authority of interception.")
    var trustsAuthority = false
    @Flag(help: "Print commands that unset the variables, or give them back the values of before.") var unset = false

    func run() async throws {
        let environment = ProcessInfo.processInfo.environment
        let shell = shell ?? Shell(environment: environment)
        if let name = route.name { return try await writeRoute(name, shell, environment) }
        if unset {
            return StandardOutput.write(
                ProxyEnvironment.changes(takingBack: environment).map { name, value in
                    value.map { shell.setting(name, to: $0) } ?? shell.unsetting(name)
                })
        }
        var proxy = ProxyEnvironment(proxyURL: try await options.resolved(environment: environment))
        if trustsAuthority {
            let files = AuthorityFiles(try route.file.load().settings)
            proxy.authority = AuthorityVariables(authority: try files.findOrMake().certificate, folder: files.folder)
        }
        StandardOutput.write(try proxy.exports(over: environment).map { shell.setting($0.name, to: $0.value) })
    }

    private func writeRoute(_ name: String, _ shell: Shell, _ environment: [String: String]) async throws {
        let found = try await route.variables(of: name, options, environment: environment)
        StandardOutput.write(found.variables.map { unset ? shell.unsetting($0.name) : shell.setting($0.name, to: $0.value) })
        // Not beside the commands: `eval` in csh reads all of them as one line.
        if !unset { for note in found.notes { StandardError.write("layover: " + Terminal.safe(note)) } }
    }
}
