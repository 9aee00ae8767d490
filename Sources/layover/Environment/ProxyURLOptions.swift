import ArgumentParser
import Foundation
import LayoverAdmin

/// Where the proxy listens, for programs that are to use it.
struct ProxyURLOptions: ParsableArguments {
    @OptionGroup var connection: ConnectionOptions

    @Option(
        name: .customLong("proxy-url"),
        help: "URL of the proxy. Default: LAYOVER_PROXY_URL, or the running proxy's address; exit code 2 if there is none.")
    var proxyURL: String?

    /// Never guesses: a program that is given a wrong address fails with each of its requests.
    ///
    /// - Throws: A failure with exit code 2 if no address is given and the proxy cannot be reached.
    func resolved(environment: [String: String]) async throws(CommandFailure) -> String {
        if let url = proxyURL ?? environment.nonempty("LAYOVER_PROXY_URL") { return url }
        var client = try connection.client(environment: environment)
        client.connectMax = .seconds(1)
        client.silenceMax = .seconds(2)
        let answer = try await client.answer(to: AdminCall("/v1/status"))
        guard answer.status < 300 else {
            // The admin token is not needed to use the proxy.
            if answer.status == 401, let url = connection.foundPorts(environment: environment)?.proxyURL { return url }
            throw answer.failure
        }
        let addresses = try answer.decoded(StatusDocument.self).proxy
        if let url = addresses.first(where: { $0.hasPrefix("http") }) { return url }
        throw CommandFailure(
            code: .unreachable,
            message: "the proxy listens on \(addresses.joined(separator: " ")) only, which proxy variables cannot name; "
                + "set proxy.listen to a TCP address, or give --proxy-url")
    }
}
