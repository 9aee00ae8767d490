import ArgumentParser
import Foundation
import LayoverCore

/// How to reach a running Layover.
struct ConnectionOptions: ParsableArguments {
    @Option(
        name: .customLong("admin-url"),
        help: "URL of the admin API. Default: LAYOVER_ADMIN_URL, or \(AdminAddress.standard).")
    var adminURL: String?

    @Option(help: "The admin token. Default: LAYOVER_TOKEN.", transform: { Secret($0) })
    var token: Secret?

    func client(
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws(CommandFailure) -> AdminClient {
        let text = adminURL ?? environment.nonempty("LAYOVER_ADMIN_URL") ?? AdminAddress.standard
        return AdminClient(
            address: try AdminAddress(text), token: token ?? environment.nonempty("LAYOVER_TOKEN").map { Secret($0) })
    }
}

extension [String: String] {
    /// The value of a variable; nil if it is unset or empty.
    func nonempty(_ name: String) -> String? { self[name].flatMap { $0.isEmpty ? nil : $0 } }
}
