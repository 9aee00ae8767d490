import ArgumentParser
import Foundation

/// `layover exec`: the command takes this process's place, so its exit code is the program's own.
struct Exec: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Run a command through the proxy.",
        discussion: """
            Sets the proxy variables and raises the timeouts of common tools, so that they wait with the proxy.

            Example: layover exec -- pip install requests
            """)

    @OptionGroup var options: ProxyURLOptions

    @OptionGroup var passthrough: PassthroughCommand

    var words: [String] { passthrough.words }

    func validate() throws { try passthrough.check(for: Self.self) }

    func run() async throws {
        let environment = ProcessInfo.processInfo.environment
        let proxy = ProxyEnvironment(proxyURL: try await options.resolved(environment: environment))
        let code = ProcessReplacement.replace(with: words, environment: proxy.applied(to: environment))
        StandardError.error("\(words[0]): \(String(cString: strerror(code)))")
        // Exit codes of shells: 127 not found, 126 not executable.
        throw ExitCode(code == ENOENT ? 127 : 126)
    }
}
