import ArgumentParser
import Foundation
import LayoverAdmin

/// Where the proxy listens, for programs that are to use it.
struct ProxyURLOptions: ParsableArguments {
    @OptionGroup var connection: ConnectionOptions

    @Option(
        name: .customLong("proxy-url"),
        help: "URL of the proxy. Default: LAYOVER_PROXY_URL, or the running proxy's address.")
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
        let status = try answer.decoded(StatusDocument.self)
        guard !status.draining else {
            throw CommandFailure(code: .unreachable, message: "the proxy is being stopped and takes no new connections")
        }
        let addresses = status.proxy
        if let url = addresses.first(where: { $0.hasPrefix("http") }) {
            guard status.asksForUser else { return url }
            throw CommandFailure(
                code: .usage,
                message: "the proxy at \(url) asks for a user name and a password; "
                    + "give --proxy-url or LAYOVER_PROXY_URL with both, as http://NAME:PASSWORD@HOST:PORT")
        }
        throw CommandFailure(
            code: .unreachable,
            message: "the proxy listens on \(addresses.joined(separator: " ")) only, which proxy variables cannot name; "
                + "set proxy.listen to a TCP address, or give --proxy-url")
    }
    /// A proxy that runs.
    struct Running {
        let proxyURL: String
        /// Nil: only the proxy is known.
        let client: AdminClient?
    }

    /// The proxy that runs; nil: there is none, and none was named.
    ///
    /// - Throws: If the one that was named cannot be used: whoever names a proxy means that one.
    func running(environment: [String: String]) async throws(CommandFailure) -> Running? {
        let isProxyNamed = proxyURL != nil || environment.nonempty("LAYOVER_PROXY_URL") != nil
        let isNamed = isProxyNamed || connection.adminURL != nil || environment.nonempty("LAYOVER_ADMIN_URL") != nil
        do {
            let url = try await resolved(environment: environment)
            return Running(proxyURL: url, client: isProxyNamed ? nil : try connection.client(environment: environment))
        } catch {
            guard isNamed else { return nil }
            throw error
        }
    }

    /// The option that names a proxy; nil: none does.
    var namedInstance: String? {
        if proxyURL != nil { return "--proxy-url" }
        return connection.adminURL == nil ? nil : "--admin-url"
    }
}
