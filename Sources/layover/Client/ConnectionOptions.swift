import ArgumentParser
import Foundation
import LayoverCore

/// How to reach a running Layover.
struct ConnectionOptions: ParsableArguments {
    @Option(
        name: .customLong("admin-url"),
        help: """
            URL of the admin API. Default: LAYOVER_ADMIN_URL, the port in the running proxy's \(RunningPorts.name), or \
            \(AdminAddress.standard).
            """)
    var adminURL: String?

    @Option(
        help: "The admin token. Default: LAYOVER_TOKEN, or the file \(AdminTokenFile.name) beside \(RunningPorts.name).",
        transform: { Secret($0) })
    var token: Secret?

    func client(
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws(CommandFailure) -> AdminClient {
        let found = foundPorts(environment: environment)
        let text = givenURL(environment) ?? found?.adminURL ?? AdminAddress.standard
        return AdminClient(
            address: try AdminAddress(text),
            token: token ?? environment.nonempty("LAYOVER_TOKEN").map { Secret($0) } ?? found?.token)
    }

    /// The ports of the instance that these options mean, as far as it runs on this machine and no URL is given.
    func foundPorts(environment: [String: String]) -> RunningPorts? {
        givenURL(environment) == nil ? RunningPorts.found(environment: environment) : nil
    }

    private func givenURL(_ environment: [String: String]) -> String? {
        adminURL ?? environment.nonempty("LAYOVER_ADMIN_URL")
    }
}

extension [String: String] {
    /// The value of a variable; nil if it is unset or empty.
    func nonempty(_ name: String) -> String? { self[name].flatMap { $0.isEmpty ? nil : $0 } }
}
