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

    /// A proxy that runs.
    struct Running {
        let proxyURL: String
        /// The client of the admin API. Nil: only the address of the proxy is known.
        let client: AdminClient?
        /// The fingerprint of the authority with which the proxy intercepts. Nil: it intercepts nothing, or that is not known.
        var authority: String?
    }

    /// The result of a search at the place that the options name.
    enum Search {
        case found(Running)
        /// The proxy takes requests through this URL only with the name of a user and a password.
        case needsUser(url: String, CommandFailure)
        /// The proxy runs, and programs cannot be pointed at it.
        case unusable(CommandFailure)
        case nothing(CommandFailure)
    }

    /// Never guesses: a program that is given a wrong address fails with each of its requests.
    func search(environment: [String: String]) async -> Search {
        if let url = proxyURL ?? environment.nonempty("LAYOVER_PROXY_URL") { return .found(Running(proxyURL: url, client: nil)) }
        do throws(CommandFailure) {
            let client = try connection.client(environment: environment)
            var impatient = client
            impatient.connectMax = .seconds(1)
            impatient.silenceMax = .seconds(2)
            let response = try await impatient.response(to: AdminCall("/v1/status"))
            guard response.status < 300 else {
                // The admin token is not needed to use the proxy.
                if response.status == 401, let url = connection.foundPorts(environment: environment)?.proxyURL {
                    return .found(Running(proxyURL: url, client: client))
                }
                return .nothing(response.failure)
            }
            return Self.judged(try response.decoded(StatusDocument.self), client)
        } catch {
            return .nothing(error)
        }
    }

    private static func judged(_ status: StatusDocument, _ client: AdminClient) -> Search {
        guard !status.draining else {
            return .unusable(.init(code: .unreachable, message: "the proxy is being stopped and takes no new connections"))
        }
        guard let url = status.proxy.first(where: { $0.hasPrefix("http") }) else {
            return .unusable(
                .init(
                    code: .unreachable,
                    message: "the proxy listens on \(status.proxy.joined(separator: " ")) only, which proxy variables cannot name; "
                        + "set proxy.listen to a TCP address, or give --proxy-url"))
        }
        guard status.asksForUser else {
            return .found(Running(proxyURL: url, client: client, authority: status.interception?.authority))
        }
        return .needsUser(
            url: url,
            .init(
                code: .usage,
                message: "the proxy at \(url) asks for a user name and a password; "
                    + "give --proxy-url or LAYOVER_PROXY_URL with both, as http://NAME:PASSWORD@HOST:PORT"))
    }

    /// - Throws: A failure with exit code 2 if no address is given and the proxy cannot be reached.
    func resolved(environment: [String: String]) async throws(CommandFailure) -> String {
        switch await search(environment: environment) {
        case .found(let running): return running.proxyURL
        case .needsUser(_, let failure), .unusable(let failure), .nothing(let failure): throw failure
        }
    }

    /// The proxy that a command is to use.
    enum Choice {
        case running(Running)
        /// One of its own. With why, if one runs that cannot be used.
        case own(instead: CommandFailure?)
    }

    /// The proxy that runs, if there is one that can be used.
    ///
    /// - Throws: If the one that was named cannot be used: whoever names a proxy means that one.
    func choice(environment: [String: String]) async throws(CommandFailure) -> Choice {
        let names = [proxyURL, connection.adminURL] + ["LAYOVER_PROXY_URL", "LAYOVER_ADMIN_URL"].map { environment.nonempty($0) }
        let isNamed = names.contains { $0 != nil }
        switch await search(environment: environment) {
        case .found(let running): return .running(running)
        case .needsUser(_, let failure), .unusable(let failure):
            guard !isNamed else { throw failure }
            return .own(instead: failure)
        case .nothing(let failure):
            guard !isNamed else { throw failure }
            return .own(instead: nil)
        }
    }

    /// The option that names a proxy; nil: no option does.
    var namedInstance: String? {
        if proxyURL != nil { return "--proxy-url" }
        return connection.adminURL == nil ? nil : "--admin-url"
    }
}
